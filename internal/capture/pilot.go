package capture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/scaleprof/scaleprof/internal/record"
)

// The pilot stops as soon as a window is long enough to be extrapolated.
const (
	pilotWindow  = 100 * time.Millisecond
	pilotTries   = 6
	pilotTimeout = 60 * time.Second
)

// windowWanted is the wall time of a run at full T. The total is the same at
// every T, so that T=1 takes up to T times as long: on machines with many CPUs
// the window shrinks, but stays above what thread placement costs (0.2 s).
func (s *session) windowWanted() time.Duration {
	if s.opts.Window > 0 {
		return s.opts.Window
	}
	full := s.pilotThreads()
	if full <= 4 {
		return DefaultWindow
	}
	return max(250*time.Millisecond, DefaultWindow*4/time.Duration(full))
}

// pilotThreads is full T: the largest that the machine can run at once.
func (s *session) pilotThreads() int {
	full := s.plan.threads[0]
	for _, t := range s.plan.threads {
		if t <= s.plan.info.CPUs {
			full = t
		}
	}
	return full
}

// pilot fixes each target's total of operations. A target whose pilot fails is
// dropped with a warning when others remain.
func (s *session) pilot(ctx context.Context) error {
	s.costs.pilot = make(map[string]pilotCost)
	var first error
	var runnable []record.Target
	for i := range s.opts.Targets {
		t := &s.opts.Targets[i]
		s.show(true, "pilot: how many operations of "+t.Record.Name+" fill a window")
		err := s.calibrate(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", t.Record.Name, err)
			if first == nil {
				first = err
			}
			if len(s.opts.Targets) > 1 {
				s.warn("target-dropped", err.Error(), nil)
			}
			continue
		}
		runnable = append(runnable, t.Record)
	}
	if len(runnable) == 0 {
		return first
	}
	s.m.Plan.Targets = runnable
	if s.timeout == 0 {
		s.timeout = s.deriveTimeout()
	}
	return nil
}

// deriveTimeout is generous: twenty times the longest run that the pilot
// foresees, and at least half a minute. It is for runs that hang.
func (s *session) deriveTimeout() time.Duration {
	longest := time.Duration(0)
	for _, p := range s.costs.pilot {
		serial := p.window*time.Duration(max(p.threads, 1)) + p.overhead
		longest = max(longest, serial)
	}
	return max(30*time.Second, 20*longest)
}

func (s *session) calibrate(ctx context.Context, t *Target) error {
	threads := s.pilotThreads()
	mode := s.plan.modes[0]
	if t.ThreadsOnly {
		mode = record.Thread
	}
	cell := record.Cell{
		ID: "pilot", Target: t.Record.Name, Mode: mode, Threads: threads,
		Procs: s.plan.procs(s.plan.procsRule, mode, threads), Arm: record.Baseline,
	}
	fixed := t.FixedOps || t.Record.Ops > 0
	ops := t.Record.Ops
	if !fixed {
		ops = int64(threads)
		if t.OpNS > 0 {
			ops = max(ops, int64(threads)*int64(pilotWindow)/t.OpNS)
		}
	}
	most := int64(s.plan.threads[len(s.plan.threads)-1])
	var first time.Duration // the window of the first run that was long enough
	for try := 1; ; try++ {
		begin := time.Now()
		out, err := s.pilotRun(ctx, t, cell, ops)
		if err != nil {
			return err
		}
		elapsed := time.Since(begin)
		wall := undisturbed(out, threads)
		overhead := max(elapsed-time.Duration(out.WallNS), 0)
		if fixed {
			s.costs.pilot[t.Record.Name] = pilotCost{threads, wall, overhead}
			if t.Record.Ops == 0 {
				t.Record.Ops = out.Ops
			}
			t.Record.Warm = warm(t.Record.Ops)
			t.learn(out)
			return nil
		}
		if first == 0 && wall >= pilotWindow/2 && try < pilotTries {
			// Once more: whatever disturbs a run makes it longer, and a total
			// from a disturbed pilot makes every later window too short.
			first = wall
			continue
		}
		if first > 0 || wall >= pilotWindow/2 || try == pilotTries {
			if first > 0 {
				wall = min(wall, first)
			}
			want := s.windowWanted()
			t.Record.Ops = max(round2(float64(ops)*float64(want)/float64(wall)), most)
			t.Record.Warm = warm(t.Record.Ops)
			window := time.Duration(float64(wall) * float64(t.Record.Ops) / float64(ops))
			s.costs.pilot[t.Record.Name] = pilotCost{threads, window, overhead}
			return nil
		}
		grow := min(max(1.5*float64(pilotWindow)/float64(wall), 2), 200)
		ops = int64(math.Ceil(float64(ops) * grow))
	}
}

// learn takes what a pilot found out about a target that is not scaleprof's own.
func (t *Target) learn(out *Outcome) {
	t.Record.Notes = append(t.Record.Notes, out.Notes...)
	if len(out.Without) == 0 {
		return
	}
	carries := t.Recorders
	if carries == nil {
		carries = Recorders()
	}
	t.Recorders = slices.DeleteFunc(slices.Clone(carries), func(r string) bool { return slices.Contains(out.Without, r) })
}

// undisturbed is a pilot's window less the time that its threads waited for a
// CPU, on average: what others take from the pilot they may not take from the
// runs, and a total that is too small makes every window too short.
func undisturbed(out *Outcome, threads int) time.Duration {
	wait := int64(0)
	for i := range out.Processes {
		if t := out.Processes[i].Threads; t != nil {
			wait += t.WaitNS
		}
	}
	// Wake-ups make a program's own threads wait for each other too: never
	// believe more than half of it.
	return time.Duration(max(out.WallNS-wait/int64(max(threads, 1)), out.WallNS/2))
}

// warm sizes the warm-up: an eighth of a run is enough for caches, compilation
// and the collector's pacing, and does not double the cost of a run.
func warm(ops int64) int64 { return max(ops/8, 1) }

// round2 keeps two significant digits, so that the total is easy to quote.
func round2(x float64) int64 {
	if x < 100 {
		return int64(math.Ceil(x))
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return int64(math.Round(x/unit) * unit)
}

func (s *session) pilotRun(ctx context.Context, t *Target, cell record.Cell, ops int64) (*Outcome, error) {
	dir, err := os.MkdirTemp("", "scaleprof-pilot-")
	if err != nil {
		return nil, fmt.Errorf("making the pilot's directory: %w", err)
	}
	defer os.RemoveAll(dir)
	job := &Job{
		Target: t.Record, Cell: cell, Kind: record.Timed, Ops: ops, Warm: warm(ops),
		Env: s.env(&cell), Clock: ClockWall, Seed: int64(s.opts.Seed), Dir: dir, Timeout: s.timeout,
		Window: &window{m: s.opts.Machine},
	}
	if job.Timeout == 0 {
		job.Timeout = pilotTimeout
	}
	out, err := t.Exec.Execute(ctx, job)
	if err != nil {
		return nil, err
	}
	if out.WallNS <= 0 {
		return nil, errors.New("the pilot run lasted no time at all")
	}
	return out, nil
}
