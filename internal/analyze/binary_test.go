package analyze

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scaleprof/scaleprof/internal/record"
)

func TestBinaryIsTheOneThatRan(t *testing.T) {
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sum := func(path string) string {
		t.Helper()
		s, err := record.SumFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ran, anew, same := write("prog", "v1"), write("prog", "v2"), write("other", "v1")
	for name, test := range map[string]struct {
		target   record.Target
		self     string
		want     string
		warnings int
	}{
		"still there":              {record.Target{Binary: ran, BinarySum: sum(ran)}, "", ran, 0},
		"built anew":               {record.Target{Binary: anew, BinarySum: sum(ran)}, "", "", 1},
		"gone, but this is it":     {record.Target{Binary: ran + "gone", BinarySum: sum(ran)}, same, same, 0},
		"gone, and this is not it": {record.Target{Binary: ran + "gone", BinarySum: sum(ran)}, anew, "", 1},
		"a pipe or a directory":    {record.Target{Binary: filepath.Dir(ran), BinarySum: sum(ran)}, "", "", 1},
		"no sum was kept":          {record.Target{Binary: anew}, "", anew, 0},
		"none is known":            {record.Target{}, same, "", 0},
	} {
		test.target.Name = "x"
		l := &loaded{manifest: &record.Manifest{Plan: record.Plan{Targets: []record.Target{test.target}}}, sums: map[string]string{}, warned: map[string]bool{}}
		for range 2 {
			if got := l.binary("x", test.self); got != test.want {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		}
		if len(l.warnings) != test.warnings {
			t.Errorf("%s: %d warnings, want %d", name, len(l.warnings), test.warnings)
		}
	}
}
