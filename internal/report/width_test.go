package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "世界": 4, "e\u0301": 1, "µ→…": 3, "●": 1} {
		if got := columns(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	if got := clip("世界世界", 5); got != "世界…" {
		t.Errorf("clipped to %q", got)
	}
}

func TestCommand(t *testing.T) {
	got := command("go tool pprof -top -tagfocus=cause=gc/mark a.scaleprof/out/loss.pb.gz", "  ", 40)
	want := "  go tool pprof -top \\\n    -tagfocus=cause=gc/mark \\\n    a.scaleprof/out/loss.pb.gz\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestHang: lines fit, begin with their indent, and together hold the text.
func TestHang(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab 世e\u0301, \n"))).Draw(t, "text")
		width := rapid.IntRange(10, 90).Draw(t, "width")
		got := hang(text, "  - ", "    ", width)
		if strip(got[min(len(got), 4):]) != strip(text) {
			t.Fatalf("%q became %q", text, got)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if columns(line) > width || strings.TrimRight(line, " ") != line || line == "" {
				t.Fatalf("line %q at width %d", line, width)
			}
		}
	})
}

func strip(s string) string { return strings.Join(strings.Fields(s), "") }
