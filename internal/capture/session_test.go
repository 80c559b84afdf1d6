package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

func count(m *record.Manifest, ok func(*record.Run) bool) int {
	n := 0
	for i := range m.Runs {
		if ok(&m.Runs[i]) {
			n++
		}
	}
	return n
}

func TestWholeCapture(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		exec := &fakeExec{opNS: 5000, start: 100 * time.Millisecond}
		opts := fakeOptions(exec)
		opts.Budget = 5 * time.Minute
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		ops := s.m.Plan.Targets[0].Ops
		if want := int64(4 * 500_000_000 / 5000); ops < want*9/10 || ops > want*11/10 {
			t.Errorf("calibrated to %d operations, want about %d for half a second at T=4", ops, want)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		if !m.Complete {
			t.Error("the capture is not marked complete")
		}
		if len(m.Cells) != 6 {
			t.Errorf("%d cells, want 6", len(m.Cells))
		}
		for _, c := range m.Cells {
			timed := count(m, func(r *record.Run) bool { return r.Cell == c.ID && r.Kind == record.Timed })
			profiled := count(m, func(r *record.Run) bool { return r.Cell == c.ID && r.Kind == record.Profiled })
			wall := count(m, func(r *record.Run) bool { return r.Cell == c.ID && r.Kind == record.Wall })
			if timed != MinBlocks {
				t.Errorf("%s: %d timed runs, want %d: the noise is well within the precision", c.ID, timed, MinBlocks)
			}
			wantProfiled, wantWall := profiledProcess, 0
			if c.Mode == record.Thread {
				wantProfiled, wantWall = profiledThread, wallThread
			}
			if profiled != wantProfiled || wall != wantWall {
				t.Errorf("%s: %d profiled and %d wall runs, want %d and %d", c.ID, profiled, wall, wantProfiled, wantWall)
			}
		}
		for i := range m.Runs {
			r := &m.Runs[i]
			if r.Ops != ops {
				t.Errorf("run %d did %d operations, want %d at every T", r.ID, r.Ops, ops)
			}
			if r.Kind == record.Timed && r.Profiles != nil {
				t.Errorf("timed run %d carries recorders", r.ID)
			}
			if r.Kind == record.Profiled && (r.Profiles == nil || !r.Profiles.CPU || !r.Profiles.Trace || r.Profiles.Mutex != 1 || r.Profiles.Block != 1 || r.Profiles.Wall) {
				t.Errorf("profiled run %d has recorders %+v", r.ID, r.Profiles)
			}
		}
		// Profiled runs of a cell are spread over the blocks.
		blocks := map[int]bool{}
		for i := range m.Runs {
			if r := &m.Runs[i]; r.Kind == record.Profiled && r.Cell == "fake-0-thread-t4" {
				blocks[r.Block] = true
			}
		}
		if len(blocks) != profiledThread {
			t.Errorf("profiled runs of one cell are in blocks %v, want three different ones", blocks)
		}
		if len(m.Ceiling) != MinBlocks*3 {
			t.Errorf("%d kernel runs, want one per block and T", len(m.Ceiling))
		}
		for _, j := range exec.jobs {
			if !slices.Contains(j.Env, "GOMAXPROCS=4") {
				t.Errorf("environment %v, want GOMAXPROCS=4 in every process", j.Env)
			}
		}
	})
}

func TestSameSeedSameOrder(t *testing.T) {
	dir := t.TempDir()
	orders := make([][]string, 3)
	for i, seed := range []uint64{1, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			opts := fakeOptions(&fakeExec{opNS: 5000})
			opts.Seed, opts.Blocks = seed, 3
			s, st, err := begin(t, t.Context(), opts, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, r := range st.load(t).Runs {
				orders[i] = append(orders[i], fmt.Sprint(r.Block, r.Cell, r.Kind))
			}
		})
	}
	if !slices.Equal(orders[0], orders[1]) {
		t.Error("the same seed gave two orders")
	}
	if slices.Equal(orders[0], orders[2]) {
		t.Error("two seeds gave the same order")
	}
	sorted := slices.Sorted(slices.Values(orders[0]))
	if slices.Equal(orders[0], sorted) {
		t.Error("the order is not random")
	}
}

