package gobench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// unpack writes a module of testdata and makes it the working directory.
func unpack(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	if testing.Short() {
		t.Skip("builds a module")
	}
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // is shared, and below the next:
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return dir
}

// tree is the hash of all files of a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path, info.Mode(), info.ModTime())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// find makes the targets, by name below the package's, and collects warnings.
func find(t *testing.T, o Options) (map[string]capture.Target, []string) {
	t.Helper()
	var warnings []string
	o.Warn = func(text string) { warnings = append(warnings, text) }
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	targets, _, err := Targets(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]capture.Target)
	for _, x := range targets {
		out[strings.TrimPrefix(x.Record.Name, "bench/example.com/plain.Benchmark")] = x
	}
	return out, warnings
}

// window counts its calls.
type window struct{ opened, closed int }

func (w *window) Open([]int)  { w.opened++ }
func (w *window) Close([]int) { w.closed++ }
func (w *window) Begin()      {}
func (w *window) End()        {}

// execute makes one run of a target.
func execute(t *testing.T, x capture.Target, mode record.Mode, threads int, ops int64, p recorder.Profiles) (*capture.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	procs := 2
	if x.External {
		procs = threads
	}
	timeout := 20 * time.Second
	if strings.HasSuffix(x.Record.Name, "HangsLate") {
		timeout = 2 * time.Second
	}
	w := &window{}
	job := &capture.Job{
		Target: x.Record, Kind: record.Timed, Ops: ops, Warm: ops / 8, Profiles: p, Clock: capture.ClockWall,
		Cell: record.Cell{ID: "c", Target: x.Record.Name, Mode: mode, Threads: threads, Procs: procs},
		Env:  []string{fmt.Sprintf("GOMAXPROCS=%d", procs)}, Dir: t.TempDir(), Timeout: timeout, Window: w,
	}
	out, err := x.Exec.Execute(ctx, job)
	if err == nil && (w.opened != 1 || w.closed != 1) {
		t.Errorf("%s: the window was opened %d times and closed %d times", x.Record.Name, w.opened, w.closed)
	}
	return out, err
}

// TestForms runs benchmarks of every form in one module, which stays as it was.
func TestForms(t *testing.T) {
	dir := unpack(t, "plain")
	before := tree(t, dir)
	targets, warnings := find(t, Options{
		Pattern: "^BenchmarkParallel|Sub|Serial|Loop|Own|Many|External|Skips|Fails$|Panics$|PanicsItself|Sleeps", Package: ".", Copies: true, Patience: 2 * time.Second,
	})
	forms := map[string]string{
		"Parallel": "parallel", "External": "parallel", "Serial": "copies", "Loop": "copies", "Own": "copies", "Many": "own",
		"Sub/0": "parallel", "Sub/10": "parallel", "Sub/n=1/x_y-8": "parallel", "Sub/a|b_(c)_[d]": "parallel",
	}
	for name, form := range forms {
		x, ok := targets[name]
		if !ok {
			t.Errorf("%s was not found", name)
			continue
		}
		if got := x.Record.Params[paramForm]; got != form {
			t.Errorf("%s is %q, want %q", name, got, form)
		}
		for _, mode := range []record.Mode{record.Thread, record.Process} {
			if mode == record.Process && name != "Parallel" && name != "Serial" {
				continue
			}
			const ops = 3001
			out, err := execute(t, x, mode, 2, ops, recorder.Profiles{})
			if err != nil {
				t.Errorf("%s, %s: %v", name, mode, err)
				continue
			}
			lanes := 0
			for _, p := range out.Processes {
				lanes += len(p.Lanes)
				if p.Bench == nil || p.Bench.Name != "Benchmark"+name {
					t.Errorf("%s: ran %+v", name, p.Bench)
				}
			}
			wanted := 2
			if form == "own" {
				wanted = 0 // Ps
			}
			if out.Ops != ops || lanes != wanted {
				t.Errorf("%s, %s: %d operations of %d in %d lanes, want %d", name, mode, out.Ops, ops, lanes, wanted)
			}
		}
	}
	if len(targets) != len(forms) {
		t.Errorf("found %d benchmarks, want %d", len(targets), len(forms))
	}
	for _, want := range []string{
		"BenchmarkSkips calls Skip: in_test.go:", "not here", "BenchmarkFails fails: ", "it is broken", "BenchmarkPanics ", "panic: boom", "BenchmarkPanicsItself panics: at once", "BenchmarkSleeps hangs",
	} {
		if !strings.Contains(strings.Join(warnings, "\n"), want) {
			t.Errorf("no warning says %q:\n%s", want, strings.Join(warnings, "\n"))
		}
	}
	if tree(t, dir) != before {
		t.Error("the module was changed")
	}
}

