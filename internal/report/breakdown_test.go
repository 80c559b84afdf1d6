package report

import (
	"strings"
	"testing"
)

func TestBreakdownText(t *testing.T) {
	r := &Report{Breakdowns: []Breakdown{{
		Target: "import/program", Mode: "thread", Unit: "P-seconds", Threads: []int{1, 4},
		Rows: []BreakdownRow{
			{Cause: "lock/mutex", Shares: []float64{0, 0.75}, Paths: []BreakdownPath{{Frames: []string{"sync.(*Mutex).Lock", "main.f"}, Source: "b/c.go:7", Share: 0.75}}},
			{Cause: "work/user", Shares: []float64{0.998, 0.248}},
			{Cause: "gc/mark", Shares: []float64{0.001, 0.001}},
			{Cause: "gc/sweep", Shares: []float64{0.001, 0.001}},
		},
	}}}
	var b strings.Builder
	if err := Text(&b, r, TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"machine unknown\n", "Where the time went: import/program, shares of P-seconds\n",
		"lock/mutex   0.0%  75.0%\n", "2 more       0.2%   0.2%\n", "     75.0%  sync.(*Mutex).Lock < main.f  b/c.go:7\n", "cannot be told",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := Markdown(&b, r); err != nil || !strings.Contains(b.String(), "| lock/mutex | 0.0% | 75.0% |") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}
