package child_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/child"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// TestMain makes the test binary its own child.
func TestMain(m *testing.M) {
	if recorder.IsChild() {
		if err := child.Run(registry()); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func registry() *workload.Registry {
	return workload.NewRegistry(
		fake{name: "test/alloc", work: allocate},
		fake{name: "test/lock", work: lockStep},
		fake{name: "test/panic", work: func(_ *shared, w int, lo, hi int64) workload.Tally {
			if hi-lo > 1 { // not in the warm-up
				noMap()["a"] = w
			}
			return workload.Tally{Ops: hi - lo}
		}},
		fake{name: "test/warm-panic", work: func(*shared, int, int64, int64) workload.Tally { panic("no JIT") }},
		fake{name: "test/goexit", work: func(_ *shared, _ int, lo, hi int64) workload.Tally {
			if hi-lo > 1 {
				runtime.Goexit()
			}
			return workload.Tally{Ops: hi - lo}
		}},
		fake{name: "test/lazy", work: func(_ *shared, _ int, lo, hi int64) workload.Tally {
			return workload.Tally{Ops: min(hi-lo, 1)}
		}},
		fake{name: "test/late-fault", closeErr: fmt.Errorf("operation 7: wrong result"), work: allocate},
		fake{name: "test/print", work: func(_ *shared, w int, lo, hi int64) workload.Tally {
			fmt.Println("out", w)
			fmt.Fprintln(os.Stderr, "err", w)
			return workload.Tally{Ops: hi - lo, Sum: uint64(os.Getpid() * 0)}
		}},
	)
}

func noMap() map[string]int { return nil }

// fake is a workload of one function.
type fake struct {
	name     string
	work     func(s *shared, w int, lo, hi int64) workload.Tally
	closeErr error
}

type shared struct {
	mu    sync.Mutex
	turn  chan struct{}
	count int64
	delay string
}

func (f fake) Info() workload.Info {
	return workload.Info{Name: f.name, Delay: []string{"lock/mutex"}, Params: map[string]string{"delay_ns": "added"}}
}

func (f fake) Prepare(p workload.Params) (workload.Instance, error) {
	if p.Workers < 1 || p.Ops < 0 {
		return nil, fmt.Errorf("bad parameters %+v", p)
	}
	return &instance{fake: f, shared: shared{turn: make(chan struct{}, 1), delay: p.Values["delay_ns"]}}, nil
}

type instance struct {
	fake
	shared shared
}

func (i *instance) Work(w int, lo, hi int64) workload.Tally { return i.work(&i.shared, w, lo, hi) }
func (i *instance) Close() error                            { return i.closeErr }

// sink keeps allocations from being optimised away.
type sink struct{ b []*[64]int64 }

// allocate makes garbage and a checksum of the operations' numbers.
func allocate(_ *shared, _ int, lo, hi int64) workload.Tally {
	var t workload.Tally
	var s sink
	for op := lo; op < hi; op++ {
		x := new([64]int64)
		x[op%64] = op
		if s.b = append(s.b, x); len(s.b) == 512 {
			s.b = nil
		}
		t.Ops++
		t.Sum += uint64(x[op%64]) * 0x9e3779b97f4a7c15
	}
	return t
}

// lockStep holds a lock over a wait, so that others block on it.
func lockStep(s *shared, _ int, lo, hi int64) workload.Tally {
	var t workload.Tally
	for op := lo; op < hi; op++ {
		s.mu.Lock()
		time.Sleep(200 * time.Microsecond)
		s.count++
		s.mu.Unlock()
		t.Ops++
		t.Sum += uint64(op)
	}
	return t
}

// outcome is what the parent sees of one process.
type outcome struct {
	kinds  []string
	result *recorder.Result
	fault  string
	stdout string
	stderr string
	exit   int
}

// group runs one process for each Spec, as internal/capture does.
func group(t *testing.T, env []string, specs ...recorder.Spec) []outcome {
	t.Helper()
	gateR, gateW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	finishR, finishW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]outcome, len(specs))
	var ready, done, ended sync.WaitGroup
	shared := t.TempDir()
	for i := range specs {
		s := &specs[i]
		if s.Dir == "" {
			s.Dir = shared
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "spec.json")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		controlR, controlW, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		// A program built with the race detector sleeps a second before it exits.
		cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", recorder.SpecEnv+"="+name), env...)
		cmd.ExtraFiles = []*os.File{controlW, gateR, finishR}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		controlW.Close()
		ready.Add(1)
		done.Add(1)
		ended.Add(1)
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		go func() {
			defer ended.Done()
			o := &out[i]
			isReady, isDone := sync.OnceFunc(ready.Done), sync.OnceFunc(done.Done)
			lines := bufio.NewScanner(controlR)
			lines.Buffer(nil, 1<<24)
			for lines.Scan() {
				var m recorder.Message
				if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
				o.kinds = append(o.kinds, m.Kind)
				switch m.Kind {
				case "ready":
					isReady()
				case "done":
					isDone()
				case "result":
					o.result = m.Result
				case "error":
					o.fault = m.Error
				}
			}
			isReady()
			isDone()
			_ = cmd.Wait()
			kill.Stop()
			controlR.Close()
			o.exit, o.stdout, o.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
		}()
	}
	ready.Wait()
	gateW.Close()
	done.Wait()
	finishW.Close()
	ended.Wait()
	gateR.Close()
	finishR.Close()
	return out
}

