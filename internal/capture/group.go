package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// group is the processes of one run, their two gates and what they have said.
type group struct {
	job     *Job
	ctx     context.Context
	timeout <-chan time.Time

	procs  []*process
	events chan event

	quota   *quota     // nil without one
	stopped *Throttled // by the quota, in the window

	gateR, gateW     *os.File // closing gateW releases all
	finishR, finishW *os.File // closing finishW lets all write and end
}

// process is one process of the run and how far it has come.
type process struct {
	index  int
	cmd    *exec.Cmd
	output Output

	ready, done bool
	result      *recorder.Result
	ended       bool
}

func (p *process) isReady() bool { return p.ready }
func (p *process) isDone() bool  { return p.done }
func (p *process) isEnded() bool { return p.ended && p.result != nil }

// event is a line from a process, or its end.
type event struct {
	p     *process
	msg   *recorder.Message
	ended bool
	err   error
}

// Bounds on what a process may send and how long it may take to let go of its
// files after it has ended.
const (
	maxMessage = 64 << 20
	drain      = 2 * time.Second
)

func newGroup(job *Job, quotaCPUs float64) (*group, error) {
	// Room for all that T processes can say, so that no sender ever waits.
	g := &group{job: job, events: make(chan event, 8*processes(job)+8)}
	var err error
	if g.gateR, g.gateW, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("making the start gate: %w", err)
	}
	if g.finishR, g.finishW, err = os.Pipe(); err != nil {
		g.gateR.Close()
		g.gateW.Close()
		return nil, fmt.Errorf("making the finish gate: %w", err)
	}
	if quotaCPUs > 0 {
		if g.quota, err = newQuota(quotaCPUs); err != nil {
			g.close()
			return nil, err
		}
	}
	return g, nil
}

// throttled reads the quota's counters.
func (g *group) throttled() *Throttled {
	if g.quota == nil {
		return nil
	}
	ns, times, ok := g.quota.throttled()
	if !ok {
		return nil
	}
	return &Throttled{NS: ns, Times: times}
}

func (g *group) release() { g.gateW.Close() }
func (g *group) finish()  { g.finishW.Close() }

func (g *group) pids() []int {
	pids := make([]int, len(g.procs))
	for i, p := range g.procs {
		pids[i] = p.cmd.Process.Pid
	}
	return pids
}

func (g *group) start(index int, c Command) error {
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a control pipe: %w", err)
	}
	p := &process{index: index}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), g.job.Env...)
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Env = append(cmd.Env, recorder.SpecEnv+"="+filepath.Join(g.job.Dir, specName(index)))
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	cmd.ExtraFiles = []*os.File{controlW, g.gateR, g.finishR} // 3, 4 and 5
	cmd.SysProcAttr = GroupAttr()
	// A descendant that keeps stdout open must not keep us waiting.
	cmd.WaitDelay = drain
	if err := cmd.Start(); err != nil {
		controlR.Close()
		controlW.Close()
		return fmt.Errorf("starting process %d: %w", index, err)
	}
	controlW.Close()
	p.cmd = cmd
	g.procs = append(g.procs, p)
	go g.follow(p, controlR)
	if g.quota != nil {
		return g.quota.join(cmd.Process.Pid)
	}
	return nil
}

// follow reads what a process says and waits for its end.
func (g *group) follow(p *process, control *os.File) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		lines := bufio.NewScanner(control)
		lines.Buffer(make([]byte, 4096), maxMessage)
		for n := 0; lines.Scan() && n < 6; n++ {
			var msg recorder.Message
			if err := json.Unmarshal(lines.Bytes(), &msg); err != nil {
				g.events <- event{p: p, err: fmt.Errorf("process %d does not speak the protocol: %w", p.index, err)}
				return
			}
			g.events <- event{p: p, msg: &msg}
		}
		if err := lines.Err(); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
			g.events <- event{p: p, err: fmt.Errorf("reading from process %d: %w", p.index, err)}
		}
	}()
	err := p.cmd.Wait()
	// All that it said before it ended counts; what a descendant that holds the
	// pipe might still say does not.
	_ = control.SetReadDeadline(time.Now().Add(drain))
	<-said
	control.Close()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	g.events <- event{p: p, ended: true, err: err}
}

