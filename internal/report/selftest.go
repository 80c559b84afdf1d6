package report

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// SelftestRow is one workload's outcome.
type SelftestRow struct {
	Name, Expected, Named, Status, Why string
	Bad, Fixed, Predicted, Closure     *float64
}

// Selftest prints outcomes as they come, one a line.
type Selftest struct {
	t     textWriter
	begun bool
}

// NewSelftest prints to w.
func NewSelftest(w io.Writer, opt TextOptions) *Selftest {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	return &Selftest{t: textWriter{w: w, opt: opt, notes: &footnotes{}}}
}

const selftestLine = "%-22s %-22s %-8s %5s %5s %5s %5s\n"

// Row prints one outcome: efficiency of the bad and the fixed form, the
// efficiency that the report promises without the cause, the closure error.
func (s *Selftest) Row(r SelftestRow) {
	if !s.begun {
		s.begun = true
		s.t.printf("%s", s.t.bold(fmt.Sprintf(selftestLine, "workload", "named", "", "bad", "fixed", "pred.", "clos.")))
	}
	named := r.Named
	if named == "" {
		named = "none"
	}
	if r.Status == "skipped" {
		named = "-"
	}
	color := text.FgGreen
	switch r.Status {
	case "wrong":
		color = text.FgRed
	case "unsure", "hidden", "skipped":
		color = text.FgYellow
	}
	status := s.t.paint(fmt.Sprintf("%-8s", r.Status), color)
	s.t.printf("%-22s %-22s %s %5s %5s %5s %5s\n", clip(strings.TrimPrefix(r.Name, "lab/"), 22), clip(named, 22), status,
		optional(r.Bad, percent), optional(r.Fixed, percent), optional(r.Predicted, percent), optional(r.Closure, tenth))
	if r.Status != "right" {
		s.t.paragraph(fmt.Sprintf("expected %s: %s", r.Expected, r.Why), "    ")
	}
}

func tenth(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// End prints how many of each status there were.
func (s *Selftest) End(counts map[string]int) {
	var names []string
	for n := range counts {
		names = append(names, n)
	}
	sort.Strings(names)
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%d %s", counts[n], n))
	}
	s.t.printf("\n%s\n", strings.Join(parts, ", "))
}