// thread is the Spec of a run in thread mode.
func thread(target string, workers int, ops int64) recorder.Spec {
	return recorder.Spec{
		Target: target, Workers: workers, Threads: workers, Procs: 2, Hi: ops, Total: ops, Warm: int64(workers),
	}
}

func ok(t *testing.T, o outcome) *recorder.Result {
	t.Helper()
	if o.exit != 0 || o.fault != "" || o.result == nil {
		t.Fatalf("exit %d, error %q, stderr %q", o.exit, o.fault, o.stderr)
	}
	if got := strings.Join(o.kinds, " "); got != "ready done result" {
		t.Errorf("messages %q", got)
	}
	return o.result
}

func TestWorkIsTheSameAtEveryT(t *testing.T) {
	const ops = 10_001
	want := allocate(nil, 0, 0, ops)
	for _, workers := range []int{1, 2, 3, 7} {
		r := ok(t, group(t, nil, thread("test/alloc", workers, ops))[0])
		if r.Ops != ops || r.Checksum != want.Sum {
			t.Errorf("%d threads: %d operations, checksum %x; want %d, %x", workers, r.Ops, r.Checksum, ops, want.Sum)
		}
		if len(r.Lanes) != workers {
			t.Fatalf("%d lanes, want %d", len(r.Lanes), workers)
		}
		least, most := r.Lanes[0].Ops, r.Lanes[0].Ops
		last := int64(0)
		for _, l := range r.Lanes {
			least, most, last = min(least, l.Ops), max(most, l.Ops), max(last, l.EndNS)
			if l.StartNS < 0 || l.EndNS < l.StartNS {
				t.Errorf("lane from %d to %d", l.StartNS, l.EndNS)
			}
		}
		if most-least > 1 {
			t.Errorf("shares from %d to %d operations", least, most)
		}
		if window := r.EndNS - r.BeginNS; last > window {
			t.Errorf("a lane ends at %d in a window of %d", last, window)
		}
	}
	for _, processes := range []int{2, 3} {
		var specs []recorder.Spec
		for i := range processes {
			specs = append(specs, recorder.Spec{
				Target: "test/alloc", Workers: 1, Threads: processes, Process: i, Procs: 1, Warm: 1, Total: ops,
				Lo: ops * int64(i) / int64(processes), Hi: ops * int64(i+1) / int64(processes),
			})
		}
		var done int64
		var sum uint64
		for _, o := range group(t, nil, specs...) {
			r := ok(t, o)
			done, sum = done+r.Ops, sum+r.Checksum
		}
		if done != ops || sum != want.Sum {
			t.Errorf("%d processes: %d operations, checksum %x; want %d, %x", processes, done, sum, ops, want.Sum)
		}
	}
}

