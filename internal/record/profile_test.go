package record

import (
	"bytes"
	"compress/gzip"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// contention makes a profile with one sample a stack; stacks are leaf first,
// frames divided by " < ".
func contention(samples map[string]int64) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "contentions", Unit: "count"}, Period: 1,
	}
	locations := map[string]*profile.Location{}
	for stack, ns := range samples {
		s := &profile.Sample{Value: []int64{1, ns}}
		for _, name := range strings.Split(stack, " < ") {
			loc := locations[name]
			if loc == nil {
				id := uint64(len(p.Location) + 1)
				fn := &profile.Function{ID: id, Name: name}
				// As in a real program, a function is where it is in every profile.
				address := uint64(crc32.ChecksumIEEE([]byte(name)))
				loc = &profile.Location{ID: id, Address: address, Line: []profile.Line{{Function: fn, Line: 1}}}
				locations[name] = loc
				p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
			}
			s.Location = append(s.Location, loc)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func stacks(p *profile.Profile) map[string]int64 {
	out := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		out[strings.Join(names, " < ")] += s.Value[1]
	}
	return out
}

func TestHarness(t *testing.T) {
	const recorderPkg = "github.com/scaleprof/scaleprof/internal/capture/recorder."
	tests := []struct {
		kind, stack string
		want        bool
	}{
		{"block", "sync.(*Mutex).Lock < main.work < main.main.func1", false},
		{"mutex", "sync.(*Mutex).Unlock < main.work < " + recorderPkg + "(*lanes).lane", false},
		{"block", "runtime.chanrecv1 < " + recorderPkg + "(*lanes).lane", true},
		{"block", "runtime.selectgo < " + recorderPkg + "(*Recorder).Run < main.main < runtime.main", true},
		{"block", "sync.(*WaitGroup).Wait < testing.(*B).RunParallel < p.BenchmarkX < testing.(*B).runN", true},
		{"block", "sync.(*WaitGroup).Wait < p.BenchmarkX < testing.(*B).runN", false},
		{"block", "runtime.chanrecv1 < example.com/m/internal/scaleprof_recorder.(*lanes).lane", true},
		{"block", "runtime.selectgo < github.com/felixge/fgprof.Start.func1", true},
		{"block", "runtime.chanrecv1 < runtime.(*wakeableSleep).sleep < runtime.(*traceAdvancerState).start.func1", true},
		{"block", "runtime.chanrecv1 < runtime.traceStartReadCPU.func1", true},
		{"block", "runtime.chanrecv1 < runtime.main", false},
		{"mutex", "runtime.unlock < runtime.mcall", false},
		{"mutex", "runtime.unlock < runtime.gcBgMarkWorker", false},
		{"mutex", "runtime.unlock < runtime.(*mheap).allocSpan < runtime.mallocgc < main.work", false},
		{"mutex", "sync.(*Mutex).Unlock < runtime/trace.(*traceMultiplexer).startLocked.func1", true},
		{"cpu", recorderPkg + "(*meeting).join < " + recorderPkg + "(*lanes).lane", true},
		{"cpu", "sync/atomic.LoadUint32 < " + recorderPkg + "(*meeting).gather < " + recorderPkg + "(*lanes).lane", true},
		{"cpu", "runtime.mallocgc < main.work < " + recorderPkg + "(*lanes).lane", false},
		{"cpu", "testing.(*PB).Next < p.BenchmarkX.func1", false},
		{"cpu", "runtime.traceStackTable < runtime.traceStartReadCPU.func1", false},
		{"cpu", "runtime.mcall", false},
	}
	for _, tt := range tests {
		p := contention(map[string]int64{tt.stack: 1})
		if got := harness(p.Sample[0], tt.kind); got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.kind, tt.stack, got, tt.want)
		}
	}
	if harness(&profile.Sample{}, "block") {
		t.Error("a wait without a stack is the harness's")
	}
}

func save(t *testing.T, name string, p *profile.Profile) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
}