func TestBudgetIsKept(t *testing.T) {
	dir := t.TempDir()
	for _, budget := range []time.Duration{20 * time.Second, 40 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			exec := &fakeExec{
				opNS: 5000, start: 200 * time.Millisecond,
				// Two modes: never precise.
				lose: func(j *Job) float64 { return 1 + 0.5*float64(len(j.Dir)*7%3) },
			}
			n := 0
			exec.lose = func(*Job) float64 { n++; return 1 + 0.4*float64(n*n%5) }
			opts := fakeOptions(exec)
			opts.Modes = []record.Mode{record.Thread}
			opts.Budget = budget
			begun := time.Now()
			s, st, err := begin(t, t.Context(), opts, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			took := time.Since(begun)
			if took > budget*12/10 {
				t.Errorf("took %s of a budget of %s", took, budget)
			}
			if took < budget*6/10 {
				t.Errorf("stopped after %s of %s although the intervals are wide", took, budget)
			}
			m := st.load(t)
			for _, c := range m.Cells {
				if n := count(m, func(r *record.Run) bool { return r.Cell == c.ID && r.Kind == record.Profiled }); n == 0 {
					t.Errorf("budget %s: %s has no profiled run", budget, c.ID)
				}
			}
			if !slices.ContainsFunc(m.Warnings, func(w record.Warning) bool { return w.ID == "few-blocks" || w.ID == "imprecise" }) {
				t.Errorf("budget %s: nothing says that the intervals are wide: %v", budget, m.Warnings)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		exec := &fakeExec{opNS: 5000, start: 100 * time.Millisecond}
		exec.fail = func(j *Job) error {
			if j.Cell.Mode == record.Process && j.Cell.Threads == 4 {
				return errors.New("the process crashed with exit code 2: panic: boom")
			}
			return nil
		}
		s, st, err := begin(t, t.Context(), fakeOptions(exec), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		failed := count(m, func(r *record.Run) bool { return r.Error != "" })
		if failed != attempts {
			t.Errorf("%d failed runs, want the cell given up after %d", failed, attempts)
		}
		for _, c := range m.Cells {
			if c.Mode == record.Process && c.Threads == 4 {
				continue
			}
			if n := count(m, func(r *record.Run) bool { return r.Cell == c.ID && r.Kind == record.Timed && r.Error == "" }); n < MinBlocks {
				t.Errorf("%s: %d timed runs beside a cell that crashes, want %d", c.ID, n, MinBlocks)
			}
		}
		if !slices.ContainsFunc(m.Warnings, func(w record.Warning) bool { return w.ID == "given-up" }) {
			t.Errorf("no warning that the cell was given up: %v", m.Warnings)
		}
	})
}

func TestNothingSucceeds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		exec := &fakeExec{opNS: 5000}
		exec.fail = func(j *Job) error {
			if j.Cell.ID != "pilot" {
				return errors.New("boom")
			}
			return nil
		}
		s, _, err := begin(t, t.Context(), fakeOptions(exec), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); !errors.Is(err, ErrNothing) {
			t.Errorf("error %v, want ErrNothing", err)
		}
	})
}

func TestPilotDropsTarget(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		bad := &fakeExec{opNS: 5000, fail: func(*Job) error { return errors.New("no JIT here") }}
		opts := fakeOptions(bad, &fakeExec{opNS: 3000})
		s, _, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.m.Plan.Targets) != 1 || s.m.Plan.Targets[0].Name != "fake/1" {
			t.Errorf("targets %v, want only the one that runs", s.m.Plan.Targets)
		}
		if len(s.m.Warnings) != 1 || !strings.Contains(s.m.Warnings[0].Text, "no JIT here") {
			t.Errorf("warnings %v, want the reason", s.m.Warnings)
		}
		_, _, err = begin(t, t.Context(), fakeOptions(bad), dir)
		if err == nil || !strings.Contains(err.Error(), "fake/0: no JIT here") {
			t.Errorf("error %v, want the reason with the target's name", err)
		}
	})
}

