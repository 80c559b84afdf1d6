package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Processes executes runs whose processes speak the recorder's protocol: one
// process with T workers in thread mode, T processes with one worker each in
// process mode.
type Processes struct {
	Launcher Launcher
	// QuotaCPUs puts the processes of each run under a CPU quota, 0 for none.
	QuotaCPUs float64
}

// Execute starts the processes, waits until all are ready, releases them at
// once and collects their results.
func (e *Processes) Execute(ctx context.Context, job *Job) (*Outcome, error) {
	type answer struct {
		out *Outcome
		err error
	}
	done := make(chan answer, 1)
	go func() {
		// On Linux a child dies with the thread that started it, so that none
		// survives a killed scaleprof. The thread must not end before the run does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		out, err := e.execute(ctx, job)
		done <- answer{out, err}
	}()
	a := <-done
	return a.out, a.err
}

func (e *Processes) execute(ctx context.Context, job *Job) (*Outcome, error) {
	g, err := newGroup(job, e.QuotaCPUs)
	if err != nil {
		return nil, err
	}
	defer g.close()
	timer := time.NewTimer(job.Timeout)
	defer timer.Stop()
	g.ctx, g.timeout = ctx, timer.C

	if job.Clock == ClockStartup {
		// No barrier: the gates are open before anyone comes to them.
		g.release()
		g.finish()
		job.Window.Open(nil)
	}
	begin := time.Now()
	for i := range processes(job) {
		spec, err := writeSpec(job, i)
		if err != nil {
			return nil, err
		}
		cmd, err := e.Launcher.Command(job, spec)
		if err != nil {
			return nil, err
		}
		if err := g.start(i, cmd); err != nil {
			return nil, err
		}
	}
	if job.Clock != ClockStartup {
		if err := g.await("ready", (*process).isReady); err != nil {
			return nil, err
		}
		pids := g.pids()
		job.Window.Open(pids)
		before := g.throttled()
		g.release()
		if err := g.await("done", (*process).isDone); err != nil {
			return nil, err
		}
		job.Window.Close(pids)
		g.stopped = g.throttled().sub(before)
		g.finish()
	}
	if err := g.await("result", (*process).isEnded); err != nil {
		return nil, err
	}
	elapsed := time.Since(begin)
	if job.Clock == ClockStartup {
		job.Window.Close(nil)
	}
	return g.outcome(elapsed)
}

// processes is the number of processes of a run.
func processes(job *Job) int {
	if job.Cell.Mode == record.Process {
		return job.Cell.Threads
	}
	return 1
}

// newSpec is what process i of the run is asked to do. Its share of the
// operations is [Lo, Hi): shares differ by at most one.
func newSpec(job *Job, i int) *recorder.Spec {
	n := int64(processes(job))
	spec := &recorder.Spec{
		Target: job.Target.Name, Params: job.Target.Params,
		Workers: job.Cell.Threads / int(n), Threads: job.Cell.Threads, Process: i,
		Procs: job.Cell.Procs, Total: job.Ops,
		Lo: job.Ops * int64(i) / n, Hi: job.Ops * int64(i+1) / n,
		Warm:    (job.Warm + n - 1) / n,
		Profile: job.Profiles, Dir: job.Dir, Delay: job.DelayNS, Seed: job.Seed,
		Counters: job.Counters,
	}
	if w := int64(spec.Workers); spec.Warm < w {
		spec.Warm = w // every worker's own first operation is outside the clock
	}
	if job.Pin != nil {
		spec.Pin = job.Pin
		if n > 1 {
			spec.Pin = job.Pin[i : i+1]
		}
	}
	if job.Clock == ClockStartup {
		spec.Startup, spec.Warm = true, 0
		if job.Cell.Mode == record.Thread {
			spec.Warm = 1 // as the seed's test does
		}
	}
	return spec
}

// specName is the base name of a process's Spec, which stays in the run's
// directory only as long as the run lasts.
func specName(process int) string { return fmt.Sprintf("spec.%d.json", process) }

func writeSpec(job *Job, i int) (*recorder.Spec, error) {
	spec := newSpec(job, i)
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("writing a run's specification: %w", err)
	}
	if err := os.WriteFile(filepath.Join(job.Dir, specName(i)), data, 0o644); err != nil {
		return nil, fmt.Errorf("writing a run's specification: %w", err)
	}
	return spec, nil
}

// outcome adds up what the processes measured.
func (g *group) outcome(elapsed time.Duration) (*Outcome, error) {
	out := &Outcome{Throttled: g.stopped}
	var begin, end int64
	for _, p := range g.procs {
		r := *p.result
		if r.EndNS < r.BeginNS || r.BeginNS <= 0 {
			return nil, fmt.Errorf("process %d gave a window that ends before it begins", p.index)
		}
		if len(out.Processes) == 0 || r.BeginNS < begin {
			begin = r.BeginNS
		}
		end = max(end, r.EndNS)
		out.Ops += r.Ops
		out.Checksum += r.Checksum
		out.Warnings = append(out.Warnings, r.Warnings...)
		for _, f := range r.Files {
			if !plainName(f.Name) {
				return nil, fmt.Errorf("process %d wrote a file with a bad name %q", p.index, clip(f.Name))
			}
			out.Files = append(out.Files, record.Raw{Kind: f.Kind, Name: f.Name, Process: p.index})
		}
		r.Process = p.index
		out.Processes = append(out.Processes, r)
	}
	// The clock starts with the first worker that sees the gate open, not with
	// the parent's call: how long the kernel takes to wake the first process is
	// no cost of the workload. All later ones are.
	out.WallNS = end - begin
	if g.job.Clock == ClockStartup && g.job.Cell.Mode == record.Process {
		out.WallNS = int64(elapsed)
	}
	if out.WallNS <= 0 {
		return nil, errors.New("the window lasted no time at all; use more operations")
	}
	if out.WallNS > int64(elapsed)+int64(time.Second) {
		return nil, fmt.Errorf("the processes claim a window of %s within a run of %s", time.Duration(out.WallNS), elapsed)
	}
	return out, nil
}

// plainName says whether a name is a file's own, without any directory.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 128 &&
		name == filepath.Base(name) && !strings.ContainsAny(name, "/\\\x00")
}
