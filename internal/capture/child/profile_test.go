package child_test

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/capture/child"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// profiled runs a workload with all recorders but the wall-clock profile, which
// is a pass of its own, and collects the files.
func profiled(t *testing.T, specs ...recorder.Spec) (dir string, results []*recorder.Result, files map[string]record.File) {
	t.Helper()
	dir = t.TempDir()
	for i := range specs {
		specs[i].Dir = dir
		if !specs[i].Profile.Any() {
			specs[i].Profile = recorder.Profiles{CPU: true, Mutex: 1, Block: 1, Trace: true, Allocs: true}
		}
	}
	var raw []record.Raw
	var window time.Duration
	for i, o := range group(t, nil, specs...) {
		r := ok(t, o)
		results = append(results, r)
		window = max(window, time.Duration(r.EndNS-r.BeginNS))
		for _, f := range r.Files {
			raw = append(raw, record.Raw{Kind: f.Kind, Name: f.Name, Process: i})
		}
	}
	list, warnings, err := record.Collect(dir, "runs/0000-x", raw, window)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	files = make(map[string]record.File)
	for _, f := range list {
		files[filepath.Base(f.Path)] = f
	}
	// Nothing else is left.
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			t.Errorf("%s is left over", e.Name())
		}
	}
	return dir, results, files
}

