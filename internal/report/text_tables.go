package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newTable is a table without lines, as Go's own tools print them.
func newTable(indent string) table.Writer {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	style.Box.Left = indent
	w.SetStyle(style)
	return w
}

// render prints a table with an indent and without trailing blanks.
func (t *textWriter) render(w table.Writer, indent string) {
	for line := range strings.Lines(w.Render() + "\n") {
		t.printf("%s%s\n", indent, strings.TrimRight(line, " \n"))
	}
}

func right(columns ...int) []table.ColumnConfig {
	var out []table.ColumnConfig
	for _, c := range columns {
		out = append(out, table.ColumnConfig{Number: c, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return out
}

// speedups is the table of T for one target, thread and process mode one below
// the other, arms after the baseline.
func (t *textWriter) speedups(r *Report, target string) {
	t.heading("Speed-up")
	w := newTable("")
	w.SetColumnConfigs(right(2, 3, 4, 5, 6, 7))
	w.AppendHeader(table.Row{"mode", "T", "wall", "speed-up", "efficiency", "per added core", "machine"})
	for _, s := range r.Series {
		if s.Target != target || s.Arm != "baseline" {
			continue
		}
		for i, p := range s.Points {
			mode := ""
			if i == 0 {
				mode = s.Mode
			}
			w.AppendRow(table.Row{
				mode, p.Threads, Wall(p.WallNS) + t.notes.marks(p.Gates), optional(p.Speedup, ratio),
				withRange(optional(p.Efficiency, percent), p.EfficiencyCI), optional(p.Marginal, ratio), optional(p.CeilingSpeedup, ratio),
			})
		}
	}
	t.render(w, "  ")
	t.curve(r, target)
	for _, s := range r.Series {
		if s.Target == target && s.Arm == "baseline" {
			t.shape(&s)
		}
	}
}

// curve draws the speed-ups of a target where there are enough T for a shape.
func (t *textWriter) curve(r *Report, target string) {
	var drawn []Series
	for _, s := range r.Series {
		if s.Target == target && s.Arm == "baseline" && len(s.Points) >= 3 {
			drawn = append(drawn, s)
		}
	}
	if len(drawn) == 0 {
		return
	}
	t.printf("\n")
	for _, line := range Curve(drawn, t.opt) {
		t.printf("%s\n", line)
	}
}

func withRange(value string, iv Interval) string {
	if iv == nil || value == "-" {
		return value
	}
	return fmt.Sprintf("%s (%.0f–%.0f)", value, 100*iv[0], 100*iv[1])
}

// shape says what the curve shows: where it bends, what law fits.
func (t *textWriter) shape(s *Series) {
	var parts []string
	if k := s.Knee; k != nil {
		p := fmt.Sprintf("the curve bends at T=%d", k.Threads)
		if k.CI != nil && k.CI[0] != k.CI[1] {
			p += fmt.Sprintf(" (%d to %d)", k.CI[0], k.CI[1])
		}
		if k.Place != "" {
			p += ", " + k.Place
		}
		parts = append(parts, p)
	}
	if s.Best != nil && len(s.Points) > 0 && *s.Best != s.Points[len(s.Points)-1].Threads {
		parts = append(parts, fmt.Sprintf("fastest at T=%d", *s.Best))
	}
	if s.Useless != nil {
		parts = append(parts, fmt.Sprintf("beyond T=%d an added core gives less than a tenth of itself", *s.Useless))
	}
	for _, m := range s.Models {
		if m.Chosen {
			parts = append(parts, m.Name+": "+m.Why)
		}
	}
	if len(parts) > 0 {
		t.paragraph(s.Mode+": "+strings.Join(parts, "; "), "  ")
	}
	for _, n := range s.Notes {
		t.paragraph(s.Mode+": "+n, "  ")
	}
}

// statement is the table of causes with what stands below it.
func (t *textWriter) statement(c *Comparison) {
	if len(c.Rows) > 0 {
		t.heading(fmt.Sprintf("Where the cores went, %s mode, T=%d → T=%d (%s)", c.Mode, c.Base, c.Peak, unit(c)))
		t.rows(c)
	}
	if len(c.Factors) > 0 {
		t.paragraph(factorLine(c), "  ")
	}
	if c.ClosureError != nil {
		t.paragraph(fmt.Sprintf("the classes missed the slot time by %.1f%% before \"unexplained\" took the rest", 100**c.ClosureError), "  ")
	}
	t.paths(c)
	t.experiments(c)
	if c.Mode == "thread" {
		for _, n := range c.Narrative {
			t.printf("\n")
			t.paragraph(n, "  ")
		}
	}
	for _, n := range c.Notes {
		t.paragraph("note: "+n, "  ")
	}
}

func unit(c *Comparison) string {
	if c.Unit == "" {
		return "slot time"
	}
	return c.Unit
}

func (t *textWriter) rows(c *Comparison) {
	w := newTable("")
	w.SetColumnConfigs(right(2, 3, 4, 5, 6))
	w.AppendHeader(table.Row{"cause", "at base", "at peak", "cores lost", "95% interval", "of loss"})
	var noise []Row
	for _, r := range c.Rows {
		if r.Cause != "unexplained" && !r.Distinguishable && r.Cause != "work/user" {
			noise = append(noise, r)
			continue
		}
		w.AppendRow(table.Row{r.Cause, Wall(r.BaseNS), Wall(r.PeakNS), cores(r.CoresLost), coresRange(r.CoresLostCI), share(r.Share, c)})
	}
	if len(noise) > 0 {
		var base, peak int64
		var lost, part float64
		for _, r := range noise {
			base, peak, lost, part = base+r.BaseNS, peak+r.PeakNS, lost+r.CoresLost, part+r.Share
		}
		w.AppendRow(table.Row{fmt.Sprintf("within noise (%d rows)", len(noise)), signedWall(base), signedWall(peak), cores(lost), "", share(part, c)})
	}
	w.AppendRow(table.Row{"slot time in all", Wall(c.SlotBaseNS), Wall(c.SlotPeakNS), cores(c.CoresLost), coresRange(c.CoresLostCI), ""})
	t.render(w, "  ")
}

func signedWall(ns int64) string {
	if ns < 0 {
		return "-" + Wall(-ns)
	}
	return Wall(ns)
}

func share(v float64, c *Comparison) string {
	// A share of a loss that may be none says nothing.
	if c.ExcessNS <= 0 || c.CoresLostCI != nil && c.CoresLostCI[0] <= 0 {
		return "-"
	}
	return percent(v)
}

func factorLine(c *Comparison) string {
	var parts []string
	for _, f := range c.Factors {
		if v := fmt.Sprintf("%.2f", f.Value); v != "1.00" {
			parts = append(parts, v+" "+f.Name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f efficiency = %s", c.Efficiency, strings.Join(parts, " × "))
}