func TestArmsAuto(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		exec := &fakeExec{opNS: 5000, start: 100 * time.Millisecond}
		opts := fakeOptions(exec, &fakeExec{opNS: 4000})
		opts.ArmsAuto, opts.Budget = true, 10*time.Minute
		asked := 0
		opts.ChooseArms = func(context.Context, string) ([]string, error) {
			asked++
			return []string{"gogc@fake/0", "procs=threads", "pin", "nonsense"}, nil
		}
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		if asked != 1 {
			t.Errorf("asked %d times for arms", asked)
		}
		want := []string{"baseline", "gogc=200", "gogc=400", "gogc=800", "procs=threads"}
		if !slices.Equal(m.Plan.Arms, want) {
			t.Errorf("arms %v, want %v", m.Plan.Arms, want)
		}
		for _, c := range m.Cells {
			if c.Arm == record.Baseline {
				continue
			}
			if c.Threads != 2 && c.Threads != 4 {
				t.Errorf("arm cell %s at T=%d, want the pair 2 and 4", c.ID, c.Threads)
			}
			if strings.HasPrefix(c.Arm, "gogc") && c.Target != "fake/0" {
				t.Errorf("arm cell %s of a target that was not asked for", c.ID)
			}
			if n := count(m, func(r *record.Run) bool { return r.Cell == c.ID }); n < MinBlocks {
				t.Errorf("%s: %d runs, want %d", c.ID, n, MinBlocks)
			}
			if c.Arm == "procs=threads" && c.Procs != c.Threads {
				t.Errorf("%s has GOMAXPROCS %d", c.ID, c.Procs)
			}
			if c.Arm == "gogc=400" && !slices.Equal(c.Env, []string{"GOGC=400"}) {
				t.Errorf("%s has environment %v", c.ID, c.Env)
			}
		}
		var texts []string
		for _, w := range m.Warnings {
			texts = append(texts, w.Text)
		}
		all := strings.Join(texts, "\n")
		if !strings.Contains(all, "4 workers cannot each have a physical core: there are 2") || !strings.Contains(all, `unknown arm "nonsense"`) {
			t.Errorf("warnings do not say which arms are impossible: %s", all)
		}
		// An arm's runs share their blocks with the baseline.
		for i := range m.Runs {
			if r := &m.Runs[i]; strings.Contains(r.Cell, "gogc400") && r.Block < pilotBlocks {
				t.Errorf("run %d of an arm is in pilot block %d", r.ID, r.Block)
			}
		}
	})
}

func TestImpossibleArmIsRefused(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts := fakeOptions(&fakeExec{opNS: 5000})
		a, err := arm.Parse("pin")
		if err != nil {
			t.Fatal(err)
		}
		opts.Arms = []arm.Arm{a}
		_, _, err = begin(t, t.Context(), opts, dir)
		if err == nil || err.Error() != "arm pin: 4 workers cannot each have a physical core: there are 2" {
			t.Errorf("error %v", err)
		}
	})
}

func TestHeavyTargetGetsSeparatePasses(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		// 12 MB in half a second at T=4.
		exec := &fakeExec{opNS: 5000, trace: 12 << 20}
		opts := fakeOptions(exec)
		opts.Modes = []record.Mode{record.Thread}
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		events := count(m, func(r *record.Run) bool { return r.Kind == record.Events })
		if events == 0 {
			t.Fatal("no separate pass for mutex and block profiles")
		}
		for i := range m.Runs {
			r := &m.Runs[i]
			if r.Kind == record.Events && (r.Profiles.Trace || r.Profiles.CPU || r.Profiles.Block != heavyBlockRate || r.Profiles.Mutex != 1) {
				t.Errorf("events run %d has recorders %+v", r.ID, r.Profiles)
			}
			if r.Kind == record.Profiled && r.Block > 0 && r.Profiles.Block != 0 {
				t.Errorf("profiled run %d still records every block", r.ID)
			}
		}
	})
}

