package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/record"
)

// session is one capture while it is being made.
type session struct {
	opts    *Options
	m       *record.Manifest
	store   store
	targets map[string]*Target
	cells   map[string]record.Cell
	load    map[string]load // by target
	costs   costs
	plan    planner

	began   time.Time     // of this session
	before  time.Duration // spent by earlier sessions
	timeout time.Duration
	reruns  time.Duration // spent on repeats of disturbed runs
}

// ErrNothing is the error of a capture in which no run succeeded.
var ErrNothing = errors.New("no run succeeded")

// Interrupted is the error of a capture that was ended before its plan was
// done. What is complete is in Dir.
type Interrupted struct {
	Dir  string
	Runs int // complete
	Err  error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("interrupted after %d complete runs, which are kept in %s", e.Runs, e.Dir)
}

func (e *Interrupted) Unwrap() error { return e.Err }

// Refused is the error of a plan that cannot be run as it is asked for: nothing
// was run, and asking again will not help.
type Refused struct{ Err error }

func (e *Refused) Error() string { return e.Err.Error() }
func (e *Refused) Unwrap() error { return e.Err }

// refuse marks a refusal. What the system does not let us do is a fault, not one.
func refuse(err error) error {
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) && errno != syscall.ENOENT || errors.Is(err, record.ErrLocked) {
		return err
	}
	return &Refused{err}
}

