package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// fakeMachine has four CPUs, no neighbours and kernels that take a tenth of a
// second each.
type fakeMachine struct {
	cpus    int
	free    int64
	kernels int
}

func (m *fakeMachine) Info() host.Info {
	return host.Info{OS: "linux", Arch: "amd64", CPUs: m.cpus, CoreFirst: []int{0, 2}[:max(1, m.cpus/2)]}
}
func (m *fakeMachine) FreeMemory() int64         { return m.free }
func (m *fakeMachine) Read() host.SystemCounters { return host.SystemCounters{When: time.Now()} }
func (m *fakeMachine) CPU(int) (int64, bool)     { return 0, true }
func (m *fakeMachine) SelfCPU() (int64, bool)    { return 0, true }
func (m *fakeMachine) Bounce() (float64, bool)   { return 50, true }
func (m *fakeMachine) Kernels(_ context.Context, threads int) ([]record.KernelRun, error) {
	m.kernels++
	time.Sleep(100 * time.Millisecond)
	return []record.KernelRun{{Kernel: "alu", WallNS: 1e8, Ops: int64(threads) * 1000}}, nil
}

// fakeExec runs no process: an operation takes opNS of virtual time divided by
// the workers, plus what lose says.
type fakeExec struct {
	opNS  float64
	start time.Duration // start-up of a run, outside the window
	lose  func(job *Job) float64
	fail  func(job *Job) error
	trace int64 // bytes of trace written by a profiled run

	mu   sync.Mutex
	jobs []Job
}

func (e *fakeExec) Execute(ctx context.Context, job *Job) (*Outcome, error) {
	e.mu.Lock()
	e.jobs = append(e.jobs, *job)
	n := len(e.jobs)
	e.mu.Unlock()
	if err := sleep(ctx, e.start); err != nil {
		return nil, err
	}
	if e.fail != nil {
		if err := e.fail(job); err != nil {
			return nil, err
		}
	}
	job.Window.Open([]int{1})
	wall := e.opNS * float64(job.Ops) / float64(job.Cell.Threads)
	if e.lose != nil {
		wall *= e.lose(job)
	}
	wall *= 1 + 0.002*float64(n%7-3) // some noise
	if err := sleep(ctx, time.Duration(wall)); err != nil {
		return nil, err
	}
	job.Window.Close([]int{1})
	out := &Outcome{
		WallNS: int64(wall), Ops: job.Ops, Checksum: 42,
		Processes: []recorder.Result{{Ops: job.Ops}},
	}
	if job.Profiles.Trace && e.trace > 0 {
		if err := os.WriteFile(filepath.Join(job.Dir, "trace.out"), make([]byte, e.trace), 0o644); err != nil {
			return nil, err
		}
		out.Files = append(out.Files, record.Raw{Kind: "trace", Name: "trace.out"})
	}
	return out, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memStore keeps what was saved last, as bytes.
type memStore struct {
	dir   string
	saved []byte
	saves int
	fail  error
}

func (s *memStore) Save(m *record.Manifest) error {
	if s.fail != nil {
		return s.fail
	}
	data, err := json.Marshal(m)
	s.saved, s.saves = data, s.saves+1
	return err
}

func (s *memStore) NewRun(id int, cell string) (rel, abs string, err error) {
	rel = fmt.Sprintf("runs/%04d-%s", id, cell)
	abs = filepath.Join(s.dir, filepath.FromSlash(rel))
	if err := os.RemoveAll(abs); err != nil {
		return "", "", err
	}
	return rel, abs, os.MkdirAll(abs, 0o755)
}

func (s *memStore) Dir() string  { return s.dir }
func (s *memStore) Close() error { return nil }

func (s *memStore) load(t *testing.T) *record.Manifest {
	t.Helper()
	var m record.Manifest
	if err := json.Unmarshal(s.saved, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// fakeOptions is a plan with two targets on a machine with four CPUs.
func fakeOptions(exec ...*fakeExec) Options {
	opts := Options{
		Threads: []int{1, 2, 4}, Modes: []record.Mode{record.Thread, record.Process},
		Machine: &fakeMachine{cpus: 4, free: 8 << 30}, Seed: 7,
		Gates: func(*record.Manifest, *record.Run) []record.Gate { return nil },
	}
	for i, e := range exec {
		opts.Targets = append(opts.Targets, Target{
			Record: record.Target{Name: fmt.Sprintf("fake/%d", i), Kind: "workload"}, Exec: e, OpNS: 1000,
		})
	}
	return opts
}

// begin makes a session on a memStore, as Run does on a directory.
func begin(t *testing.T, ctx context.Context, opts Options, dir string) (*session, *memStore, error) {
	t.Helper()
	if err := opts.check(); err != nil {
		return nil, nil, err
	}
	s := newSession(&opts)
	st := &memStore{dir: dir}
	s.store = st
	return s, st, s.prepare(ctx)
}
