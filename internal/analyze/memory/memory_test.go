package memory

import (
	"bytes"
	"context"
	"flag"
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/classify"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

const linuxAMD64 = "GOOS=linux GOARCH=amd64 CGO_ENABLED=0"

// behind finds the address of the first instruction of a function that waits
// for an access of a kind.
func behind(t *testing.T, m *image, fn string, kind Kind) uint64 {
	t.Helper()
	f, ok := find(m, fn)
	if !ok {
		t.Fatalf("%s is not in the binary", fn)
	}
	c := m.code(f)
	for at := range c.insns {
		if k, _ := c.judge(at, m.nameAt); k == kind {
			return c.insns[at].pc
		}
	}
	t.Fatalf("%s has no instruction of kind %s", fn, kind)
	return 0
}

// entry is the address of a function.
func entry(t *testing.T, m *image, fn string) uint64 {
	t.Helper()
	f, ok := find(m, fn)
	if !ok {
		t.Fatalf("%s is not in the binary", fn)
	}
	return f.entry
}

const second = 1_000_000_000

func sample(fn string, pc uint64, ns int64) Sample {
	return Sample{NS: ns, Frames: []lanes.Frame{
		{Func: fn, File: "/src/main.go", Line: 1, PC: pc},
		{Func: "main.work", File: "/src/main.go", Line: 2},
	}}
}

// TestDivide gives growth to chosen instructions of a real program.
func TestDivide(t *testing.T) {
	path := build(t, linuxAMD64)
	m, err := openImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	work := sample("main.arithmetic", entry(t, m, "main.arithmetic")+20, 2*second)
	at := func(fn string, kind Kind) func(int64) Sample {
		pc := behind(t, m, fn, kind)
		return func(ns int64) Sample { return sample(fn, pc, ns) }
	}
	memmove := func(ns int64) Sample {
		s := sample("main.copying", 0, ns)
		s.Frames = append([]lanes.Frame{{Func: "runtime.memmove", File: "/go/src/runtime/memmove_amd64.s", Line: 500, PC: entry(t, m, "runtime.memmove") + 64}}, s.Frames...)
		return s
	}
	atomicAdd, falseSharing, bump := at("main.atomicAdd", Atomic), at("main.falseSharing", Shared), at("main.bumpOnce", Access)
	spin, stream := at("main.spinLock", Spin), at("main.stream", Stream)
	nan := math.NaN()
	for _, tt := range []struct {
		name       string
		grown      []Sample // beside two seconds of other work, at peak only
		alu, mem   float64
		process    float64
		processes  bool
		want       map[cause.ID]float64 // fractions of the growth, within 0.02
		detail     string               // part of the first part's detail, but for the ceiling
		notLikely  bool
		wantLikely bool
	}{
		{
			name: "an atomic counter", grown: []Sample{atomicAdd(2 * second)}, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.MemoryContendedLine: 1}, detail: "LOCK XADDQ at " + lineOf(t, "atomicAdd"), notLikely: true,
		},
		{
			name: "false sharing in a loop", grown: []Sample{falseSharing(2 * second)}, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.MemoryContendedLine: 1}, detail: lineOf(t, "falseSharing"), notLikely: true,
		},
		{
			name: "a plain access called in a loop", grown: []Sample{bump(2 * second)}, mem: 0, process: nan,
			want: map[cause.ID]float64{cause.MemoryContendedLine: 1}, detail: lineOf(t, "bumpOnce"), wantLikely: true,
		},
		{
			name: "the same, gone in processes", grown: []Sample{bump(2 * second)}, mem: 0, process: 1,
			want: map[cause.ID]float64{cause.MemoryContendedLine: 1}, detail: lineOf(t, "bumpOnce"), notLikely: true,
		},
		{
			name: "the same, still there in processes", grown: []Sample{bump(2 * second)}, mem: 0, process: 2,
			want: map[cause.ID]float64{},
		},
		{
			name: "the same as processes", grown: []Sample{bump(2 * second)}, mem: 0, processes: true,
			want: map[cause.ID]float64{},
		},
		{
			name: "a spin lock", grown: []Sample{spin(2 * second)}, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.LockSpin: 1}, detail: "LOCK CMPXCHGL at " + lineOf(t, "spinLock"),
		},
		{
			name: "copies, and memory is slow", grown: []Sample{memmove(2 * second)}, mem: 0.4, process: nan,
			want: map[cause.ID]float64{cause.MemoryBandwidth: 1},
		},
		{
			name: "a stream, and memory is slow", grown: []Sample{stream(2 * second)}, mem: 0.4, process: 2,
			want: map[cause.ID]float64{cause.MemoryBandwidth: 1}, detail: "main.go:",
		},
		{
			name: "a stream, and memory is not slow", grown: []Sample{stream(2 * second)}, mem: 0, process: nan,
			want: map[cause.ID]float64{},
		},
		{
			name: "a stream, memory unknown", grown: []Sample{stream(2 * second)}, mem: nan, process: nan,
			want: map[cause.ID]float64{},
		},
		{name: "arithmetic", grown: []Sample{work}, mem: nan, process: nan, want: map[cause.ID]float64{}},
		{
			name: "the kernel lost to a neighbour, the program did not", grown: []Sample{atomicAdd(2 * second)}, alu: 0.5, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.HardwareCeiling: 0.3, cause.MemoryContendedLine: 0.7},
		},
		{
			name: "the ceiling takes all", grown: []Sample{work}, alu: 0.5, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.HardwareCeiling: 1},
		},
		{
			name: "the ceiling and a counter", grown: []Sample{sample("main.arithmetic", entry(t, m, "main.arithmetic")+20, second/2), atomicAdd(3 * second / 2)},
			alu: 0.2, mem: nan, process: nan, // 2s / (1-0.2) = 2.5s
			want: map[cause.ID]float64{cause.HardwareCeiling: 0.25, cause.MemoryContendedLine: 0.75},
		},
		{
			name: "a counter and more work", grown: []Sample{work, atomicAdd(2 * second)}, mem: nan, process: nan,
			want: map[cause.ID]float64{cause.MemoryContendedLine: 0.5},
		},
		{name: "too small to tell", grown: []Sample{atomicAdd(second / 10)}, mem: nan, process: nan, want: map[cause.ID]float64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Divide(context.Background(), Input{
				Base: []Sample{work}, Peak: append([]Sample{work}, tt.grown...), Binary: path,
				ALULoss: tt.alu, MemoryLoss: tt.mem, ProcessGrowth: tt.process, Processes: tt.processes,
			})
			got := r.Fractions()
			for _, id := range []cause.ID{cause.HardwareCeiling, cause.HardwareMemory, cause.MemoryContendedLine, cause.MemoryBandwidth, cause.LockSpin} {
				if math.Abs(got[id]-tt.want[id]) > 0.02 {
					t.Errorf("%s carries %.2f of the growth, want %.2f", id, got[id], tt.want[id])
				}
			}
			for _, p := range r.Parts {
				if p.Cause == cause.HardwareCeiling {
					continue
				}
				if !strings.Contains(p.Detail(), tt.detail) {
					t.Errorf("detail %q, want it to hold %q", p.Detail(), tt.detail)
				}
				if p.Likely && tt.notLikely || !p.Likely && tt.wantLikely {
					t.Errorf("likely = %t", p.Likely)
				}
			}
			if t.Failed() {
				t.Logf("%+v", r)
			}
		})
	}
}

