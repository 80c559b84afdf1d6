package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Executor makes the runs of a program. What it remembers from run to run are
// conveniences only: every run can be made without.
type Executor struct {
	opts           Options
	rate, requests *figure
	begin, end     *regexp.Regexp
	pprof, ready   *address // nil where there is none
	goVersion      string   // that built the program, "" unknown

	probed bool
	walls  map[int]time.Duration // of the last timed run, by T
}

// Execute makes one run.
func (e *Executor) Execute(ctx context.Context, job *capture.Job) (*capture.Outcome, error) {
	if job.Clock == capture.ClockStartup {
		return nil, errors.New("clock: a command's clock is its own; leave --clock out")
	}
	type answer struct {
		out *capture.Outcome
		err error
	}
	done := make(chan answer, 1)
	go func() {
		// On Linux a child dies with the thread that started it, so that none
		// survives a killed scaleprof. The thread must not end before the run does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		limited, cancel := context.WithTimeout(ctx, job.Timeout)
		defer cancel()
		r := &run{e: e, job: job, ctx: limited, out: &capture.Outcome{}}
		err := r.make()
		r.close()
		done <- answer{r.out, err}
	}()
	a := <-done
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case a.err != nil:
		return nil, a.err
	}
	if job.Kind == record.Timed && a.out.WallNS > 0 {
		if e.walls == nil {
			e.walls = make(map[int]time.Duration)
		}
		e.walls[job.Cell.Threads] = time.Duration(max(a.out.WindowNS, a.out.WallNS))
	}
	return a.out, nil
}

// run is one run while it is made.
type run struct {
	e       *Executor
	job     *capture.Job
	ctx     context.Context // ends with the timeout
	out     *capture.Outcome
	program *program
	load    *program // also the warm-up, while it lasts
	profile *collector
	own     string // directory of the program's own profiles, "" for none
}

func (r *run) make() error {
	if err := r.free(); err != nil {
		return err
	}
	if r.e.opts.Load != "" {
		return r.server()
	}
	return r.batch()
}

// free makes sure that nobody else answers where the program will.
func (r *run) free() error {
	for _, a := range []*address{r.e.ready, r.e.pprof} {
		if a != nil && a.taken(r.ctx) {
			return fmt.Errorf("%s is in use already, so another program would be measured: end it, or choose another port", a.dial)
		}
	}
	return nil
}

// env is the environment of the program.
func (r *run) env() []string {
	return append(r.threads(), r.job.Env...)
}

func (r *run) threads() []string {
	return []string{ThreadsEnv + "=" + strconv.Itoa(r.job.Cell.Threads)}
}

// ownProfiles makes the directory where the program may leave profiles.
func (r *run) ownProfiles() ([]string, error) {
	if !r.e.opts.OwnProfiles || !r.job.Profiles.Any() {
		return nil, nil
	}
	r.own = filepath.Join(r.job.Dir, "own")
	if err := os.Mkdir(r.own, 0o755); err != nil {
		return nil, fmt.Errorf("making a directory for the program's profiles: %w", err)
	}
	return []string{ProfilesEnv + "=" + r.own}, nil
}

// hung says what a run was at when its time was over.
func (r *run) hung(doing string, p *program) error {
	if err := context.Cause(r.ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("hung: after %s %s, and was killed (--timeout allows more)%s", r.job.Timeout.Round(time.Millisecond), doing, p.last())
}

// finish books the window: what was used in it, and the wall time that counts.
func (r *run) finish(begin, end int64, used *recorder.Usage, threads *recorder.Threads, text []byte, who string) error {
	window := end - begin
	if window <= 0 {
		return errors.New("the window lasted no time at all; let the command do more")
	}
	r.out.WallNS, r.out.Ops = window, r.job.Ops
	if r.job.Ops == 0 {
		r.out.Ops = 1
	}
	if err := r.speed(window, text, who); err != nil {
		return err
	}
	if r.out.WallNS != window {
		r.out.WindowNS = window
		scale(used, threads, float64(r.out.WallNS)/float64(window))
	}
	r.out.Processes = []recorder.Result{{
		Pid: r.program.pid(), Go: r.e.goVersion, Procs: r.job.Cell.Procs, NumCPU: runtime.NumCPU(),
		BeginNS: max(end-r.out.WallNS, 1), EndNS: end, Ops: r.out.Ops, Usage: used, Threads: threads,
	}}
	return nil
}

// speed takes the wall time from what the command says of its rate.
func (r *run) speed(window int64, text []byte, who string) error {
	e := r.e
	if e.requests != nil {
		n, err := e.requests.in(text, who)
		if err != nil {
			return err
		}
		r.out.Ops = max(int64(n), 1)
	}
	if e.rate == nil {
		return nil
	}
	rate, err := e.rate.in(text, who)
	if err != nil {
		return err
	}
	if e.requests == nil && r.job.Ops == 0 {
		// The pilot: from now on so many are the work.
		r.out.Ops = max(int64(rate*float64(window)/1e9), 1)
	}
	wall := float64(r.out.Ops) / rate * 1e9
	if !(wall >= 1 && wall < 30*24*3600*1e9) {
		return fmt.Errorf("%s printed a rate of %g a second, which %d operations cannot have", who, rate, r.out.Ops)
	}
	r.out.WallNS = int64(wall)
	return nil
}

// scale cuts what was used in a window to the work that the wall time is of.
func scale(u *recorder.Usage, t *recorder.Threads, by float64) {
	of := func(n *int64) { *n = int64(by * float64(*n)) }
	if u != nil {
		for _, n := range []*int64{&u.UserNS, &u.SysNS, &u.MinFlt, &u.MajFlt, &u.NVCSw, &u.NIVCSw} {
			of(n)
		}
	}
	if t != nil {
		for _, n := range []*int64{&t.RunNS, &t.WaitNS, &t.Slices} {
			of(n)
		}
	}
}

// probe asks the program once what it offers, after the window of the first run.
func (r *run) probe() {
	if r.e.probed || r.e.pprof == nil {
		return
	}
	r.e.probed = true
	r.out.Notes, r.out.Without = probe(r.ctx, *r.e.pprof, []string{"cpu", "trace", "mutex", "block"})
}

// collect takes over what was recorded.
func (r *run) collect() {
	if r.profile != nil {
		r.out.Files = append(r.out.Files, r.profile.files...)
		r.out.Warnings = append(r.out.Warnings, r.profile.said...)
	}
	if r.own != "" {
		files, said := ownFiles(r.job.Dir, r.own, r.job.Profiles)
		r.out.Files = append(r.out.Files, files...)
		r.out.Warnings = append(r.out.Warnings, said...)
	}
}

// close ends all that still runs and keeps what it printed.
func (r *run) close() {
	if r.load != nil {
		r.load.stop(0)
	}
	if r.program != nil {
		r.program.stop(0)
	}
	saveOutput(filepath.Join(r.job.Dir, stderrName), r.program, r.load)
	if r.own != "" {
		_ = os.RemoveAll(r.own) // what is left there was not asked for
	}
}

// stderrName is the file of a run with what its processes printed.
const stderrName = "stderr.txt"
