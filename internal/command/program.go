package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture"
)

// program is a command that runs, in a process group of its own.
type program struct {
	who    string // "the program", for messages
	cmd    *exec.Cmd
	output capture.Output
	began  time.Time

	ended   chan struct{} // closed at its end; then the next two are set
	endedAt time.Time
	err     error

	readers sync.WaitGroup // of its output
}

// How long a program may take to end when it is asked to, and to let go of its
// output when it has ended.
const (
	stopGrace = 5 * time.Second
	drain     = time.Second
)

// start runs a command by the shell. onLine, if any, is told each line that it
// prints, with the time at which it was read, from two goroutines.
func start(who, command string, env []string, onLine func(line []byte, at time.Time)) (*program, error) {
	p := &program{who: who, ended: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", "-c", command)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = capture.GroupAttr()
	var pipes [2][2]*os.File
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting %s: %w", who, err), closeAll(pipes))
		}
		pipes[i] = [2]*os.File{r, w}
	}
	// Files, not writers: the end of the process is then not the end of its output.
	p.cmd.Stdout, p.cmd.Stderr = pipes[0][1], pipes[1][1]
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", who, err), closeAll(pipes))
	}
	for _, pipe := range pipes {
		pipe[1].Close()
		p.readers.Add(1)
		go p.read(pipe[0], onLine)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.endedAt = time.Now()
		close(p.ended)
	}()
	return p, nil
}

func closeAll(pipes [2][2]*os.File) (err error) {
	for _, pipe := range pipes {
		for _, f := range pipe {
			if f != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}
	return err
}

// maxLine bounds what is looked at of one line.
const maxLine = 64 << 10

// read follows one of the program's outputs.
func (p *program) read(f *os.File, onLine func([]byte, time.Time)) {
	defer p.readers.Done()
	defer f.Close()
	var line []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		at := time.Now()
		_, _ = p.output.Write(buf[:n])
		for rest := buf[:n]; onLine != nil && len(rest) > 0; {
			text, after, whole := bytes.Cut(rest, []byte{'\n'})
			line = append(line, text[:min(len(text), maxLine-len(line))]...)
			if whole {
				onLine(line, at)
				line = line[:0]
			}
			rest = after
		}
		if err != nil {
			if onLine != nil && len(line) > 0 && errors.Is(err, io.EOF) {
				onLine(line, at)
			}
			return
		}
	}
}

func (p *program) pid() int { return p.cmd.Process.Pid }

// hasEnded reports whether it has, without waiting.
func (p *program) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop ends the program and all that it has started: by SIGTERM where it is
// given time, then by force. It returns when its output is complete, or when
// nobody lets go of it.
func (p *program) stop(grace time.Duration) {
	if grace > 0 && !p.hasEnded() {
		_ = syscall.Kill(-p.pid(), syscall.SIGTERM)
		p.wait(grace)
	}
	// Also when the shell itself has ended: its descendants have not.
	capture.KillGroup(p.pid())
	p.wait(2 * stopGrace) // longer only when stuck in the kernel
	p.drained()
}

// wait waits for its end, for so long at most.
func (p *program) wait(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// drained waits until its output is read. A descendant that has left the group
// may hold it for ever.
func (p *program) drained() {
	done := make(chan struct{})
	go func() { p.readers.Wait(); close(done) }()
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// how says how it ended, with the line that says best why.
func (p *program) how() string {
	how := "ended"
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		status, ok := exit.Sys().(syscall.WaitStatus)
		switch {
		case ok && status.Signaled() && status.Signal() == syscall.SIGKILL:
			how = "was killed by signal 9, which scaleprof did not send"
		case ok && status.Signaled():
			how = "was ended by signal " + status.Signal().String()
		default:
			how = fmt.Sprintf("ended with exit code %d", exit.ExitCode())
		}
	} else if p.err != nil {
		how = "could not be waited for: " + p.err.Error()
	}
	p.drained()
	if line := p.output.Complaint(); line != "" {
		how += ": " + line
	}
	return how
}

// failed is an error unless it ended well.
func (p *program) failed() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%s %s", p.who, p.how())
}

// last is its last line, to say what it was doing.
func (p *program) last() string {
	if line := p.output.Complaint(); line != "" {
		return "; its output ends: " + line
	}
	return ""
}

// saveOutput keeps what the commands of a run printed, for the one who looks
// for a fault. The run stands without it.
func saveOutput(name string, programs ...*program) {
	var all strings.Builder
	for _, p := range programs {
		if p == nil {
			continue
		}
		if text := p.output.Bytes(); len(text) > 0 {
			fmt.Fprintf(&all, "--- %s\n%s", p.who, text)
			if text[len(text)-1] != '\n' {
				all.WriteByte('\n')
			}
		}
	}
	if all.Len() > 0 {
		_ = os.WriteFile(name, []byte(all.String()), 0o644)
	}
}