// TestLateFaults are of benchmarks that one iteration does not show.
func TestLateFaults(t *testing.T) {
	unpack(t, "plain")
	targets, _ := find(t, Options{Pattern: "Late|Loud", Package: "."})
	for name, want := range map[string]string{
		"FailsLate": "too many", "PanicsLate": "panicked: late", "ExitsLate": "ended without a result", "LocksLate": "deadlock", "HangsLate": "hung",
	} {
		_, err := execute(t, targets[name], record.Thread, 2, 4000, recorder.Profiles{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := execute(t, targets["Loud"], record.Thread, 2, 50_000, recorder.Profiles{}); err != nil {
		t.Errorf("one that prints a lot: %v", err)
	}
}

// TestSetUpIsOutside: what a benchmark does before it resets its timer, and
// after it stops it, is in no lane and not in the window.
func TestSetUpIsOutside(t *testing.T) {
	unpack(t, "plain")
	targets, _ := find(t, Options{Pattern: "Parallel|Serial|Loop", Package: ".", Copies: true})
	for name, x := range targets {
		const sleep = int64(10 * time.Millisecond)
		// A few operations take microseconds: of any two tries one is undisturbed.
		best := int64(1 << 62)
		for range 5 {
			out, err := execute(t, x, record.Thread, 2, 100, recorder.Profiles{})
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, out.WallNS)
		}
		if best >= sleep {
			t.Errorf("%s: the shortest window is %s: the set-up of 10 ms is inside", name, time.Duration(best))
		}
	}
}

// TestRefusals are one clear line each.
func TestRefusals(t *testing.T) {
	unpack(t, "plain")
	for _, c := range []struct {
		pattern, pkg string
		flags        []string
		want         string
	}{
		{"Serial", ".", nil, "--copies"},
		{"Nothing", ".", nil, "no benchmark in . matches"},
		{"(", ".", nil, "no regular expression"},
		{"", ".", nil, "empty"},
		{".", "./quits", nil, "its TestMain runs no benchmark"},
		{".", "./broken", nil, "undefined: undefined"},
		{".", "./absent", nil, "./absent"},
		{"Tagged", ".", nil, "no benchmark in . matches"},
		{".", ".", []string{"-overlay=x"}, "-overlay"},
		{".", ".", []string{"-cpu", "1"}, "not a build flag"},
	} {
		_, _, err := Targets(t.Context(), Options{Pattern: c.pattern, Package: c.pkg, Flags: c.flags, Warn: func(string) {}})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %s %v: %v, want one line with %q", c.pattern, c.pkg, c.flags, err, c.want)
		}
	}
	if targets, _ := find(t, Options{Pattern: "Tagged", Package: ".", Flags: []string{"-tags", "special"}}); len(targets) != 1 {
		t.Errorf("with its tag, it is found %d times", len(targets))
	}
}

// TestStandardLibrary: benchmarks inside a package that package testing's own
// binary is made of, and in an external test package.
func TestStandardLibrary(t *testing.T) {
	unpack(t, "plain")
	for pkg, name := range map[string]string{"sync": "BenchmarkMutex$", "regexp": "BenchmarkMatchParallelShared$"} {
		targets, _ := find(t, Options{Pattern: name, Package: pkg})
		for _, x := range targets {
			if want := "bench/" + pkg + "." + strings.TrimSuffix(name, "$"); x.Record.Name != want {
				t.Errorf("got %s, want %s", x.Record.Name, want)
			}
			out, err := execute(t, x, record.Thread, 2, 5000, recorder.Profiles{CPU: true, Trace: true, Mutex: 1})
			if err != nil {
				t.Errorf("%s: %v", pkg, err)
				continue
			}
			var kinds []string
			for _, f := range out.Files {
				kinds = append(kinds, f.Kind)
			}
			if !slices.Contains(kinds, "trace") || !slices.Contains(kinds, "cpu") || !slices.Contains(kinds, "mutex") {
				t.Errorf("%s left only %v", pkg, kinds)
			}
		}
		if len(targets) != 1 {
			t.Errorf("%s: %d targets", pkg, len(targets))
		}
	}
}

// TestResolve: the same code is found again, other code is refused.
func TestResolve(t *testing.T) {
	dir := unpack(t, "plain")
	targets, _ := find(t, Options{Pattern: "Parallel", Package: "."})
	r := targets["Parallel"].Record
	if _, err := Resolve(t.Context(), r); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "more_test.go"), []byte("package plain\n\nfunc init() { println(Work(3)) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not the code") {
		t.Errorf("changed code: %v", err)
	}
	r.Params = map[string]string{paramPackage: "-toolexec=x", paramBenchmark: "BenchmarkX"}
	if _, err := Resolve(t.Context(), r); err == nil {
		t.Error("a flag passed as a package")
	}
}

// TestPatchRefuses: a package testing of another shape is not guessed at.
func TestPatchRefuses(t *testing.T) {
	for _, src := range []string{"", "package testing", "package testing\n\ntype B struct{}\n\nfunc (b *B) RunParallel() {}\n"} {
		if _, err := patch([]byte(src), "go9.9"); err == nil || !strings.Contains(err.Error(), "go9.9") {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestAnchored(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkX": "^BenchmarkX$", "BenchmarkX/0": "^BenchmarkX$/^0$", "BenchmarkX/a|b": `^BenchmarkX$/^a\|b$`,
	} {
		if got := anchored(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
