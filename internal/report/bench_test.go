package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// TestBenchReads: the Go project's own reader takes every line, finds all T in
// the names, and the figures in the units that it was told.
func TestBenchReads(t *testing.T) {
	for name, r := range map[string]*Report{"fixed": fixed(t), "hostile": hostile()} {
		var b bytes.Buffer
		if err := Bench(&b, r); err != nil {
			t.Fatal(err)
		}
		var parse benchproc.ProjectionParser
		threads, err := parse.Parse("/threads@num", nil)
		if err != nil {
			t.Fatal(err)
		}
		points := 0
		seen := map[string]bool{}
		in := benchfmt.NewReader(&b, name)
		for in.Scan() {
			switch rec := in.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, rec)
			case *benchfmt.Result:
				points++
				seen[threads.Project(rec).Get(threads.Fields()[0])] = true
				if v, ok := rec.Value("sec/op"); !ok || v <= 0 {
					t.Errorf("%s: %s has no time", name, rec.Name)
				}
				if rec.GetConfig("goos") == "" || rec.GetConfig("cpu") == "" {
					t.Errorf("%s: %s has no machine", name, rec.Name)
				}
			}
		}
		if in.Err() != nil {
			t.Errorf("%s: %v", name, in.Err())
		}
		want := 0
		for _, s := range r.Series {
			for _, p := range s.Points {
				want += max(1, len(p.WallsNS))
			}
		}
		if points != want || !seen["1"] || !seen["2"] {
			t.Errorf("%s: %d results, want %d, threads %v", name, points, want, seen)
		}
	}
}

// TestBenchstat runs the tool itself as the README says.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	file := filepath.Join(t.TempDir(), "bench.txt")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Bench(f, fixed(t)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "benchstat", "-col", "/threads@num", "-filter", "/mode:thread", file)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	for _, want := range []string{"JSONSonic/mode=thread-2", "29.30µ ± 15%", "21.14µ ± 29%", "(p=0.002 n=6)", "slot-sec/op", "cpu-sec/op"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