func load1(t *testing.T, name string) *profile.Profile {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := ReadProfile(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Two processes, one of which had contention before the window.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	const (
		work  = "sync.(*Mutex).Unlock < main.work"
		early = "sync.(*Mutex).Unlock < main.init"
		ours  = "runtime.chanrecv1 < github.com/scaleprof/scaleprof/internal/capture/child.warm"
	)
	save(t, filepath.Join(dir, "mutex.before.p1.pb.gz"), contention(map[string]int64{work: 30, early: 7}))
	save(t, filepath.Join(dir, "mutex.p1.pb.gz"), contention(map[string]int64{work: 130, early: 7, ours: 1000}))
	save(t, filepath.Join(dir, "mutex.p2.pb.gz"), contention(map[string]int64{work: 11, early: 5}))
	if err := os.WriteFile(filepath.Join(dir, "trace.p1.out"), []byte("trace"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "block.p1.pb.gz"), []byte("\x1f\x8bnonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	files, warnings, err := Collect(dir, "runs/0007-x", []Raw{
		{"mutex.before", "mutex.before.p1.pb.gz", 0},
		{"mutex", "mutex.p1.pb.gz", 0},
		{"mutex", "mutex.p2.pb.gz", 1},
		{"trace", "trace.p1.out", 0},
		{"trace", "trace.p2.out", 1},
		{"block", "block.p1.pb.gz", 0},
	}, 123*time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Kind+" "+f.Path)
	}
	if want := "mutex runs/0007-x/mutex.pb.gz, trace runs/0007-x/trace.p1.out"; strings.Join(got, ", ") != want {
		t.Errorf("files %q, want %q", got, want)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "trace.p2.out was not written") || !strings.Contains(warnings[1], "the block profile is left out") {
		t.Errorf("warnings %q", warnings)
	}
	p := load1(t, filepath.Join(dir, "mutex.pb.gz"))
	if p.DurationNanos != 123_000 {
		t.Errorf("duration %d", p.DurationNanos)
	}
	if len(p.Comments) != 1 || !strings.Contains(p.Comments[0], "1µs of the harness") {
		t.Errorf("comments %q", p.Comments)
	}
	byProcess := map[int64]map[string]int64{}
	for _, s := range p.Sample {
		id := s.NumLabel[ProcessLabel][0]
		if byProcess[id] == nil {
			byProcess[id] = map[string]int64{}
		}
		byProcess[id][s.Location[1].Line[0].Function.Name] += s.Value[1]
	}
	if len(byProcess) != 2 || byProcess[1]["main.work"] != 100 || byProcess[2]["main.work"] != 11 || byProcess[2]["main.init"] != 5 || len(byProcess[1]) != 1 {
		t.Errorf("delays %v", byProcess)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "mutex.*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if _, _, err := Collect(dir, "runs/0007-x", []Raw{{"cpu", "../../x", 0}}, 0); err == nil {
		t.Error("a name led out of the directory")
	}
}

// One process: same samples, no label, the harness left out in place.
func TestCollectOneProcess(t *testing.T) {
	dir := t.TempDir()
	want := map[string]int64{"sync.(*Mutex).Lock < main.work": 5}
	save(t, filepath.Join(dir, "block.pb.gz"), contention(map[string]int64{
		"sync.(*Mutex).Lock < main.work": 5, "runtime.chanrecv1 < runtime.traceStartReadCPU.func1": 9,
	}))
	files, warnings, err := Collect(dir, "r", []Raw{{"block", "block.pb.gz", 0}}, time.Second)
	if err != nil || len(warnings) > 0 || len(files) != 1 {
		t.Fatal(files, warnings, err)
	}
	p := load1(t, filepath.Join(dir, "block.pb.gz"))
	if got := stacks(p); len(got) != 1 || got["sync.(*Mutex).Lock < main.work"] != want["sync.(*Mutex).Lock < main.work"] || len(p.Sample[0].NumLabel) > 0 {
		t.Errorf("samples %v", got)
	}
}

func gz(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadProfileRefuses(t *testing.T) {
	var good bytes.Buffer
	if err := contention(map[string]int64{"a < b": 1}).Write(&good); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadProfile(bytes.NewReader(good.Bytes())); err != nil {
		t.Fatal(err)
	}
	// A gzip file may have many members, one after the other.
	member := gz(t, func(w io.Writer) { w.Write(make([]byte, 1<<20)) })
	bomb := bytes.Repeat(member, maxUncompressed>>20+1)
	// Samples of no length: two bytes each, a struct each in memory.
	empties := gz(t, func(w io.Writer) { w.Write(bytes.Repeat([]byte{0x12, 0}, maxMessages+10)) })
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"cut", good.Bytes()[:good.Len()/2], "unexpected EOF"},
		{"text", []byte("hello, this is no profile"), "not a pprof file"},
		{"html", []byte("<html>404</html>"), "not a pprof file"},
		{"gzip of text", gz(t, func(w io.Writer) { w.Write([]byte("hello there")) }), "not a pprof file"},
		{"bomb", bomb, "larger than the 64 MB"},
		{"empties", empties, "more than the"},
		{"large", make([]byte, maxProfile+1), "larger than the 32 MB"},
	}
	for _, tt := range tests {
		p, err := ReadProfile(bytes.NewReader(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, error %v, want %q", tt.name, p != nil, err, tt.want)
		}
	}
	for i := range good.Bytes() {
		bad := bytes.Clone(good.Bytes())
		bad[i] ^= 0x40
		// Most flips are found by the checksum; none may panic.
		if p, err := ReadProfile(bytes.NewReader(bad)); err == nil && p.CheckValid() != nil {
			t.Errorf("a flip at byte %d gives an invalid profile", i)
		}
	}
}

func FuzzReadProfile(f *testing.F) {
	var b bytes.Buffer
	if err := contention(map[string]int64{"a < b": 1, "c < b": 2}).WriteUncompressed(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadProfile(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, s := range p.Sample {
			harness(s, "block")
		}
		if err := p.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
