package gobench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture"
)

// found is a benchmark as one call with one iteration showed it.
type found struct {
	Name        string // with its sub-benchmarks' names, as testing writes them
	Parallel    int    // calls of RunParallel
	Parallelism int    // by SetParallelism, 1 without
	Goroutines  int64  // that it started beside; -1 where Go does not tell
	Fault       string // it cannot be measured, and why
}

// note is a line of the driver's survey.
type note struct {
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	Parallel    int    `json:"parallel"`
	Parallelism int    `json:"parallelism"`
	Goroutines  int64  `json:"goroutines"`
	Failed      bool   `json:"failed"`
	Skipped     bool   `json:"skipped"`
	Output      string `json:"output"`
}

// Bounds of a survey: a call of one iteration that takes longer than quiet
// hangs; so many benchmarks may crash it; a line of it may be so long.
const (
	quiet      = 30 * time.Second
	maxCrashes = 10
	maxNote    = 1 << 20
	maxFound   = 10_000
)

// survey calls each benchmark that matches once. One that crashes or hangs is
// left out of another attempt, and its fault is told.
func survey(ctx context.Context, bin *binary, pattern string, patience time.Duration) ([]found, error) {
	var all []found
	seen := make(map[string]bool)
	var skip []string
	for range maxCrashes {
		s := &surveying{bin: bin, pattern: pattern, skip: skip, patience: patience}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, f := range s.found {
			if !seen[f.Name] {
				seen[f.Name] = true
				all = append(all, f)
			}
		}
		switch {
		case err == nil && s.ended:
			return all, nil
		case s.at == "" && !s.opened:
			return nil, fmt.Errorf("%s: its test binary ended before any benchmark: %s", bin.pkg, s.how(err))
		case s.at == "":
			return nil, fmt.Errorf("%s: its TestMain runs no benchmark: %s", bin.pkg, s.how(err))
		}
		if name := s.at; !seen[name] {
			seen[name] = true
			all = append(all, found{Name: name, Fault: s.how(err)})
		}
		skip = append(skip, s.at)
	}
	return all, nil
}

// surveying is one attempt.
type surveying struct {
	bin      *binary
	pattern  string
	skip     []string
	patience time.Duration

	found         []found
	at            string // the benchmark function that runs
	opened, ended bool
	hung          bool
	panicked      string
	output        tail
}

// errHung ends a survey in which nothing happens any more.
var errHung = errors.New("hangs")

func (s *surveying) run(ctx context.Context) error {
	runtime.LockOSThread() // see capture.GroupAttr
	defer runtime.UnlockOSThread()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(s.bin.path, "-test.run=^$", "-test.bench="+s.pattern, "-test.benchtime=1x", "-test.count=1", "-test.timeout=0")
	cmd.Dir = s.bin.dir
	cmd.Env = append(os.Environ(), "SCALEPROF_SURVEY=,"+strings.Join(s.skip, ","))
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = capture.GroupAttr()
	cmd.WaitDelay = time.Second
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("starting the test binary: %w", err)
	}
	defer capture.KillGroup(cmd.Process.Pid)
	lines, done := make(chan note), make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 4096), maxNote)
		for sc.Scan() {
			var n note
			if json.Unmarshal(sc.Bytes(), &n) == nil {
				select {
				case lines <- n:
				case <-stop:
					return
				}
			}
		}
	}()
	go func() { done <- cmd.Wait() }()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	var end error
	over := false
	for lines != nil && !(over && s.ended) {
		select {
		case n, ok := <-lines:
			if !ok {
				lines = nil
				break
			}
			timer.Reset(s.patience)
			s.take(n)
		case end = <-done:
			over = true
			// What it said before its end is in the pipe; what a descendant might
			// still say is not waited for.
			_ = r.SetReadDeadline(time.Now().Add(time.Second))
		case <-timer.C:
			s.hung = true
			return errHung
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !over {
		select {
		case end = <-done:
		case <-timer.C:
			s.hung = !s.ended
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.ended {
		return nil // a benchmark that fails makes the exit code 1
	}
	if end == nil {
		return errors.New("ended with exit code 0")
	}
	return end
}

func (s *surveying) take(n note) {
	switch n.Kind {
	case "open":
		s.opened = true
	case "start":
		s.at = n.Name
	case "end":
		s.ended, s.at = true, ""
	case "panic":
		if s.at == "" {
			return
		}
		s.panicked = fmt.Sprintf("panics: %s", n.Output)
		if n.Name != s.at {
			s.panicked += " (in " + n.Name + ")"
		}
	case "leaf":
		if len(s.found) >= maxFound {
			return
		}
		f := found{Name: n.Name, Parallel: n.Parallel, Parallelism: max(n.Parallelism, 1), Goroutines: n.Goroutines}
		switch {
		case n.Failed:
			f.Fault = "fails: " + n.Output
		case n.Skipped:
			f.Fault = strings.TrimSuffix("calls Skip: "+n.Output, ": ")
		}
		s.found = append(s.found, f)
	}
}

// how says how an attempt ended.
func (s *surveying) how(err error) string {
	if s.hung {
		return fmt.Sprintf("hangs: one iteration took more than %s; it was killed", s.patience)
	}
	if s.panicked != "" {
		return s.panicked
	}
	text := "ended"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		text = "ended with " + exit.String()
	case err != nil:
		text = err.Error()
	}
	if line := s.output.complaint(); line != "" {
		text += ": " + line
	}
	return text
}

// anchored is the pattern that matches one benchmark, at every level.
func anchored(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// tail keeps the end of what a process prints.
type tail struct{ buf []byte }

const tailKeep = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*tailKeep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailKeep:]...)
	}
	return len(p), nil
}

// complaint is a Go process's panic or fatal error, else its last line.
func (t *tail) complaint() string {
	last := ""
	for line := range bytes.SplitSeq(t.buf, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		for _, start := range []string{"panic: ", "fatal error: "} {
			if _, after, ok := strings.Cut(text, "\t"+start); ok {
				text = start + after
			}
		}
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		if text != "" {
			last = text
		}
	}
	return last
}
