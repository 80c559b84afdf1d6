package gobench

import (
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

//go:embed inject
var injected embed.FS

// hooks are the statements that package testing's functions get in front of
// their own. Those of functions that a Go version lacks are left out, but for
// needed ones.
var hooks = []struct {
	function, code string
	needed         bool
}{
	{"Run", "if b.level+1 == 1 || b.bstate != nil { if h := Scaleprof; h != nil && !h.Enter(name, b.level+1) { return true } }", true},
	{"run1", "if h := Scaleprof; h != nil { defer h.Probed(b) }", true},
	{"runN", "if h := Scaleprof; h != nil { defer h.Ran(b) }", true},
	{"launch", "if h := Scaleprof; h != nil { defer func() { b.signal <- true }(); h.Launch(b); return }", true},
	{"RunParallel", "if h := Scaleprof; h != nil { h.Parallel(b, body); return }", true},
	{"ResetTimer", "if h := Scaleprof; h != nil { defer h.Reset(b) }", true},
	{"StartTimer", "if h := Scaleprof; h != nil { defer h.Started(b) }", true},
	{"StopTimer", "if h := Scaleprof; h != nil { h.Stopping(b) }", true},
	{"runBenchmarks", "if h := Scaleprof; h != nil { defer h.Ended() }", true},
}

// edits are changes of the text itself: each must be there once.
var edits = [][2]string{
	{"\tif pb.cache == 0 {\n", "\tif pb.cache == 0 {\n\t\tpb.scaleprofChunks++\n"},
	{"\t\t\tpb.cache = pb.bN + pb.grain - n\n", "\t\t\tpb.cache = pb.bN + pb.grain - n\n\t\t\tpb.scaleprofLess = n - pb.bN\n"},
	{"type PB struct {\n", "type PB struct {\n\tscaleprofChunks, scaleprofLess uint64\n"},
}

// unknownTesting is the error of a toolchain whose package testing is not as
// the driver expects it.
func unknownTesting(version, what string) error {
	return fmt.Errorf("package testing of %s is not one that scaleprof knows: %s; choose another with GOTOOLCHAIN", version, what)
}

// patch puts the driver's hooks into the source of testing's benchmark.go.
func patch(src []byte, version string) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "benchmark.go", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, unknownTesting(version, "benchmark.go does not parse")
	}
	at := make(map[string]int) // function to the offset behind its brace
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Recv != nil && receiver(f) != "B" {
			continue
		}
		at[f.Name.Name] = fset.Position(f.Body.Lbrace).Offset + 1
	}
	type insertion struct {
		at   int
		code string
	}
	var all []insertion
	for _, h := range hooks {
		offset, ok := at[h.function]
		if !ok {
			if h.needed {
				return nil, unknownTesting(version, "it has no "+h.function)
			}
			continue
		}
		all = append(all, insertion{offset, " " + h.code})
	}
	slices.SortFunc(all, func(a, b insertion) int { return b.at - a.at })
	out := string(src)
	for _, i := range all {
		// On the same line, so that line numbers stay as they are.
		out = out[:i.at] + i.code + out[i.at:]
	}
	for _, e := range edits {
		if strings.Count(out, e[0]) != 1 {
			return nil, unknownTesting(version, fmt.Sprintf("%q is not where it was", strings.TrimSpace(e[0])))
		}
		out = strings.Replace(out, e[0], e[1], 1)
	}
	return []byte(out), nil
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// injection are the files that a toolchain's standard library gets beside its
// own or in place of them, by path below GOROOT/src.
func injection(goroot, version string) (map[string][]byte, error) {
	out := make(map[string][]byte)
	read := func(rel string) ([]byte, error) {
		b, err := os.ReadFile(filepath.Join(goroot, "src", filepath.FromSlash(rel)))
		if err != nil {
			return nil, fmt.Errorf("reading package testing of %s: %w", version, err)
		}
		return b, nil
	}
	const benchmark = "testing/benchmark.go"
	src, err := read(benchmark)
	if err != nil {
		return nil, err
	}
	if out[benchmark], err = patch(src, version); err != nil {
		return nil, err
	}
	common, err := read("testing/testing.go")
	if err != nil {
		return nil, err
	}
	for _, f := range []struct{ from, to string }{
		{"testing", "testing/zz_scaleprof.go"},
		{"testdeps", "testing/internal/testdeps/zz_scaleprof.go"},
		{"driver", "testing/internal/scaleprof_driver/driver.go"},
		{"survey", "testing/internal/scaleprof_driver/survey.go"},
		{"measure", "testing/internal/scaleprof_driver/measure.go"},
		{"window", "testing/internal/scaleprof_driver/window.go"},
	} {
		b, err := injected.ReadFile("inject/" + f.from + ".go.txt")
		if err != nil {
			return nil, err
		}
		output := ""
		if strings.Contains(string(common), "func (c *common) setOutputWriter()") {
			output = "c.setOutputWriter()" // from Go 1.25
		}
		out[f.to] = []byte(strings.Replace(string(b), "SCALEPROF_OUTPUT", output, 1))
	}
	sources, err := recorder.Sources()
	if err != nil {
		return nil, err
	}
	for name, b := range sources {
		out["testing/internal/scaleprof_recorder/"+name] = b
	}
	return out, nil
}

// writeOverlay writes the files of an injection below dir, and the overlay that
// puts them into the toolchain. It returns the overlay's path.
func writeOverlay(dir, goroot string, files map[string][]byte) (string, error) {
	replace := make(map[string]string, len(files))
	for rel, b := range files {
		path := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", fmt.Errorf("writing the overlay: %w", err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return "", fmt.Errorf("writing the overlay: %w", err)
		}
		replace[filepath.Join(goroot, "src", filepath.FromSlash(rel))] = path
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return path, nil
}
