package capture

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Again is what a resumed capture needs beside its directory.
type Again struct {
	// Resolve finds the target that the plan names.
	Resolve   func(record.Target) (Target, error)
	Scaleprof string
	// ChooseArms, Machine, Gates, Progress and NoKernels are as in Options.
	ChooseArms func(ctx context.Context, dir string) ([]string, error)
	Machine    Machine
	Gates      Gates
	Progress   Progress
	NoKernels  bool
	Timeout    time.Duration

	dir string // as the user named it
}

// Resume finishes the capture in dir: same plan, same seed, same order; runs
// that are complete are not made again. On a capture that is complete it does
// nothing.
func Resume(ctx context.Context, dir string, again Again) (err error) {
	st, m, warnings, err := record.OpenStore(dir)
	if err != nil {
		return refuse(err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	again.dir = dir
	for _, w := range warnings {
		if again.Progress != nil {
			again.Progress.Warn(w.Text)
		}
	}
	return resume(ctx, st, m, again)
}

func resume(ctx context.Context, st store, m *record.Manifest, again Again) error {
	if m.Complete {
		return nil
	}
	opts, err := again.options(m)
	if err != nil {
		return refuse(err)
	}
	defer opts.end()
	fresh := newSession(opts)
	if err := sameMachine(m, fresh.m); err != nil {
		return refuse(err)
	}
	fresh.store, fresh.before = st, time.Duration(m.SpentNS)
	warnings := fresh.m.Warnings
	fresh.m = m
	for _, w := range warnings {
		fresh.warn(w.ID, w.Text, nil)
	}
	if len(m.Cells) == 0 {
		// It was ended in the pilot.
		if err := fresh.prepare(ctx); err != nil {
			return err
		}
	} else {
		fresh.restore()
	}
	return fresh.finish(ctx)
}

// options are those that the plan was made from.
func (a *Again) options(m *record.Manifest) (*Options, error) {
	p := &m.Plan
	opts := &Options{
		Threads: p.Threads, Modes: p.Modes, ProcsRule: p.ProcsRule, Clock: Clock(p.Clock),
		Blocks: p.Blocks, Precision: p.Precision, Budget: time.Duration(p.BudgetNS), Profiles: p.Profiles,
		ArmsAuto: p.ArmsAuto, ChooseArms: a.ChooseArms, Quick: p.Quick, Seed: p.Seed,
		Scaleprof: a.Scaleprof, Timeout: a.Timeout, Out: a.dir,
		Machine: a.Machine, Gates: a.Gates, Progress: a.Progress, NoKernels: a.NoKernels,
	}
	if opts.Profiles == nil {
		opts.Profiles = []string{} // none were wanted; nil would mean the default
	}
	if len(p.Targets) == 0 || len(p.Threads) == 0 {
		return nil, fmt.Errorf("it was ended before it had a plan; capture anew")
	}
	for i, name := range p.Arms {
		if i == 0 && name == record.Baseline {
			continue
		}
		a, err := arm.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("the manifest's plan: %w", err)
		}
		opts.Arms = append(opts.Arms, a)
	}
	opts.AllArms = true // those that are impossible were refused at the start
	for _, t := range p.Targets {
		if t.Kind == "import" {
			return nil, fmt.Errorf("an imported capture cannot be resumed: its runs were made elsewhere")
		}
		target, err := a.Resolve(t)
		if err != nil {
			return nil, err
		}
		target.Record = t
		opts.Targets = append(opts.Targets, target)
	}
	for _, c := range m.Cells {
		if c.Threads < 1 || c.Threads > MaxThreads || c.Procs < 1 || c.Procs > MaxThreads {
			return nil, fmt.Errorf("the manifest's cell %q has impossible figures", clip(c.ID))
		}
		for _, e := range c.Env {
			// A capture comes from anywhere. It may not choose what we execute.
			if !strings.HasPrefix(e, "GOGC=") && !strings.HasPrefix(e, "GOMEMLIMIT=") {
				return nil, fmt.Errorf("the manifest's cell %q sets %q, which no arm does", clip(c.ID), clip(e))
			}
		}
	}
	return opts, opts.check()
}

// sameMachine refuses to mix observations that cannot be compared.
func sameMachine(old, now *record.Manifest) error {
	for _, d := range []struct{ what, old, now string }{
		{"CPUs", fmt.Sprint(old.Host.CPUs), fmt.Sprint(now.Host.CPUs)},
		{"CPU", old.Host.CPU, now.Host.CPU},
		{"system", old.Host.OS + "/" + old.Host.Arch, now.Host.OS + "/" + now.Host.Arch},
		{"Go version", old.Toolchain.Go, runtime.Version()},
		{"scaleprof version", old.Toolchain.Scaleprof, now.Toolchain.Scaleprof},
	} {
		if d.old != d.now {
			return fmt.Errorf("this capture cannot be resumed here: its %s was %q, now it is %q", d.what, clip(d.old), clip(d.now))
		}
	}
	return nil
}

// restore rebuilds what a session learns from its runs.
func (s *session) restore() {
	s.index()
	longest := int64(0)
	for i := range s.m.Runs {
		r := &s.m.Runs[i]
		if r.Error != "" {
			continue
		}
		longest = max(longest, r.WallNS)
		s.costs.add(r.Cell, r.Kind, time.Duration(r.WallNS)*11/10+200*time.Millisecond)
		if c, ok := s.cells[r.Cell]; ok {
			s.load[c.Target] = s.load[c.Target].observe(s.store.Dir(), r)
		}
	}
	if s.timeout == 0 {
		s.timeout = max(30*time.Second, 20*time.Duration(longest))
		if longest == 0 {
			s.timeout = 2 * pilotTimeout
		}
	}
}
