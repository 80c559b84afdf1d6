package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scaleprof/scaleprof/internal/record"
)

const benchText = `goos: linux
goarch: amd64
pkg: example.com/m/cache
cpu: AMD EPYC
BenchmarkGet       	 1000000	      1000 ns/op	      16 B/op	       1 allocs/op
BenchmarkGet       	 1000000	      1010 ns/op	      16 B/op	       1 allocs/op
BenchmarkGet-2     	 1900000	       520.5 ns/op	      16 B/op	       1 allocs/op
BenchmarkGet-2     	 1900000	       530 ns/op	      16 B/op	       1 allocs/op
BenchmarkGet-4     	 3000000	       300 ns/op
BenchmarkGet-4     	 3000000	       310 ns/op
BenchmarkSet/size-8         	     100	     50000 ns/op	  12.5 MB/s
BenchmarkSet/size-8-2       	     200	     26000 ns/op
BenchmarkSet/size-8-4       	     300	     14000 ns/op
PASS
ok  	example.com/m/cache	9.9s
`

// describe gives "target/T: ns/op …" for every T.
func describe(points []benchPoint) []string {
	groups := map[string][]string{}
	for _, p := range points {
		key := fmt.Sprintf("%s.%s T=%d", p.pkg, p.name, p.threads)
		groups[key] = append(groups[key], fmt.Sprint(p.nsPerOp))
	}
	var out []string
	for key, values := range groups {
		out = append(out, key+": "+strings.Join(values, " "))
	}
	slices.Sort(out)
	return out
}

func TestBench(t *testing.T) {
	b, err := parseBench("b.txt", []byte(benchText))
	if err != nil {
		t.Fatal(err)
	}
	if b.goos != "linux" || b.goarch != "amd64" || b.cpu != "AMD EPYC" {
		t.Errorf("machine %q %q %q", b.goos, b.goarch, b.cpu)
	}
	want := []string{
		"example.com/m/cache.BenchmarkGet T=1: 1000 1010",
		"example.com/m/cache.BenchmarkGet T=2: 520.5 530",
		"example.com/m/cache.BenchmarkGet T=4: 300 310",
		"example.com/m/cache.BenchmarkSet/size-8 T=1: 50000",
		"example.com/m/cache.BenchmarkSet/size-8 T=2: 26000",
		"example.com/m/cache.BenchmarkSet/size-8 T=4: 14000",
	}
	if diff := cmp.Diff(want, describe(b.points)); diff != "" {
		t.Error(diff)
	}
}

func TestBenchSuffixes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		names []string
		want  string // name@T
	}{
		{"all with a suffix", []string{"A-4", "A-8", "B/x=1-8"}, "A@4 A@8 B/x=1@8"},
		{"one only, sub-benchmark names end in numbers", []string{"A", "S/size-8", "S/size-16"}, "A@1 S/size-8@1 S/size-16@1"},
		{"one and eight, sub-benchmark names end in numbers", []string{"A", "A-8", "S/n-16", "S/n-16-8"}, "A@1 A@8 S/n-16@1 S/n-16@8"},
		{"missing at one", []string{"A", "A-8", "B-8"}, "A@1 A@8 B@8"},
		{"several dashes", []string{"A-b-2", "A-b-4"}, "A-b@2 A-b@4"},
		{"leading zero is no GOMAXPROCS", []string{"A/k-08", "A/k-08-4"}, "A/k-08@1 A/k-08@4"},
		{"one is never a suffix", []string{"A/k-1", "A/k-1-4"}, "A/k-1@1 A/k-1@4"},
		{"slashes and equals", []string{"A/a=b/c_d", "A/a=b/c_d-2"}, "A/a=b/c_d@1 A/a=b/c_d@2"},
		{"cannot tell", []string{"S/n", "S/n-8", "S/n-8-8"}, "S/n@1 S/n-8@8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var text strings.Builder
			for _, n := range tt.names {
				fmt.Fprintf(&text, "Benchmark%s \t 10 \t 100 ns/op\n", n)
			}
			b, err := parseBench("b", []byte(text.String()))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range b.points {
				got = append(got, fmt.Sprintf("%s@%d", strings.TrimPrefix(p.name, "Benchmark"), p.threads))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
			if (len(got) < len(tt.names)) != (len(b.skipped) > 0) {
				t.Errorf("%d of %d lines are used, skipped: %q", len(got), len(tt.names), b.skipped)
			}
		})
	}
}