func TestBrokenGateIsRepeatedThenKept(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts := fakeOptions(&fakeExec{opNS: 5000})
		opts.Modes, opts.Blocks = []record.Mode{record.Thread}, 2
		opts.Budget = 5 * time.Minute
		opts.Gates = func(_ *record.Manifest, r *record.Run) []record.Gate {
			if r.Cell == "fake-0-thread-t2" && r.Block == 0 {
				return []record.Gate{{ID: "steal", Text: "stolen"}}
			}
			if r.Cell == "fake-0-thread-t4" {
				return []record.Gate{{ID: "oversubscribed", Text: "too many"}}
			}
			return nil
		}
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		again := 0
		for i := range m.Runs {
			if r := &m.Runs[i]; r.Rerun {
				again++
				if r.Cell != "fake-0-thread-t2" || r.Block != 0 || len(r.Gates) != 1 {
					t.Errorf("unexpected repeat %+v", r)
				}
			}
		}
		if again != 1 {
			t.Errorf("%d repeats, want one: not of a repeat, not of what the plan asked for", again)
		}
	})
}

func TestKillAndResume(t *testing.T) {
	dir := t.TempDir()
	var whole []string
	for _, after := range []time.Duration{0, 700 * time.Millisecond, 3 * time.Second, 9 * time.Second, 21 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			opts := fakeOptions(&fakeExec{opNS: 5000, start: 100 * time.Millisecond})
			opts.Blocks = 3
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, st, err := begin(t, ctx, opts, dir)
			if err != nil {
				t.Fatal(err)
			}
			if after > 0 {
				time.AfterFunc(after, cancel)
				err := s.finish(ctx)
				var stopped *Interrupted
				if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) {
					t.Fatalf("error %v, want Interrupted", err)
				}
				old := st.load(t)
				if old.Complete {
					t.Fatal("an interrupted capture is marked complete")
				}
				if stopped.Runs != len(old.Runs) {
					t.Errorf("%d runs said to be kept, %d are", stopped.Runs, len(old.Runs))
				}
				again := Again{
					Machine: opts.Machine, Gates: opts.Gates,
					Resolve: func(r record.Target) (Target, error) {
						return Target{Record: r, Exec: &fakeExec{opNS: 5000, start: 100 * time.Millisecond}}, nil
					},
				}
				if err := resume(t.Context(), st, old, again); err != nil {
					t.Fatal(err)
				}
			} else if err := s.finish(ctx); err != nil {
				t.Fatal(err)
			}
			m := st.load(t)
			if !m.Complete {
				t.Error("not complete after resume")
			}
			var got []string
			seen := map[int]bool{}
			for _, r := range m.Runs {
				got = append(got, fmt.Sprint(r.Seq, r.Block, r.Cell, r.Kind))
				if seen[r.Seq] {
					t.Errorf("run %d was made twice", r.Seq)
				}
				seen[r.Seq] = true
			}
			if after == 0 {
				whole = got
			} else if !slices.Equal(got, whole) {
				t.Errorf("interrupted after %s: the order differs from that of a whole capture", after)
			}
		})
	}
}