func TestDivideWithoutTheBinary(t *testing.T) {
	path := build(t, linuxAMD64)
	peak := []Sample{sample("main.atomicAdd", 0x1234, 4*second)}
	for name, binary := range map[string]string{
		"none": "", "no file": "/nowhere", "no program": "testdata/prog/main.go", "a directory": "testdata", "another program": path,
	} {
		r := Divide(context.Background(), Input{Base: []Sample{sample("main.atomicAdd", 0x1234, second)}, Peak: peak, Binary: binary, MemoryLoss: math.NaN()})
		if len(r.Parts) != 0 || len(r.Notes) == 0 {
			t.Errorf("%s: parts %v, notes %q; want no part and a note", name, r.Parts, r.Notes)
		}
	}
}

// TestSlide checks that a position-independent program is found wherever it was loaded.
func TestSlide(t *testing.T) {
	path := build(t, linuxAMD64)
	m, err := openImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	rapid.Check(t, func(rt *rapid.T) {
		slide := rapid.Uint64Range(0, 1<<34).Draw(rt, "pages") * pageBytes
		var base, peak []Sample
		for _, fn := range []string{"main.atomicAdd", "main.stream", "main.arithmetic", "main.generic[...]", "main.falseSharing"} {
			pc := behindAny(t, m, fn) + slide
			base = append(base, sample(fn, pc, second))
			peak = append(peak, sample(fn, pc, second))
		}
		peak = append(peak, sample("main.atomicAdd", behind(t, m, "main.atomicAdd", Atomic)+slide, 10*second))
		r := Divide(context.Background(), Input{Base: base, Peak: peak, Binary: path, MemoryLoss: math.NaN()})
		if f := r.Fractions()[cause.MemoryContendedLine]; math.Abs(f-1) > 0.01 {
			rt.Fatalf("slide %#x: contended line carries %.2f: %+v", slide, f, r)
		}
	})
}

func behindAny(t *testing.T, m *image, fn string) uint64 {
	t.Helper()
	f, ok := find(m, fn)
	if !ok {
		t.Fatalf("%s is not in the binary", fn)
	}
	c := m.code(f)
	return c.insns[len(c.insns)/2].pc
}

