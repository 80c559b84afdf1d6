package cause

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared reads the constants of type ID from the source, so that a cause
// cannot be added without an entry.
func declared(t *testing.T) []ID {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "cause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []ID
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for _, v := range s.(*ast.ValueSpec).Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, ID(text))
			}
		}
	}
	if len(ids) < 40 {
		t.Fatalf("found only %d causes in the source", len(ids))
	}
	return ids
}

func TestEveryCauseHasOneEntry(t *testing.T) {
	ids := declared(t)
	for _, id := range ids {
		if _, ok := Lookup(id); !ok {
			t.Errorf("%s has no entry", id)
		}
	}
	seen := map[ID]bool{}
	for _, e := range All() {
		if seen[e.ID] {
			t.Errorf("%s has two entries", e.ID)
		}
		seen[e.ID] = true
		if !slices.Contains(ids, e.ID) {
			t.Errorf("the entry %s is no declared cause", e.ID)
		}
		if !slices.ContainsFunc(groupTitles, func(g struct{ Group, Title string }) bool { return g.Group == e.ID.Group() }) {
			t.Errorf("%s: its group has no title", e.ID)
		}
	}
}

// values lists what Advise documents.
var values = []string{
	"path", "source", "culprit", "instruction", "waits", "wait", "hold", "goal", "rate", "sites", "sizes", "lanes", "marking", "cycles",
	"quota", "cpus", "procs", "threads",
}

func TestEntriesAreComplete(t *testing.T) {
	braces := regexp.MustCompile(`\{[^}]*\}`)
	tag := regexp.MustCompile(`-tagfocus=cause=(\S+)`)
	for _, e := range All() {
		for name, text := range map[string]string{"Title": e.Title, "Meaning": e.Meaning, "Measured": e.Measured, "Excludes": e.Excludes} {
			if text == "" {
				t.Errorf("%s: %s is empty", e.ID, name)
			}
		}
		if len(e.Confirm) == 0 || len(e.Helps) == 0 || len(e.Advice) == 0 {
			t.Errorf("%s: nothing to confirm it with, no help, or no advice", e.ID)
		}
		for _, c := range e.Confirm {
			if !strings.HasPrefix(c, "go tool ") && !strings.HasPrefix(c, "scaleprof ") {
				t.Errorf("%s: %q is no command", e.ID, c)
			}
			for _, p := range braces.FindAllString(c, -1) {
				if !slices.Contains(placeholders, strings.Trim(p, "{}")) {
					t.Errorf("%s: %q names an unknown file %s", e.ID, c, p)
				}
			}
			if m := tag.FindStringSubmatch(c); m != nil && strings.TrimSuffix(m[1], "$") != string(e.ID) {
				t.Errorf("%s: %q shows another cause", e.ID, c)
			}
		}
		for _, a := range e.Advice {
			for _, p := range braces.FindAllString(a, -1) {
				if !slices.Contains(values, strings.Trim(p, "{}")) {
					t.Errorf("%s: advice %q asks for an undocumented value %s", e.ID, a, p)
				}
			}
		}
		if e.Advise(nil) == "" {
			t.Errorf("%s: no advice without figures", e.ID)
		}
	}
}

func TestAdvise(t *testing.T) {
	e := Entry{Advice: []string{"A lock at {path}.", "It is held for {hold}.", "Split it."}, Confirm: []string{"go tool pprof {loss}", "go tool trace {trace}"}}
	for _, tt := range []struct {
		value map[string]string
		want  string
	}{
		{nil, "Split it."},
		{map[string]string{"path": "main.f"}, "A lock at main.f. Split it."},
		{map[string]string{"path": "{hold}", "hold": "3 µs"}, "A lock at {hold}. It is held for 3 µs. Split it."},
	} {
		if got := e.Advise(tt.value); got != tt.want {
			t.Errorf("Advise(%v) = %q, want %q", tt.value, got, tt.want)
		}
	}
	if got := e.Commands(map[string]string{"loss": "out/loss.pb.gz"}); !slices.Equal(got, []string{"go tool pprof out/loss.pb.gz"}) {
		t.Errorf("Commands = %q", got)
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		name string
		want ID // the first
	}{
		{"gc/asist", GCAssist},
		{"mutex", LockMutex},
		{"lock/mutx", LockMutex},
		{"write-barrier", GCWriteBarrier},
		{"GC/STW", GCSTW},
		{"false-sharing", ""},
		{"gc", GCAssist},
		{"", ""},
		{strings.Repeat("x", 1000), ""},
	} {
		var got ID
		if near := Near(tt.name); len(near) > 0 {
			got = near[0]
		}
		if got != tt.want {
			t.Errorf("Near(%q) begins with %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := Find("lock/mutx"); err == nil || !strings.Contains(err.Error(), "did you mean lock/mutex") {
		t.Errorf("Find of a typo says %v", err)
	}
	if e, err := Find("lock/mutex"); err != nil || e.ID != LockMutex {
		t.Errorf("Find(lock/mutex) = %v, %v", e.ID, err)
	}
}

func TestDocsAreFresh(t *testing.T) {
	got, err := os.ReadFile(filepath.FromSlash("../../../docs/causes.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want.Bytes()) {
		t.Error("docs/causes.md is stale: run go generate ./internal/analyze/cause")
	}
}
