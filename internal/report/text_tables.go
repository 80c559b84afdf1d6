package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// column of a table. A table that is too wide loses the columns of the highest
// spare first; those with 0 are never left out.
type column struct {
	title string
	left  bool // aligned to the left
	spare int
}

// grid is a table without lines, as Go's own tools print them.
type grid struct {
	columns []column
	rows    [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// lines lays the table out in at most width columns. Columns in which nothing
// stands are left out.
func (g *grid) lines(width int) []string {
	hidden := make([]bool, len(g.columns))
	for i := range g.columns {
		hidden[i] = !slices.ContainsFunc(g.rows, func(row []string) bool { return row[i] != "" })
	}
	for {
		out := g.render(hidden)
		widest := 0
		for _, l := range out {
			widest = max(widest, columns(l))
		}
		drop := -1
		for i, c := range g.columns {
			if !hidden[i] && c.spare > 0 && (drop < 0 || c.spare > g.columns[drop].spare) {
				drop = i
			}
		}
		if widest > width && drop >= 0 {
			hidden[drop] = true
			continue
		}
		for i := range out {
			out[i] = clip(out[i], width)
		}
		return out
	}
}

func (g *grid) render(hidden []bool) []string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	var configs []table.ColumnConfig
	row := func(cell func(i int) string) table.Row {
		var out table.Row
		for i := range g.columns {
			if !hidden[i] {
				out = append(out, cell(i))
			}
		}
		return out
	}
	for i, c := range g.columns {
		if !hidden[i] && !c.left {
			n := 1
			for k := range i {
				if !hidden[k] {
					n++
				}
			}
			configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(row(func(i int) string { return g.columns[i].title }))
	for _, r := range g.rows {
		w.AppendRow(row(func(i int) string { return r[i] }))
	}
	var out []string
	for line := range strings.Lines(w.Render()) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	return out
}

// table prints a grid below the margin that everything in a section has.
func (t *textWriter) table(g *grid) {
	for _, line := range g.lines(t.opt.Width - 2) {
		t.printf("  %s\n", line)
	}
}

// speedups is the table of T for one target, thread and process mode one below
// the other.
func (t *textWriter) speedups(r *Report, target string) {
	t.heading("Speed-up of " + target)
	g := &grid{columns: []column{
		{title: "mode", left: true},
		{title: "T"},
		{title: "wall"},
		{title: "speed-up"},
		{title: "efficiency"},
		{title: "per added core", spare: 2},
		{title: "machine", spare: 1},
		{title: "", left: true},
	}}
	for _, s := range r.Series {
		if s.Target != target || s.Arm != "baseline" {
			continue
		}
		for i, p := range s.Points {
			mode := ""
			if i == 0 {
				mode = s.Mode
			}
			g.add(mode, fmt.Sprint(p.Threads), Wall(p.WallNS), optional(p.Speedup, ratio), withRange(optional(p.Efficiency, percent), p.EfficiencyCI),
				optional(p.Marginal, ratio), optional(p.CeilingSpeedup, ratio), t.notes.marks(p.Gates))
		}
	}
	t.table(g)
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

func (t *textWriter) shape(s *Series) { t.item(shapeText(*s), "  ") }

// shapeText says what the curve shows: where it bends, what law fits.
func shapeText(s Series) string {
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
	parts = append(parts, s.Notes...)
	if len(parts) == 0 {
		return ""
	}
	return s.Mode + ": " + strings.Join(parts, "; ")
}

// statement is the table of causes, which adds up, with what sums it up.
func (t *textWriter) statement(c *Comparison) {
	if len(c.Rows) > 0 {
		t.heading(fmt.Sprintf("Where the cores went: %s, %s mode, T=%d → T=%d", c.Target, c.Mode, c.Base, c.Peak))
		t.rows(c)
	} else if len(c.CPUPerOp) > 0 {
		t.cpuPerOp(c)
	}
	s := factorLine(c)
	if c.ClosureError != nil {
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("closure error %.1f%%", 100**c.ClosureError)
	}
	t.paragraph(s, "  ")
}

func unit(c *Comparison) string {
	if c.Unit == "" {
		return "slot time"
	}
	return c.Unit
}

func (t *textWriter) rows(c *Comparison) {
	g := &grid{columns: []column{
		{title: "cause", left: true}, {title: "at base", spare: 2}, {title: "at peak", spare: 2}, {title: "cores lost"}, {title: "95% interval"}, {title: "of loss", spare: 3},
	}}
	for _, r := range tableRows(c) {
		g.add(r.name, signedWall(r.BaseNS), signedWall(r.PeakNS), cores(r.CoresLost), coresRange(r.CoresLostCI), share(r.Share, c))
	}
	g.add(unit(c)+" in all", Wall(c.SlotBaseNS), Wall(c.SlotPeakNS), cores(c.CoresLost), coresRange(c.CoresLostCI), "")
	t.table(g)
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
