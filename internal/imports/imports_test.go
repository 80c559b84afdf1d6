package imports

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/record"
)

func read(t *testing.T, opts Options) *Import {
	t.Helper()
	im, err := Read(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// testProfile has one sample in fn, with a label threads where that is not 0.
func testProfile(fn string, threads int64, types ...string) *profile.Profile {
	f := &profile.Function{ID: 1, Name: fn}
	loc := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 1}}}
	s := &profile.Sample{Location: []*profile.Location{loc}}
	p := &profile.Profile{Function: []*profile.Function{f}, Location: []*profile.Location{loc}, Sample: []*profile.Sample{s}}
	for _, typ := range types {
		name, unit, _ := strings.Cut(typ, "/")
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: unit})
		s.Value = append(s.Value, 10)
	}
	if threads != 0 {
		s.NumLabel = map[string][]int64{"threads": {threads}}
	}
	return p
}

func cpuProfile(threads int64) *profile.Profile {
	return testProfile("main.work", threads, "samples/count", "cpu/nanoseconds")
}

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func encoded(t testing.TB, p *profile.Profile, compressed bool) []byte {
	t.Helper()
	var b bytes.Buffer
	write := p.WriteUncompressed
	if compressed {
		write = p.Write
	}
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func realTrace(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	runtime.Gosched()
	trace.Stop()
	return b.Bytes()
}

func TestLooseProfiles(t *testing.T) {
	events := realTrace(t)
	sources := []Source{
		{Path: writeFile(t, "cpu_t8.pprof", encoded(t, cpuProfile(0), true))},
		{Path: writeFile(t, "anything", encoded(t, cpuProfile(16), false))},
		{Path: writeFile(t, "mutex.prof", encoded(t, testProfile("sync.(*Mutex).Unlock", 0, "contentions/count", "delay/nanoseconds"), true)), Threads: 8},
		{Path: writeFile(t, "trace_t16.out", events)},
		{Path: writeFile(t, "again_t8.pprof", encoded(t, cpuProfile(0), true))},
		{Path: writeFile(t, "wall.t8.pb.gz", encoded(t, testProfile("main.work", 0, "samples/count", "time/nanoseconds"), true))},
	}
	im := read(t, Options{Sources: sources, Name: "server"})
	m := im.Manifest
	if len(m.Cells) != 2 || m.Cells[0].ID != "import-server-thread-t8" || m.Cells[1].Threads != 16 {
		t.Fatalf("cells %+v", m.Cells)
	}
	if m.Cells[1].Procs != runtime.GOMAXPROCS(0) {
		t.Errorf("GOMAXPROCS %d, want the trace's", m.Cells[1].Procs)
	}
	for _, r := range m.Runs {
		if r.Kind == record.Timed || r.WallNS != 0 || r.Ops != 0 {
			t.Errorf("a profile is no timing: %+v", r)
		}
	}
	store := &memoryStore{dir: t.TempDir()}
	if err := im.Write(store); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range store.saved.Runs {
		for _, f := range r.Files {
			got = append(got, fmt.Sprintf("%s %d %s %s", r.Kind, r.Block, r.Cell, path.Base(f.Path)))
			data, err := os.ReadFile(filepath.Join(store.dir, filepath.FromSlash(f.Path)))
			if err != nil || int64(len(data)) != f.Bytes {
				t.Errorf("%s: %d bytes of %d, %v", f.Path, len(data), f.Bytes, err)
			}
			if f.Kind == "trace" {
				if !bytes.Equal(data, events) {
					t.Error("the trace was changed")
				}
				continue
			}
			if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
				t.Errorf("%s is not compressed", f.Path)
			}
			if _, err := profile.ParseData(data); err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
		}
	}
	want := []string{
		"profiled 0 import-server-thread-t8 cpu.pb.gz",
		"profiled 0 import-server-thread-t8 mutex.pb.gz",
		"profiled 0 import-server-thread-t16 cpu.pb.gz",
		"profiled 0 import-server-thread-t16 trace.out",
		"profiled 1 import-server-thread-t8 cpu.pb.gz",
		"wall 0 import-server-thread-t8 wall.pb.gz",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// memoryStore is a capture directory that keeps its manifest in memory.
type memoryStore struct {
	dir   string
	saved *record.Manifest
}

func (s *memoryStore) NewRun(id int, cell string) (rel, abs string, err error) {
	rel = path.Join("runs", fmt.Sprintf("%04d-%s", id, cell))
	abs = filepath.Join(s.dir, filepath.FromSlash(rel))
	return rel, abs, os.MkdirAll(abs, 0o777)
}

func (s *memoryStore) Save(m *record.Manifest) error {
	s.saved = m
	return nil
}

// Profiles of the only benchmark that is imported with them belong to it.
func TestProfilesOfABenchmark(t *testing.T) {
	m := read(t, Options{Sources: []Source{
		{Path: writeFile(t, "b.txt", []byte("BenchmarkA-2 10 100 ns/op\nBenchmarkA-4 10 60 ns/op\n"))},
		{Path: writeFile(t, "cpu_t4.pprof", encoded(t, cpuProfile(0), true))},
	}}).Manifest
	if len(m.Plan.Targets) != 1 || len(m.Cells) != 2 || len(m.Runs) != 3 || m.Runs[2].Cell != m.Cells[1].ID {
		t.Errorf("targets %v, cells %v, runs %v", m.Plan.Targets, m.Cells, m.Runs)
	}
}

func TestNameThreads(t *testing.T) {
	for name, want := range map[string]int{
		"cpu_t8.pprof": 8, "trace_t16.out": 16, "t4.out": 4, "cpu.threads=12.pb.gz": 12, "cpu-T2.pb.gz": 2, "x_procs4": 4,
		"cpu8.pprof": 0, "test8.pprof": 0, "cpu_t8x.pprof": 0, "loss.t8-t16.pb.gz": 0, "cpu_t0.pprof": 0, "cpu_t99999.pprof": 0,
		"cpu_t8_t8.pprof": 8, "dir_t3/cpu.pprof": 0,
	} {
		if got := nameThreads(name); got != want {
			t.Errorf("%s: T=%d, want %d", name, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		path string
		p    *profile.Profile
		want string
	}{
		{"x", cpuProfile(0), "cpu"},
		{"x", testProfile("sync.(*Mutex).Unlock", 0, "contentions/count", "delay/nanoseconds"), "mutex"},
		{"x", testProfile("runtime.chanrecv1", 0, "contentions/count", "delay/nanoseconds"), "block"},
		{"block_t8", testProfile("sync.(*Mutex).Unlock", 0, "contentions/count", "delay/nanoseconds"), "block"},
		{"x", testProfile("f", 0, "alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"), "allocs"},
	} {
		if got, err := profileKind(tt.path, tt.p); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.path, got, err, tt.want)
		}
	}
}

func TestReadFaults(t *testing.T) {
	good := encoded(t, cpuProfile(0), true)
	for _, tt := range []struct {
		name string
		opts Options
		want string
	}{
		{"none", Options{}, "nothing to import"},
		{"missing", Options{Sources: []Source{{Path: "no/such/file"}}}, "no/such/file"},
		{"directory", Options{Sources: []Source{{Path: t.TempDir()}}}, "is a directory"},
		{"empty", Options{Sources: []Source{{Path: writeFile(t, "e", nil)}}}, "is none of"},
		{"prose", Options{Sources: []Source{{Path: writeFile(t, "p", []byte("hello\n"))}}}, "is none of"},
		{"binary", Options{Sources: []Source{{Path: writeFile(t, "b", []byte{1, 2, 0, 0, 7})}}}, "is none of"},
		{"json", Options{Sources: []Source{{Path: writeFile(t, "j", []byte(`{"Time":"x","Action":"run"}`))}}}, "go test -json"},
		{"truncated", Options{Sources: []Source{{Path: writeFile(t, "cpu_t8", good[:len(good)/2])}}}, "decompressing"},
		{"not a profile", Options{Sources: []Source{{Path: writeFile(t, "cpu_t8", zipped("text"))}}}, "cpu_t8: not a pprof file"},
		{"no threads", Options{Sources: []Source{{Path: writeFile(t, "cpu.pprof", good)}}}, "--t N="},
		{"heap", Options{Sources: []Source{{Path: writeFile(t, "h_t2", encoded(t, testProfile("f", 0, "inuse_space/bytes"), true))}}}, "of no use"},
		{"t for a log", Options{Sources: []Source{{Path: seedPath, Threads: 8}}}, "--t is for profiles"},
		{"trace", Options{Sources: []Source{{Path: writeFile(t, "trace_t2", []byte("go 1.26 trace\x00\x00\x00garbage"))}}}, "trace_t2"},
		{"cpus", Options{Sources: []Source{{Path: seedPath}}, CPUs: 8}, "the log says 16"},
		{"cores", Options{Sources: []Source{{Path: seedPath}}, PhysicalCores: 32}, "more than the 16 CPUs"},
		{"name", Options{Sources: []Source{{Path: seedPath}}, Name: "x"}, "no profile or trace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(context.Background(), tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want …%s…", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = zw.Write([]byte(text)) // to memory
	_ = zw.Close()
	return b.Bytes()
}

func FuzzProfile(f *testing.F) {
	f.Add(encoded(f, cpuProfile(8), true))
	f.Add(encoded(f, cpuProfile(8), false))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := record.ReadProfile(bytes.NewReader(data))
		if err != nil {
			return
		}
		kind, err := profileKind("x", p)
		if threads := labelThreads(p); err == nil && (kind == "" || threads < 0 || threads > maxThreads) {
			t.Errorf("%q, T=%d", kind, threads)
		}
	})
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if procs, err := traceProcs(context.Background(), bytes.NewReader(data)); err == nil && (procs < 0 || procs > maxThreads) {
			t.Errorf("GOMAXPROCS %d", procs)
		}
	})
}