// Run makes a capture and returns its directory. When ctx ends, the running
// processes are ended, all complete runs are kept, and the error is an
// *Interrupted. A run that fails is recorded with its error and does not stop
// the others.
func Run(ctx context.Context, opts Options) (dir string, err error) {
	if err := opts.check(); err != nil {
		return "", refuse(err)
	}
	defer opts.end()
	s := newSession(&opts)
	if err := s.checkPlan(); err != nil {
		return "", refuse(err)
	}
	// First, so that a directory that cannot be written is refused at once.
	st, err := record.Create(opts.outName(time.Now()))
	if err != nil {
		return "", refuse(err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	s.store, dir = st, s.opts.shown(st.Dir())
	if err := s.save(); err != nil {
		return dir, err
	}
	if err := s.prepare(ctx); err != nil {
		// Nothing was measured: leave nothing behind.
		return "", errors.Join(err, os.RemoveAll(st.Dir()))
	}
	return dir, s.finish(ctx)
}

// prepare fixes the totals, the cells and the budget.
func (s *session) prepare(ctx context.Context) error {
	if err := s.pilot(ctx); err != nil {
		return err
	}
	if err := s.makeCells(); err != nil {
		return err
	}
	s.settleBudget()
	return s.save()
}

// checkPlan makes the cells once for nothing, to refuse an impossible arm before
// the pilot.
func (s *session) checkPlan() error {
	warnings, progress := len(s.m.Warnings), s.opts.Progress
	s.opts.Progress = silent{}
	err := s.makeCells()
	s.opts.Progress = progress
	s.m.Cells, s.m.Plan.Arms, s.m.Warnings = nil, s.opts.armNames(), s.m.Warnings[:warnings]
	clear(s.cells)
	return err
}

func newSession(opts *Options) *session {
	info := opts.Machine.Info()
	if info.CPUs < 1 {
		info.CPUs = runtime.NumCPU()
	}
	s := &session{
		opts: opts, targets: make(map[string]*Target), cells: make(map[string]record.Cell),
		load: make(map[string]load), began: time.Now(),
		timeout: opts.Timeout,
	}
	armThreads := opts.ArmThreads
	if len(armThreads) == 0 {
		armThreads = defaultArmThreads(opts.Threads, info.CPUs)
	}
	s.plan = planner{
		threads: opts.Threads, modes: opts.Modes, armThreads: armThreads,
		procsRule: opts.ProcsRule, info: info, freeMemory: opts.Machine.FreeMemory(),
	}
	s.m = &record.Manifest{
		Schema: record.Schema, Created: time.Now().UTC(), Command: opts.Command, Host: info,
		Toolchain: record.Toolchain{Go: runtime.Version(), Scaleprof: opts.Scaleprof},
		Plan: record.Plan{
			Threads: opts.Threads, Modes: opts.Modes, Arms: opts.armNames(), ArmsAuto: opts.ArmsAuto,
			ProcsRule: opts.ProcsRule, Clock: string(opts.Clock), Blocks: opts.Blocks,
			Precision: opts.Precision, BudgetNS: int64(opts.Budget), Profiles: opts.Profiles,
			Quick: opts.Quick, Seed: opts.Seed,
		},
	}
	sums := make(map[string]string)
	for i := range opts.Targets {
		t := &opts.Targets[i]
		sumBinary(&t.Record, sums)
		s.m.Plan.Targets = append(s.m.Plan.Targets, t.Record)
		s.targets[t.Record.Name] = t
		for module, version := range t.Libraries {
			if s.m.Toolchain.Libraries == nil {
				s.m.Toolchain.Libraries = make(map[string]string)
			}
			s.m.Toolchain.Libraries[module] = version
		}
	}
	s.environmentWarnings()
	return s
}

// sumBinary notes what the binary of a target is, so that its instructions are
// not looked for in another one later. One that cannot be read has no sum.
func sumBinary(t *record.Target, sums map[string]string) {
	if t.Binary == "" || t.BinarySum != "" {
		return
	}
	sum, known := sums[t.Binary]
	if !known {
		sum, _ = record.SumFile(t.Binary)
		sums[t.Binary] = sum
	}
	t.BinarySum = sum
}

// makeCells turns the plan into cells. Targets that the pilot dropped have none.
func (s *session) makeCells() error {
	s.m.Plan.Arms = []string{record.Baseline}
	for _, t := range s.m.Plan.Targets {
		target := s.targets[t.Name]
		cells := s.plan.baseline(target)
		if len(cells) == 0 {
			return fmt.Errorf("%s cannot be run in process mode", t.Name)
		}
		s.m.Cells = addCells(s.m.Cells, cells)
	}
	for _, a := range s.opts.Arms {
		if err := s.addArm(a, "", s.opts.AllArms); err != nil {
			return err
		}
	}
	s.index()
	return nil
}

// addArm adds an arm's cells for one target, or for all when target is "". An
// arm that is impossible for every target is an error unless lenient, then a
// warning.
func (s *session) addArm(a arm.Arm, target string, lenient bool) error {
	var refusal error
	added := false
	for _, t := range s.m.Plan.Targets {
		if target != "" && t.Name != target {
			continue
		}
		has := slices.ContainsFunc(s.m.Cells, func(c record.Cell) bool { return c.Target == t.Name && c.Arm == a.Name })
		if has {
			added = true
			continue
		}
		cells, err := s.plan.armed(s.targets[t.Name], a)
		if err != nil {
			refusal = err
			continue
		}
		s.m.Cells = addCells(s.m.Cells, cells)
		added = true
	}
	if added {
		if !slices.Contains(s.m.Plan.Arms, a.Name) {
			s.m.Plan.Arms = append(s.m.Plan.Arms, a.Name)
		}
		return nil
	}
	if refusal == nil {
		refusal = fmt.Errorf("arm %s: no target named %q", a.Name, target)
	}
	if lenient {
		s.warn("arm-impossible", refusal.Error(), nil)
		return nil
	}
	return refusal
}

func (s *session) index() {
	for _, c := range s.m.Cells {
		s.cells[c.ID] = c
	}
}

// target finds a target's record in the plan.
func (s *session) target(name string) *record.Target {
	for i := range s.m.Plan.Targets {
		if s.m.Plan.Targets[i].Name == name {
			return &s.m.Plan.Targets[i]
		}
	}
	return nil
}

func (s *session) quick() bool { return s.m.Plan.Quick }

// spent is how much of the budget is used.
func (s *session) spent() time.Duration { return s.before + time.Since(s.began) }

func (s *session) budget() time.Duration { return time.Duration(s.m.Plan.BudgetNS) }

// save writes the manifest. A fault is told with the way on.
func (s *session) save() error {
	s.m.SpentNS = int64(s.spent())
	return s.store.Save(s.m)
}

// warn adds a warning to the manifest and shows it, once.
func (s *session) warn(id, text string, run *int) {
	w := record.Warning{ID: id, Text: text, Run: run}
	for _, old := range s.m.Warnings {
		if old.ID == id && old.Text == text && run == nil {
			return
		}
	}
	s.m.Warnings = append(s.m.Warnings, w)
	s.opts.Progress.Warn(text)
}