func readProfile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := record.ReadProfile(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

func stack(s *profile.Sample) string {
	var names []string
	for _, l := range s.Location {
		for _, line := range l.Line {
			names = append(names, line.Function.Name)
		}
	}
	return strings.Join(names, " < ")
}

// total sums one sample type over the samples whose stack has the part.
func total(p *profile.Profile, typ, part string) (sum int64) {
	for i, st := range p.SampleType {
		if st.Type != typ {
			continue
		}
		for _, s := range p.Sample {
			if strings.Contains(stack(s), part) {
				sum += s.Value[i]
			}
		}
	}
	return sum
}

// Contention of the workload is in the profiles, the harness's own waits are not.
func TestContentionProfiles(t *testing.T) {
	const ops = 120
	dir, results, files := profiled(t, thread("test/lock", 3, ops))
	window := results[0].EndNS - results[0].BeginNS
	for _, kind := range []string{"mutex", "block"} {
		if _, ok := files[kind+".pb.gz"]; !ok {
			t.Fatalf("no %s profile among %v", kind, files)
		}
		p := readProfile(t, filepath.Join(dir, kind+".pb.gz"))
		// Two of three lanes wait at any time, about: at least one must show.
		if got := total(p, "delay", "child_test.lockStep"); got < window/2 || got > 3*window {
			t.Errorf("%s: %d ns of waits in a window of %d ns", kind, got, window)
		}
		if p.DurationNanos != window {
			t.Errorf("%s: duration %d, window %d", kind, p.DurationNanos, window)
		}
		for _, s := range p.Sample {
			if st := stack(s); !strings.Contains(st, "child_test.lockStep") && !strings.Contains(st, "runtime.unlock") {
				t.Errorf("%s: a wait of the harness is left: %s", kind, st)
			}
		}
	}
}

// The trace has the lanes as regions, and the window cut by two logs; the lanes
// lie in the window and the clock is that of the Result.
func TestTraceHasLanesAndWindow(t *testing.T) {
	const workers = 3
	s := thread("test/alloc", workers, 60_000)
	s.Profile = recorder.Profiles{CPU: true, Trace: true}
	dir, results, _ := profiled(t, s)
	f, err := os.Open(filepath.Join(dir, "trace.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var begin, end trace.Time
	var offset int64 // CLOCK_MONOTONIC minus the trace's clock
	begun, ended := map[trace.GoID]trace.Time{}, map[trace.GoID]trace.Time{}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch ev.Kind() {
		case trace.EventSync:
			if c := ev.Sync().ClockSnapshot; c != nil {
				offset = int64(c.Mono) - int64(c.Trace)
			}
		case trace.EventLog:
			if l := ev.Log(); l.Category == recorder.LogCategory && l.Message == recorder.LogBegin {
				begin = ev.Time()
			} else if l.Category == recorder.LogCategory && l.Message == recorder.LogEnd {
				end = ev.Time()
			}
		case trace.EventRegionBegin:
			if ev.Region().Type == recorder.RegionLane {
				begun[ev.Goroutine()] = ev.Time()
			}
		case trace.EventRegionEnd:
			if ev.Region().Type == recorder.RegionLane {
				ended[ev.Goroutine()] = ev.Time()
			}
		}
	}
	if begin == 0 || end <= begin {
		t.Fatalf("window from %d to %d", begin, end)
	}
	if len(begun) != workers || len(ended) != workers {
		t.Fatalf("%d lanes begun, %d ended, want %d", len(begun), len(ended), workers)
	}
	for g, at := range begun {
		if at > begin || ended[g] < begin || ended[g] > end {
			t.Errorf("lane %d from %d to %d, window from %d to %d", g, at, ended[g], begin, end)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	// Either log is written within what a preempted thread may take of its stamp.
	const slack = 50 * time.Millisecond
	for _, d := range []int64{int64(begin) + offset - results[0].BeginNS, int64(end) + offset - results[0].EndNS} {
		if math.Abs(float64(d)) > float64(slack) {
			t.Errorf("the trace's log is %d ns from the Result's stamp", d)
		}
	}
}

func TestAllocationProfileIsOfTheWindow(t *testing.T) {
	const ops = 400_000 // 200 MB: some 400 samples
	s := thread("test/alloc", 2, ops)
	s.Warm = 200_000 // as much again, which must not show
	s.Profile = recorder.Profiles{Allocs: true}
	dir, results, _ := profiled(t, s)
	p := readProfile(t, filepath.Join(dir, "allocs.pb.gz"))
	want := float64(ops * 512)
	if got := float64(total(p, "alloc_space", "child_test.allocate")); math.Abs(got/want-1) > 0.25 {
		t.Errorf("%.0f bytes allocated, want about %.0f", got, want)
	}
	m := results[0].Metrics["/gc/heap/allocs:bytes"]
	if math.Abs(m/want-1) > 0.1 {
		t.Errorf("/gc/heap/allocs:bytes = %.0f, want about %.0f", m, want)
	}
}

// Profiles of several processes become one, with a label.
func TestProcessesAreMerged(t *testing.T) {
	const ops = 2 << 20
	var specs []recorder.Spec
	for i := range 2 {
		specs = append(specs, recorder.Spec{
			Target: "test/alloc", Workers: 1, Threads: 2, Process: i, Procs: 1, Warm: 1, Total: ops,
			Lo: ops / 2 * int64(i), Hi: ops / 2 * int64(i+1),
			Profile: recorder.Profiles{CPU: true, Mutex: 1, Trace: true},
		})
	}
	dir, results, files := profiled(t, specs...)
	for _, name := range []string{"cpu.pb.gz", "mutex.pb.gz", "trace.p1.out", "trace.p2.out", "metrics.p1.json", "metrics.p2.json"} {
		if f, ok := files[name]; !ok || f.Bytes == 0 {
			t.Errorf("no %s among %v", name, files)
		}
	}
	p := readProfile(t, filepath.Join(dir, "cpu.pb.gz"))
	cpu := map[int64]int64{}
	for _, s := range p.Sample {
		if len(s.NumLabel[record.ProcessLabel]) != 1 {
			t.Fatalf("a sample with process label %v", s.NumLabel)
		}
		process := s.NumLabel[record.ProcessLabel][0]
		cpu[process] += s.Value[1]
		if w := s.Label[recorder.LabelWorker]; strings.Contains(stack(s), "child_test.allocate") && !slices.Equal(w, []string{strconv.Itoa(int(process))}) {
			t.Errorf("process %d has a sample of worker %v", process, w)
		}
	}
	for i, r := range results {
		used := r.Usage.UserNS + r.Usage.SysNS
		// A sample is 10 ms: a process that used ten of them shows.
		if used > 100e6 && cpu[int64(i)+1] == 0 {
			t.Errorf("process %d used %d ns and has no sample", i, used)
		}
	}
}

func TestWallProfile(t *testing.T) {
	s := thread("test/lock", 2, 200)
	s.Profile = recorder.Profiles{Wall: true}
	dir, _, _ := profiled(t, s)
	p := readProfile(t, filepath.Join(dir, "wall.pb.gz"))
	if total(p, "time", "child_test.lockStep") == 0 {
		t.Error("the workload is not in the wall-clock profile")
	}
	// The workload's lanes are all there is to see: no parked goroutine of the harness.
	for _, s := range p.Sample {
		if st := stack(s); !strings.Contains(st, "child_test.lockStep") && !strings.Contains(st, "recorder.(*lanes).lane") {
			t.Errorf("a goroutine of the harness is left: %s", st)
		}
	}
	// Too short for a single sample: a warning instead of a panic or a file.
	short := thread("test/alloc", 1, 2)
	short.Profile = recorder.Profiles{Wall: true}
	r := ok(t, group(t, nil, short)[0])
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "wall-clock profile: left out") {
		t.Errorf("warnings %q", r.Warnings)
	}
	for _, f := range r.Files {
		if f.Kind == "wall" {
			t.Error("a wall-clock profile of a window of microseconds")
		}
	}
}

// The classes of CPU time add up to GOMAXPROCS times the window, the waits at
// the gates left out and the closing collection included.
func TestMetricsIdentities(t *testing.T) {
	for _, ops := range []int64{2000, 400_000} {
		r := ok(t, group(t, nil, thread("test/alloc", 2, ops))[0])
		m := r.Metrics
		total, parts := m["/cpu/classes/total:cpu-seconds"], 0.0
		for _, name := range []string{"gc/total", "scavenge/total", "user", "idle"} {
			parts += m["/cpu/classes/"+name+":cpu-seconds"]
		}
		if math.Abs(total-parts) > 1e-6+total*1e-6 {
			t.Errorf("%d operations: classes add up to %g of %g", ops, parts, total)
		}
		window := float64(r.EndNS-r.BeginNS+r.ClosingGC.WallNS) / 1e9 * float64(r.Procs)
		// The closing collection is not the one that was measured, and a loaded
		// machine may stop the process anywhere between two readings.
		if total < window*0.8-0.02 || total > window*1.2+0.2 {
			t.Errorf("%d operations: /cpu/classes/total = %g s, window %g s", ops, total, window)
		}
		if m["/gc/cycles/forced:gc-cycles"] != 1 {
			t.Errorf("%v forced collections, want the closing one", m["/gc/cycles/forced:gc-cycles"])
		}
		if got, want := m["/gc/heap/allocs:bytes"], float64(ops*512); math.Abs(got-want) > 0.1*want+1e6 {
			t.Errorf("%d operations: %g bytes allocated, want about %g", ops, got, want)
		}
		if r.Usage == nil || r.NumCPU < 1 || r.Go != runtime.Version() {
			t.Errorf("result lacks figures: %+v", r)
		}
		if h := r.Hists["/sched/pauses/total/gc:seconds"]; ops > 100_000 && (h.Count == 0 || h.Sum <= 0 || h.Max <= 0) {
			t.Errorf("no pauses in a window with %v collections", m["/gc/cycles/total:gc-cycles"])
		}
	}
}

// In the window the harness itself allocates nothing.
func TestNoAllocationInTheWindow(t *testing.T) {
	r := ok(t, group(t, nil, thread("test/lazy", 1, 1))[0])
	// Objects: the scheduler's and the recorder's ends may make a few, none per operation.
	if n := r.Metrics["/gc/heap/allocs:objects"]; n > 64 {
		t.Errorf("%v objects allocated in an empty window", n)
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		lo, hi  int64
		workers int
	}{{0, 0, 3}, {0, 1, 3}, {5, 17, 4}, {0, math.MaxInt64 - 1, 7}, {1 << 62, math.MaxInt64 - 9, 3}} {
		at, least, most := tt.lo, int64(math.MaxInt64), int64(0)
		for w := range tt.workers {
			lo, hi := child.Share(tt.lo, tt.hi, tt.workers, w)
			if lo != at || hi < lo {
				t.Fatalf("%+v: worker %d has [%d, %d), want it to begin at %d", tt, w, lo, hi, at)
			}
			at, least, most = hi, min(least, hi-lo), max(most, hi-lo)
		}
		if at != tt.hi || most-least > 1 {
			t.Errorf("%+v: ends at %d, shares from %d to %d", tt, at, least, most)
		}
	}
}

// CPU samples say which worker they are of.
func TestSamplesNameTheirWorker(t *testing.T) {
	spec := thread("test/alloc", 2, 4<<20)
	spec.Profile = recorder.Profiles{CPU: true}
	dir, results, _ := profiled(t, spec)
	seen := map[string]bool{}
	for _, s := range readProfile(t, filepath.Join(dir, "cpu.pb.gz")).Sample {
		if !strings.Contains(stack(s), "child_test.allocate") {
			continue
		}
		if len(s.Label[recorder.LabelWorker]) != 1 {
			t.Fatalf("labels %v at %s", s.Label, stack(s))
		}
		seen[s.Label[recorder.LabelWorker][0]] = true
	}
	for i, l := range results[0].Lanes {
		// Both have hundreds of samples on machines like ours.
		if l.EndNS-l.StartNS > 200e6 && !seen[strconv.Itoa(i+1)] {
			t.Errorf("worker %d ran for %d ns and has no sample", i+1, l.EndNS-l.StartNS)
		}
	}
	if len(seen) > 2 || seen["0"] {
		t.Errorf("workers %v, want 1 and 2", seen)
	}
}