func TestFaults(t *testing.T) {
	bad := thread("test/alloc", 2, 100)
	bad.Params = map[string]string{"colour": "red"}
	nohook := thread("test/alloc", 2, 100)
	nohook.Delay = map[string]int64{"gc/mark": 5}
	senseless := thread("test/alloc", 2, 100)
	senseless.Lo = 200
	badDir := thread("test/alloc", 2, 100)
	badDir.Dir, badDir.Profile.CPU = "/nonexistent/dir", true
	tests := []struct {
		name string
		spec recorder.Spec
		want string
	}{
		{"panic", thread("test/panic", 2, 100), "panicked: assignment to entry in nil map (at "},
		{"panic in warm-up", thread("test/warm-panic", 2, 100), "test/warm-panic: warming up: worker "},
		{"goexit", thread("test/goexit", 2, 100), "ended before its work was done"},
		{"too few operations", thread("test/lazy", 2, 100), "the workers did 2 of 100 operations"},
		{"wrong result", thread("test/late-fault", 2, 100), "test/late-fault: operation 7: wrong result"},
		{"unknown workload", thread("test/none", 2, 100), "unknown workload"},
		{"unknown parameter", bad, `has no parameter "colour"`},
		{"no hook", nohook, "has no hook to delay gc/mark"},
		{"senseless", senseless, "make no sense"},
		{"directory", badDir, "no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := group(t, nil, tt.spec)[0]
			if !strings.Contains(o.fault, tt.want) || strings.Contains(o.fault, "\n") {
				t.Errorf("error %q, want one line with %q", o.fault, tt.want)
			}
			if o.exit != 1 || o.result != nil {
				t.Errorf("exit %d, result %v", o.exit, o.result)
			}
		})
	}
}

func TestOutputIsTheProgramsOwn(t *testing.T) {
	plain, profiled := thread("test/print", 1, 2), thread("test/print", 1, 2)
	// The runtime complains on stderr about a rate other than its own.
	profiled.Profile = recorder.Profiles{CPU: true, CPURateHz: 250}
	for _, s := range []recorder.Spec{plain, profiled} {
		o := group(t, nil, s)[0]
		ok(t, o)
		stderr := o.stderr
		if runtime.GOOS != "linux" {
			stderr = strings.TrimPrefix(stderr, "runtime: cannot set cpu profile rate until previous profile has finished.\n")
		}
		if o.stdout != "out 0\nout 0\n" || stderr != "err 0\nerr 0\n" { // warm-up and window
			t.Errorf("stdout %q, stderr %q", o.stdout, o.stderr)
		}
	}
}

func TestDelayReachesTheWorkload(t *testing.T) {
	s := thread("test/lock", 1, 2)
	s.Delay = map[string]int64{"lock/mutex": 123}
	inst, err := child.Prepare(registry(), &s)
	if err != nil {
		t.Fatal(err)
	}
	if got := inst.(*instance).shared.delay; got != "123" {
		t.Errorf("delay_ns = %q", got)
	}
	if s.Params != nil {
		t.Error("the Spec was changed")
	}
}

func TestProcsAndPin(t *testing.T) {
	s := thread("test/alloc", 2, 10_000)
	s.Procs = 3
	if r := ok(t, group(t, nil, s)[0]); r.Procs != 3 {
		t.Errorf("GOMAXPROCS %d, want 3", r.Procs)
	}
	if r := ok(t, group(t, []string{"GOMAXPROCS=3"}, s)[0]); r.Procs != 3 {
		t.Errorf("by environment: GOMAXPROCS %d, want 3", r.Procs)
	}
	if runtime.GOOS != "linux" {
		return
	}
	s.Pin = []int{0}
	ok(t, group(t, nil, s)[0])
	s.Pin = []int{60_000}
	if o := group(t, nil, s)[0]; !strings.Contains(o.fault, "pinning to CPU 60000") {
		t.Errorf("error %q", o.fault)
	}
}

func TestStartupClock(t *testing.T) {
	for _, warm := range []int64{0, 1} {
		s := thread("test/alloc", 2, 1000)
		s.Startup, s.Warm = true, warm
		r := ok(t, group(t, nil, s)[0])
		if r.Ops != 1000 || r.ClosingGC != nil {
			t.Errorf("warm %d: %d operations, closing collection %v", warm, r.Ops, r.ClosingGC)
		}
		for name := range r.Metrics {
			if strings.HasPrefix(name, "/cpu/classes/") {
				t.Errorf("warm %d: stale metric %s", warm, name)
			}
		}
	}
}
