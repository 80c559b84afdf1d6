package capture

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Options is what a capture is asked to do. The zero value of each field is a
// sensible default unless the comment says otherwise.
type Options struct {
	Targets []Target // at least one
	Threads []int    // sorted, at least one; see ParseThreads
	Modes   []record.Mode
	// ProcsRule gives GOMAXPROCS: "cpus" (the default) is the number of usable
	// CPUs in every process, "threads" is T in thread mode and 1 in each process
	// in process mode, a number is that number.
	ProcsRule string
	Clock     Clock
	Ops       int64 // total operations of every run; 0 calibrates

	Blocks    int           // timed blocks; 0 means as Precision and Budget say
	Precision float64       // wanted half-width of an efficiency's 95% interval; 0 means DefaultPrecision
	Budget    time.Duration // 0 means what six blocks need, see defaultBudget
	Window    time.Duration // wanted wall time of a run at full T; 0 means DefaultWindow, less on large machines
	Timeout   time.Duration // of one run; 0 derives it from calibration

	// Profiles are the recorders of the profiled runs, from Recorders; nil for
	// the default, empty for no profiled runs.
	Profiles []string

	Arms     []arm.Arm
	ArmsAuto bool // choose arms after the pilot blocks, by ChooseArms
	// AllArms leaves out an impossible arm with a warning. Otherwise it is an error.
	AllArms bool
	// ChooseArms looks at the capture so far and names the arms that test its
	// top causes. "ARM@TARGET" limits an arm to one target. nil chooses none.
	ChooseArms func(ctx context.Context, dir string) ([]string, error)
	// ArmThreads are the levels that arms run at; nil for the default pair of
	// the report: the largest T of at most half of the CPUs, and the largest T.
	ArmThreads []int

	Quick     bool   // recorded; the caller sets the other fields to match
	NoKernels bool   // leave out the calibration kernels (tests, selftest)
	Seed      uint64 // of the order of cells within blocks
	Out       string // capture directory to create; "" makes a name from target and time
	Command   []string
	Scaleprof string // version of scaleprof, for the manifest

	Machine  Machine  // nil for the real one
	Gates    Gates    // nil for the standard ones
	Progress Progress // nil for none
}

// Defaults.
const (
	DefaultPrecision = 0.02
	DefaultWindow    = 500 * time.Millisecond
	// MinBlocks is the least number of observations for which a median has a
	// finite 95% interval (METHOD 6.2).
	MinBlocks = 6
)

// Recorders are the names that Options.Profiles takes.
func Recorders() []string {
	return []string{"cpu", "mutex", "block", "trace", "wall", "allocs"}
}

// defaultProfiles are all recorders. The allocation profile is on in any Go
// program; what a profiled run adds is reading it before and after the window.
func defaultProfiles() []string { return Recorders() }

// check fills in defaults and refuses what cannot be run, in one line each.
func (o *Options) check() error {
	if len(o.Targets) == 0 {
		return fmt.Errorf("there is nothing to run")
	}
	if len(o.Threads) == 0 {
		return fmt.Errorf("threads: no level of parallelism is given")
	}
	if o.Threads[0] < 1 {
		return fmt.Errorf("threads: %d is too few: T must be at least 1", o.Threads[0])
	}
	seen := make(map[string]bool)
	for i := range o.Targets {
		t := &o.Targets[i]
		if seen[t.Record.Name] {
			return fmt.Errorf("%s is given twice", t.Record.Name)
		}
		seen[t.Record.Name] = true
		if o.Ops > 0 && !t.FixedOps {
			t.Record.Ops = o.Ops
		}
		if peak := o.Threads[len(o.Threads)-1]; t.Record.Ops > 0 && t.Record.Ops < int64(peak) && !t.FixedOps {
			return fmt.Errorf("ops: %d operations cannot be shared among %d workers; want at least one each", t.Record.Ops, peak)
		}
	}
	if o.Ops < 0 {
		return fmt.Errorf("ops: %d is negative", o.Ops)
	}
	if len(o.Modes) == 0 {
		o.Modes = []record.Mode{record.Thread, record.Process}
		if !slices.ContainsFunc(o.Targets, func(t Target) bool { return !t.ThreadsOnly }) {
			o.Modes = o.Modes[:1]
		}
	}
	for i, m := range o.Modes {
		if m != record.Thread && m != record.Process {
			return fmt.Errorf("mode: %q is not a mode; want thread, process or both", m)
		}
		if slices.Contains(o.Modes[:i], m) {
			return fmt.Errorf("mode: %s is given twice", m)
		}
	}
	if o.ProcsRule == "" {
		o.ProcsRule = "cpus"
	}
	if o.ProcsRule != "cpus" && o.ProcsRule != "threads" {
		if n, err := strconv.Atoi(o.ProcsRule); err != nil || n < 1 || n > MaxThreads {
			return fmt.Errorf("procs: want cpus, threads or a number from 1 to %d, not %q", MaxThreads, o.ProcsRule)
		}
	}
	switch o.Clock {
	case "":
		o.Clock = ClockWall
	case ClockWall, ClockStartup:
	default:
		return fmt.Errorf("clock: want %s or %s, not %q", ClockWall, ClockStartup, o.Clock)
	}
	if o.Precision == 0 {
		o.Precision = DefaultPrecision
	}
	if o.Precision < 0 || o.Precision >= 1 {
		return fmt.Errorf("precision: want a fraction of 1 such as 0.02, not %g", o.Precision)
	}
	if o.Blocks < 0 || o.Blocks > 10_000 {
		return fmt.Errorf("blocks: want a number from 1 to 10000, not %d", o.Blocks)
	}
	if o.Budget < 0 {
		return fmt.Errorf("budget: %s is negative", o.Budget)
	}
	if o.Profiles == nil {
		o.Profiles = defaultProfiles()
	}
	for _, p := range o.Profiles {
		if !slices.Contains(Recorders(), p) {
			return fmt.Errorf("profiles: %q is not a recorder; there are %v", p, Recorders())
		}
	}
	if o.Machine == nil {
		o.Machine = newRealMachine()
	}
	if o.Gates == nil {
		o.Gates = gate.Run
	}
	if o.Progress == nil {
		o.Progress = silent{}
	}
	return nil
}

// armNames is the baseline and the arms that were asked for. Once the cells are
// made, the plan lists those that are possible.
func (o *Options) armNames() []string {
	names := []string{record.Baseline}
	for _, a := range o.Arms {
		names = append(names, a.Name)
	}
	return names
}

// end gives back what check has made.
func (o *Options) end() {
	o.Progress.End()
	if m, ok := o.Machine.(*realMachine); ok {
		m.Close()
	}
}
