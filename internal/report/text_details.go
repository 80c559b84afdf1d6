package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// How much of the details a page shows; JSON and the profiles have it all.
const (
	maxPathRows  = 5
	maxPathsEach = 2
)

// paths shows below the statement which call paths grew, and for waits who
// caused them.
func (t *textWriter) paths(c *Comparison) {
	shown := 0
	said := ""
	for _, r := range c.Rows {
		if shown == maxPathRows {
			break
		}
		if !r.Distinguishable || r.CoresLost <= 0 || len(r.Stacks) == 0 && r.Detail == "" {
			continue
		}
		if shown == 0 {
			t.heading(fmt.Sprintf("By call path, %s mode (cores lost, leaf first)", c.Mode))
		}
		shown++
		t.printf("  %s\n", r.Cause)
		if r.Detail != "" && r.Detail != said {
			t.paragraph(r.Detail, "        ")
			said = r.Detail
		}
		t.stacks(r.Stacks, "")
		t.stacks(r.Culprits, "caused by ")
	}
	if shown == 0 && len(c.CPUPerOp) > 0 {
		t.cpuPerOp(c)
	}
}

func (t *textWriter) stacks(stacks []Stack, label string) {
	for _, s := range stacks[:min(len(stacks), maxPathsEach)] {
		prefix := fmt.Sprintf("  %6s  %s", cores(s.CoresLost), label)
		line := pathLine(s, t.opt.Width-len(prefix))
		if s.Source != "" && len(prefix)+len(line)+len(s.Source)+3 <= t.opt.Width {
			line += "  " + t.dim(s.Source)
		}
		t.printf("%s%s\n", prefix, line)
	}
}

// cpuPerOp is what CPU profiles alone show: CPU time of an operation by cause.
func (t *textWriter) cpuPerOp(c *Comparison) {
	t.heading(fmt.Sprintf("CPU time per operation, %s mode", c.Mode))
	w := newTable("")
	w.SetColumnConfigs(right(2, 3, 4))
	w.AppendHeader(table.Row{"cause", fmt.Sprintf("T=%d", c.Base), fmt.Sprintf("T=%d", c.Peak), "grew by"})
	for i, r := range c.CPUPerOp {
		if i == 8 {
			break
		}
		w.AppendRow(table.Row{r.Cause, Wall(int64(r.BaseNS)), Wall(int64(r.PeakNS)), signedWall(int64(r.PeakNS - r.BaseNS))})
	}
	t.render(w, "  ")
}

// experiments sets what the arms measured beside what the profiles say.
func (t *textWriter) experiments(c *Comparison) {
	if len(c.Experiments) == 0 {
		t.contrast(c)
		return
	}
	t.heading(fmt.Sprintf("Proof by experiment, %s mode (cores given back)", c.Mode))
	w := newTable("")
	w.SetColumnConfigs(right(2, 3, 4))
	w.AppendHeader(table.Row{"arm", "measured", "95% interval", "profiles say", ""})
	for _, e := range c.Experiments {
		w.AppendRow(table.Row{e.Arm, cores(e.EffectCores), coresRange(e.EffectCI), optional(e.AttributedCores, cores), e.Verdict})
	}
	t.render(w, "  ")
	for _, e := range c.Experiments {
		if e.Why != "" {
			t.paragraph(e.Arm+": "+e.Why, "  ")
		}
	}
	var texts []string
	arms := map[string][]string{}
	for _, e := range c.Experiments {
		if e.Confounds == "" {
			continue
		}
		if len(arms[e.Confounds]) == 0 {
			texts = append(texts, e.Confounds)
		}
		arms[e.Confounds] = append(arms[e.Confounds], e.Arm)
	}
	for _, s := range texts {
		t.paragraph(strings.Join(arms[s], ", ")+": "+s, "  ")
	}
	if d := c.Dose; d != nil {
		t.dose(d)
	}
	if c.Combined != nil {
		t.paragraph(combinedText(c.Combined), "  ")
	}
	t.contrast(c)
	if c.Quote != "" && c.Mode == "thread" {
		t.paragraph("To quote: "+c.Quote, "  ")
	}
}

// contrast sets process mode beside thread mode, once for both.
func (t *textWriter) contrast(c *Comparison) {
	if m := c.ModeContrast; m != nil && m.Text != "" && c.Mode == "thread" {
		t.paragraph(m.Text, "  ")
	}
}

func (t *textWriter) dose(d *Dose) {
	s := fmt.Sprintf("GOGC dose: %s cores lost vanish as GOGC grows (slot time = S_inf + c/GOGC)", cores(d.GCCores))
	if iv := coresRange(d.GCCoresCI); iv != "" {
		s += ", " + iv
	}
	s += fmt.Sprintf("; efficiency without collection %s", percent(d.Efficiency))
	if d.Why != "" {
		s += "; " + d.Why
	}
	t.paragraph(s, "  ")
}