func TestResumeRefusesForeignEnvironment(t *testing.T) {
	m := &record.Manifest{
		Plan:  record.Plan{Threads: []int{1}, Modes: []record.Mode{record.Thread}, Targets: []record.Target{{Name: "x"}}},
		Cells: []record.Cell{{ID: "x", Threads: 1, Procs: 1, Env: []string{"LD_PRELOAD=/tmp/evil.so"}}},
	}
	again := Again{Resolve: func(r record.Target) (Target, error) { return Target{Record: r}, nil }}
	if _, err := again.options(m); err == nil || !strings.Contains(err.Error(), "LD_PRELOAD") {
		t.Errorf("error %v, want a refusal", err)
	}
}

func TestFullDiskEndsCapture(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts := fakeOptions(&fakeExec{opNS: 5000})
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		st.fail = errors.New("writing manifest.json: no space left on device")
		if err := s.finish(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("error %v", err)
		}
	})
}

func TestFullDiskInAChildIsNoRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		exec := &fakeExec{opNS: 5000}
		n := 0
		exec.fail = func(*Job) error {
			if n++; n == 6 {
				return fmt.Errorf("writing trace.out: %w", syscall.ENOSPC)
			}
			return nil
		}
		s, st, err := begin(t, t.Context(), fakeOptions(exec), dir)
		if err != nil {
			t.Fatal(err)
		}
		err = s.finish(t.Context())
		if err == nil || strings.Count(err.Error(), "no space left on device") != 1 {
			t.Errorf("error %v, want the full disk, once", err)
		}
		m := st.load(t)
		if len(m.Runs) == 0 || m.Complete {
			t.Errorf("%d runs, complete %v", len(m.Runs), m.Complete)
		}
		for _, r := range m.Runs {
			if r.Error != "" {
				t.Errorf("run %d is recorded as failed: it could not be made again", r.ID)
			}
		}
	})
}

func TestResumeInThePilotKeepsArms(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts := fakeOptions(&fakeExec{opNS: 5000})
		arms, err := arm.ParseList("gogc=400,procs=threads")
		if err != nil {
			t.Fatal(err)
		}
		opts.Arms, opts.Blocks = arms, 1
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s, st, err := begin(t, ctx, opts, dir)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v from a pilot that was ended", err)
		}
		if err := s.save(); err != nil {
			t.Fatal(err)
		}
		again := Again{Machine: opts.Machine, Gates: opts.Gates, Resolve: func(r record.Target) (Target, error) {
			return Target{Record: r, Exec: &fakeExec{opNS: 5000}}, nil
		}}
		if err := resume(t.Context(), st, st.load(t), again); err != nil {
			t.Fatal(err)
		}
		m := st.load(t)
		if want := []string{"baseline", "gogc=400", "procs=threads"}; !slices.Equal(m.Plan.Arms, want) || !m.Complete {
			t.Errorf("arms %v, complete %v after resume", m.Plan.Arms, m.Complete)
		}
	})
}

func TestPilotDiscountsNeighbours(t *testing.T) {
	for _, test := range []struct{ wall, wait, want int64 }{
		{1000, 0, 1000}, {1000, 800, 800}, {1000, 1e6, 500},
	} {
		out := &Outcome{WallNS: test.wall, Processes: []recorder.Result{{Threads: &recorder.Threads{WaitNS: test.wait}}, {}}}
		if got := undisturbed(out, 4); int64(got) != test.want {
			t.Errorf("wall %d with %d waited by 4 threads: %d, want %d", test.wall, test.wait, got, test.want)
		}
	}
}

func TestRepeatsStopWhereTheyDoNotHelp(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts := fakeOptions(&fakeExec{opNS: 5000})
		opts.Blocks, opts.Budget = 6, time.Hour
		opts.Gates = func(*record.Manifest, *record.Run) []record.Gate {
			return []record.Gate{{ID: "steal", Text: "stolen"}}
		}
		s, st, err := begin(t, t.Context(), opts, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Those of the first block are scheduled before the first repeat is made.
		if n := count(st.load(t), func(r *record.Run) bool { return r.Rerun }); n != 6 {
			t.Errorf("%d repeats on a machine that is always disturbed, want the first block's 6", n)
		}
	})
}