func TestBenchManifest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(path, []byte(benchText), 0o666); err != nil {
		t.Fatal(err)
	}
	m := read(t, Options{Sources: []Source{{Path: path}}, CPUs: 8}).Manifest
	if m.Host.OS != "linux" || m.Host.Arch != "amd64" || m.Host.CPU != "AMD EPYC" || m.Host.CPUs != 8 {
		t.Errorf("host %+v", m.Host)
	}
	if !slices.Equal(m.Plan.Threads, []int{1, 2, 4}) || m.Plan.Blocks != 2 || m.Plan.ProcsRule != "threads" {
		t.Errorf("plan %+v", m.Plan)
	}
	if name := m.Plan.Targets[0].Name; name != "import/example.com/m/cache.BenchmarkGet" {
		t.Errorf("target %s", name)
	}
	ops := m.Plan.Targets[0].Ops
	if ops != 1_000_000 {
		t.Errorf("%d operations, want what T=1 ran", ops)
	}
	got := map[string][]int64{}
	for _, r := range m.Runs {
		got[r.Cell] = append(got[r.Cell], r.WallNS)
	}
	const cell = "import-example.com-m-cache.BenchmarkGet-thread-t2"
	if want := []int64{520_500_000, 530_000_000}; !slices.Equal(got[cell], want) {
		t.Errorf("%s: %v, want %v (ns/op times operations); cells %v", cell, got[cell], want, got)
	}
	for _, c := range m.Cells {
		if c.Procs != c.Threads || c.Mode != record.Thread {
			t.Errorf("cell %+v", c)
		}
	}
}

func TestBenchFaults(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no unit", "BenchmarkA 10 100\n", "b.txt:1: missing units"},
		{"no number", "\nBenchmarkA x 100 ns/op\n", "b.txt:2: parsing iteration count"},
		{"no ns/op", "BenchmarkA 10 5 MB/s\n", "b.txt:1: BenchmarkA has no ns/op"},
		{"zero", "BenchmarkA 10 0 ns/op\n", "b.txt:1: BenchmarkA: 0 ns/op is no duration"},
		{"infinite", "BenchmarkA 10 Inf ns/op\n", "b.txt:1: BenchmarkA:"},
		{"two machines", "cpu: A\nBenchmarkA 10 100 ns/op\ncpu: B\nBenchmarkA-2 10 100 ns/op\n", `b.txt:4: cpu is "B" here and "A" above`},
		{"names only", "BenchmarkA\n", "b.txt: no benchmark result"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseBench("b.txt", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}

// A line that the program's own output broke up costs that line only.
func TestBenchBrokenLine(t *testing.T) {
	b, err := parseBench("b.txt", []byte("BenchmarkA-2 10 100 ns/op\nBenchmarkA-2 some output\nBenchmarkA-4 10 60 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.points) != 2 || len(b.skipped) != 1 || !strings.HasPrefix(b.skipped[0], "b.txt:2:") {
		t.Errorf("points %v, skipped %q", b.points, b.skipped)
	}
}

func TestConstantWork(t *testing.T) {
	for _, tt := range []struct {
		points []benchPoint
		want   int64
	}{
		{[]benchPoint{{threads: 1, iters: 1000, nsPerOp: 5000}, {threads: 4, iters: 3000, nsPerOp: 2000}}, 1000},
		{[]benchPoint{{threads: 2, iters: 1, nsPerOp: 400}, {threads: 4, iters: 1, nsPerOp: 0.25}}, 4_000_000},
	} {
		got, err := constantWork(tt.points)
		if err != nil || got != tt.want {
			t.Errorf("%v: %d, %v, want %d", tt.points, got, err, tt.want)
		}
	}
	if _, err := constantWork([]benchPoint{{threads: 1, iters: 1 << 60, nsPerOp: 1e9}}); err == nil {
		t.Error("a wall time of decades is taken")
	}
}

func FuzzBench(f *testing.F) {
	f.Add([]byte(benchText))
	f.Add([]byte("BenchmarkA-0 1 1e308 ns/op\nBenchmarkA--2 1 1e-320 ns/op\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := parseBench("f", text)
		if err != nil {
			return
		}
		var fs facts
		if err := fs.addBench("f", b); err != nil {
			return
		}
		im, err := fs.assemble(Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range im.Manifest.Runs {
			if r.WallNS < 1 || r.WallNS > 2*maxWallNS || r.Ops < 1 {
				t.Errorf("run %+v", r)
			}
		}
	})
}
