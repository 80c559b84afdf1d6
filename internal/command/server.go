package command

import (
	"fmt"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// poll is how often a program is asked whether it is ready.
const poll = 20 * time.Millisecond

// server starts the program, waits for it, loads it and stops it. The window is
// the load command's life.
func (r *run) server() error {
	own, err := r.ownProfiles()
	if err != nil {
		return err
	}
	if r.program, err = start("the program", r.e.opts.Exec, append(r.env(), own...), nil); err != nil {
		return err
	}
	if err := r.awaitReady(); err != nil {
		return err
	}
	if r.e.opts.Warmup != "" {
		if r.load, err = start("the warm-up command", r.e.opts.Warmup, r.threads(), nil); err != nil {
			return err
		}
		if err := r.awaitLoad(); err != nil {
			return err
		}
		r.load.stop(0)
	}
	if r.e.pprof != nil && r.job.Profiles.Any() {
		r.profile = newCollector(*r.e.pprof, r.job.Dir, r.job.Profiles)
		r.profile.before(r.ctx)
	}
	if err := r.loaded(); err != nil {
		return err
	}
	r.probe()
	if r.program.hasEnded() {
		return fmt.Errorf("the program did not outlive the load: it %s", r.program.how())
	}
	r.program.stop(stopGrace)
	r.collect()
	return nil
}

// loaded runs the load.
func (r *run) loaded() (err error) {
	r.job.Window.Open(nil)
	before := readGroup(r.program.pid())
	begin := monotonic()
	if r.load, err = start("the load command", r.e.opts.Load, r.threads(), nil); err != nil {
		return err
	}
	if r.profile != nil {
		// Not before: what a profile shows of an idle server is no picture of it.
		r.profile.record(r.ctx, longest)
	}
	err = r.awaitLoad()
	after := readGroup(r.program.pid())
	r.job.Window.End()
	if r.profile != nil {
		r.profile.end()
		if err == nil {
			r.profile.after(r.ctx)
		}
	}
	r.job.Window.Close(nil)
	if err != nil {
		return err
	}
	r.load.drained()
	end := begin + int64(r.load.endedAt.Sub(r.load.began))
	used, threads := after.since(before)
	r.charge(used)
	return r.finish(begin, end, used, threads, r.load.output.Bytes(), "the load command")
}

// charge says whose CPU time was the run's own. The load's is no neighbour's,
// and not the program's either.
func (r *run) charge(used *recorder.Usage) {
	load := usageOf(r.load.cmd.ProcessState)
	r.out.LoadNS = cpuNS(load)
	if own := cpuNS(used); own != nil && load != nil {
		sum := *own + *r.out.LoadNS
		r.out.OwnNS = &sum
	}
}

// awaitReady waits until the program answers.
func (r *run) awaitReady() error {
	for {
		ok, said := r.e.ready.answers(r.ctx)
		switch {
		case r.program.hasEnded():
			return fmt.Errorf("the program was not ready when it %s", r.program.how())
		case ok:
			return nil
		case r.ctx.Err() != nil:
			return r.hung(fmt.Sprintf("the program was not ready at %s: %s", r.e.ready, said), r.program)
		}
		sleep := time.NewTimer(poll)
		select {
		case <-sleep.C:
		case <-r.program.ended:
		case <-r.ctx.Done():
		}
		sleep.Stop()
	}
}

// awaitLoad waits until the load, or the warm-up, has ended well.
func (r *run) awaitLoad() error {
	select {
	case <-r.load.ended:
	case <-r.program.ended:
		return fmt.Errorf("the program did not outlive the load: it %s", r.program.how())
	case <-r.ctx.Done():
		return r.hung(r.load.who+" was still running", r.load)
	}
	if r.load.err != nil && r.program.hasEnded() {
		return fmt.Errorf("the program did not outlive the load: it %s", r.program.how())
	}
	return r.load.failed()
}
