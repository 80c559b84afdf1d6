package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s changed (-want +got); -update rewrites it:\n%s", file, d)
	}
}

// fixed is the report in testdata: a capture of json/sonic in both modes, and a
// made target with a name of wide and combining characters, a curve and a lock.
func fixed(t *testing.T) *Report {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	r.Capture = "a.scaleprof"
	return r
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file, format string
		opt          TextOptions
	}{
		{"report-80.txt", "text", TextOptions{Width: 80}},
		{"report-120.txt", "text", TextOptions{Width: 120}},
		{"report-60-ascii.txt", "text", TextOptions{Width: 60, ASCII: true, Brief: true}},
		{"report-brief.txt", "text", TextOptions{Brief: true}},
		{"report.md", "markdown", TextOptions{}},
		{"report.bench.txt", "bench", TextOptions{}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, fixed(t), c.format, c.opt); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, b.String())
		})
	}
}

// TestTextFits: at any width no line is wider than it, but for a word of a
// command, and none ends in a blank; what has no source line shows none.
func TestTextFits(t *testing.T) {
	for _, width := range []int{60, 80, 100, 120} {
		for _, r := range []*Report{fixed(t), hostile()} {
			for _, opt := range []TextOptions{{Width: width}, {Width: width, Brief: true}, {Width: width, ASCII: true}} {
				var b bytes.Buffer
				if err := Text(&b, r, opt); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(b.String()) {
					line = strings.TrimSuffix(line, "\n")
					if columns(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("%d columns at width %d: %q", columns(line), width, line)
					}
					if strings.TrimRight(line, " ") != line {
						t.Errorf("blanks at the end of %q", line)
					}
					if opt.ASCII && !plainText(line) {
						t.Errorf("not ASCII: %q", line)
					}
				}
				if strings.Contains(b.String(), "?:0") {
					t.Errorf("a source line of code that has none:\n%s", b.String())
				}
			}
		}
	}
}

// TestColor: only the options decide on colour, and colour changes no character.
func TestColor(t *testing.T) {
	var plain, color bytes.Buffer
	if err := Text(&plain, fixed(t), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&color, fixed(t), TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("colour where none was asked for")
	}
	got := color.String()
	for {
		from, rest, found := strings.Cut(got, "\x1b[")
		if !found {
			break
		}
		_, rest, _ = strings.Cut(rest, "m")
		got = from + rest
	}
	if d := cmp.Diff(plain.String(), got); d != "" {
		t.Error(d)
	}
}