// TestPartsFit checks that parts never exceed the growth, whatever the samples.
func TestPartsFit(t *testing.T) {
	path := build(t, linuxAMD64)
	m, err := openImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var pcs []Sample
	for _, fn := range []string{"main.atomicAdd", "main.atomicCAS", "main.stream", "main.falseSharing", "main.spinLock", "main.bumpOnce", "main.chase"} {
		f, _ := find(m, fn)
		for _, in := range m.code(f).insns {
			pcs = append(pcs, sample(fn, in.pc, 0))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := func(name string) []Sample {
			return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Sample {
				s := pcs[rapid.IntRange(0, len(pcs)-1).Draw(rt, "at")]
				s.NS = rapid.Int64Range(-1, 5*second).Draw(rt, "ns")
				return s
			}), 0, 30).Draw(rt, name)
		}
		r := Divide(context.Background(), Input{
			Base: some("base"), Peak: some("peak"), Binary: path,
			ALULoss: rapid.Float64Range(-0.5, 1.5).Draw(rt, "alu"), MemoryLoss: rapid.Float64Range(-0.5, 1.5).Draw(rt, "mem"),
			ProcessGrowth: rapid.Float64Range(0, 3).Draw(rt, "process"), Processes: rapid.Bool().Draw(rt, "processes"),
		})
		var sum int64
		for _, p := range r.Parts {
			if p.NS <= 0 {
				rt.Fatalf("part of %d ns", p.NS)
			}
			sum += p.NS
		}
		if sum > max(0, r.GrowthNS) {
			rt.Fatalf("parts of %d ns in growth of %d", sum, r.GrowthNS)
		}
	})
}

// scale makes TestMeasured's runs longer, for a look at a machine:
// go test -run Measured -v ./internal/analyze/memory -args -scale 20
var scale = flag.Int("scale", 1, "multiply the operations of measured runs")

// TestMeasured runs the program with one and two workers. What grew, if it grew
// here, must be found at the right line.
func TestMeasured(t *testing.T) {
	if runtime.GOARCH != "amd64" || runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs and amd64")
	}
	path := build(t, "CGO_ENABLED=0", "-tags=profile")
	for _, tt := range []struct {
		kind string
		ops  int
		want cause.ID
		line string
	}{
		{"atomicAdd", 30_000_000, cause.MemoryContendedLine, "atomicAdd"},
		{"falseSharing", 100_000_000, cause.MemoryContendedLine, "falseSharing"},
		{"atomicCAS", 10_000_000, cause.MemoryContendedLine, "atomicCAS"},
		{"generic", 30_000_000, "", ""},
		{"bumpOnce", 50_000_000, cause.MemoryContendedLine, "bumpOnce"},
		{"spinLock", 5_000_000, cause.LockSpin, "spinLock"},
		{"spinYield", 5_000_000, cause.LockSpin, "spinYield"},
		{"notShared", 100_000_000, "", ""},
		{"arithmetic", 100_000_000, "", ""},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			base, peak := measure(t, path, tt.kind, 1, tt.ops**scale), measure(t, path, tt.kind, 2, tt.ops**scale)
			r := Divide(context.Background(), Input{Base: base, Peak: peak, Binary: path, MemoryLoss: math.NaN()})
			t.Logf("%d ms to %d ms: %v %q", r.BaseNS/1e6, r.PeakNS/1e6, r.Fractions(), r.Notes)
			for _, p := range r.Parts {
				t.Logf("%s %d ms: %s", p.Cause, p.NS/1e6, p.Detail())
			}
			if float64(r.PeakNS) < 1.5*float64(r.BaseNS) || r.GrowthNS < second/5 {
				t.Skip("nothing grew here: the machine runs the two workers on one CPU, or its caches are too near")
			}
			i := -1
			if tt.want == "" {
				for _, p := range r.Parts {
					if p.Cause != cause.HardwareCeiling {
						t.Errorf("a control carries %s", p.Cause)
					}
				}
				return
			}
			for j, p := range r.Parts {
				if p.Cause == tt.want {
					i = j
				}
			}
			if i < 0 {
				t.Fatalf("no part is %s: %+v", tt.want, r)
			}
			p := r.Parts[i]
			if float64(p.NS) < 0.6*float64(r.GrowthNS) {
				t.Errorf("%s carries %.2f of the growth", p.Cause, float64(p.NS)/float64(r.GrowthNS))
			}
			if len(p.Sites) == 0 || p.Sites[0].Source != lineOf(t, tt.line) {
				t.Errorf("sites %v, want the first at %s", p.Sites, lineOf(t, tt.line))
			}
		})
	}
}

// measure runs the program and returns its CPU samples.
func measure(t *testing.T, path, kind string, workers, ops int) []Sample {
	t.Helper()
	cmd := exec.Command(path, kind, strconv.Itoa(workers), strconv.Itoa(ops))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return samplesOf(p)
}

func samplesOf(p *profile.Profile) []Sample {
	var out []Sample
	for _, s := range p.Sample {
		var frames []lanes.Frame
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil {
					frames = append(frames, lanes.Frame{Func: line.Function.Name, File: line.Function.Filename, Line: int(line.Line), PC: l.Address})
				}
			}
		}
		if classify.Stack(len(frames), func(i int) string { return frames[i].Func }) == cause.WorkUser {
			out = append(out, Sample{Frames: frames, NS: s.Value[1]})
		}
	}
	return out
}