// await returns when every process has come so far. what is named when not.
func (g *group) await(what string, reached func(*process) bool) error {
	for {
		missing := 0
		for _, p := range g.procs {
			if !reached(p) {
				missing++
			}
		}
		if missing == 0 {
			return nil
		}
		select {
		case ev := <-g.events:
			if err := g.take(ev); err != nil {
				return err
			}
		case <-g.ctx.Done():
			return g.ctx.Err()
		case <-g.timeout:
			return g.hung(what, missing)
		}
	}
}

func (g *group) hung(what string, missing int) error {
	doing := map[string]string{
		"ready":  "was still warming up",
		"done":   "was still working",
		"result": "was still writing its files",
	}[what]
	if len(g.procs) > 1 {
		return fmt.Errorf("hung: after %s %d of %d processes %s; all were killed", g.job.Timeout.Round(time.Millisecond), missing, len(g.procs), doing)
	}
	return fmt.Errorf("hung: after %s the process %s; it was killed", g.job.Timeout.Round(time.Millisecond), doing)
}

// take books an event. Its error ends the run.
func (g *group) take(ev event) error {
	p := ev.p
	switch {
	case ev.ended:
		p.ended = true
		if p.result != nil && ev.err == nil {
			return nil
		}
		return g.crashed(p, ev.err)
	case ev.err != nil:
		return ev.err
	}
	switch ev.msg.Kind {
	case "ready":
		p.ready = true
	case "done":
		p.ready, p.done = true, true
	case "result":
		if ev.msg.Result == nil {
			return fmt.Errorf("process %d sent an empty result", p.index)
		}
		p.ready, p.done, p.result = true, true, ev.msg.Result
	case "error":
		return errors.New(clip(ev.msg.Error))
	}
	return nil
}

// crashed says how a process ended without a result, or badly after one.
func (g *group) crashed(p *process, err error) error {
	who := "the process"
	if len(g.procs) > 1 {
		who = fmt.Sprintf("process %d of %d", p.index, len(g.procs))
	}
	how := "ended without a result"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, ok := exit.Sys().(syscall.WaitStatus)
		switch {
		case ok && status.Signaled() && status.Signal() == syscall.SIGKILL:
			return fmt.Errorf("%s was killed by signal 9, which scaleprof did not send: most likely it used too much memory", who)
		case ok && status.Signaled():
			how = "was ended by signal " + status.Signal().String()
		default:
			how = fmt.Sprintf("crashed with exit code %d", exit.ExitCode())
		}
	} else if err != nil {
		how = "could not be waited for: " + err.Error()
	}
	if line := p.output.Complaint(); line != "" {
		return fmt.Errorf("%s %s: %s", who, how, line)
	}
	return fmt.Errorf("%s %s", who, how)
}

// close ends what still runs, keeps what the processes printed and removes
// their specifications.
func (g *group) close() {
	g.gateR.Close()
	g.finishR.Close()
	// Kill before the gates open, so that no process goes on by mistake.
	for _, p := range g.procs {
		// Also when the process itself has ended: its descendants have not.
		KillGroup(p.cmd.Process.Pid)
	}
	g.gateW.Close()
	g.finishW.Close()
	deadline := time.NewTimer(2 * drain)
	defer deadline.Stop()
wait:
	for {
		left := 0
		for _, p := range g.procs {
			if !p.ended {
				left++
			}
		}
		if left == 0 {
			break
		}
		select {
		case ev := <-g.events:
			if ev.ended {
				ev.p.ended = true
			}
		case <-deadline.C:
			break wait // stuck in the kernel; nothing more can be done about it
		}
	}
	if g.quota != nil {
		_ = g.quota.close() // an empty group costs nothing
	}
	g.saveOutput()
	for i := range processes(g.job) {
		_ = os.Remove(filepath.Join(g.job.Dir, specName(i)))
	}
}

// stderrName is the file in a run's directory with what its processes printed.
const stderrName = "stderr.txt"

// maxStderr bounds that file over all processes of a run.
const maxStderr = 256 << 10

func (g *group) saveOutput() {
	var all bytes.Buffer
	for _, p := range g.procs {
		text := p.output.Bytes()
		if len(text) == 0 || all.Len()+len(text) > maxStderr {
			continue
		}
		if len(g.procs) > 1 {
			fmt.Fprintf(&all, "--- process %d\n", p.index)
		}
		all.Write(text)
		if text[len(text)-1] != '\n' {
			all.WriteByte('\n')
		}
	}
	if all.Len() > 0 {
		// It is there to be read after a fault; the run stands without it.
		_ = os.WriteFile(filepath.Join(g.job.Dir, stderrName), all.Bytes(), 0o644)
	}
}
