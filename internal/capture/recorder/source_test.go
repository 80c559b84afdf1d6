package recorder

import (
	goparser "go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The embedded sources are all of the package's, and import what a test binary
// has anyway.
func TestSourcesAreComplete(t *testing.T) {
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if _, ok := sources[name]; ok == (strings.HasSuffix(name, "_test.go") || name == "source.go") {
			t.Errorf("%s embedded: %v", name, ok)
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	// What these two bring into every test binary,
	// and the runtime's own metrics, which import nothing.
	out, err := exec.Command("go", "list", "-deps", "testing", "testing/internal/testdeps").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"runtime/metrics": true, "unsafe": true}
	for _, pkg := range strings.Fields(string(out)) {
		allowed[pkg] = true
	}
	for name, src := range sources {
		f, err := goparser.ParseFile(token.NewFileSet(), name, src, goparser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			if path, err := strconv.Unquote(imp.Path.Value); err != nil || !allowed[path] {
				t.Errorf("%s imports %s, which not every test binary has", name, imp.Path.Value)
			}
		}
	}
}

// The sources build under another import path, in a module of an old language version.
func TestSourcesBuildElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pkg := filepath.Join(dir, "internal", "scaleprof_recorder")
	if err := os.MkdirAll(pkg, 0o755); err != nil {
		t.Fatal(err)
	}
	sources["../../go.mod"] = []byte("module example.com/old\n\ngo 1.17\n")
	for name, src := range sources {
		if err := os.WriteFile(filepath.Join(pkg, name), src, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command(goTool, "vet", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOOS="+goos, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GOOS=%s: %v\n%s", goos, err, out)
		}
	}
}
