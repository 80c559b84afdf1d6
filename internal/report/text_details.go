package report

import (
	"fmt"
	"slices"
	"strings"
)

// How much of the details a page shows; JSON and the profiles have it all.
const (
	maxPathRows  = 5
	maxPathsEach = 2
	maxCPURows   = 8
)

// paths shows which call paths grew, and for waits who caused them. What stands
// in shown was shown for another mode of the target, with other figures but the
// same code.
func (t *textWriter) paths(c *Comparison, shown map[string]bool) {
	n := 0
	for _, r := range c.Rows {
		if n == maxPathRows {
			break
		}
		if !r.Distinguishable && !inVerdict(c, r) || r.CoresLost <= 0 || shown[r.Cause] {
			continue
		}
		grown, culprits := visible(r.Stacks), visible(r.Culprits)
		detail := r.Detail
		if shown[detail] {
			detail = ""
		}
		if len(grown)+len(culprits) == 0 && detail == "" {
			continue
		}
		if n == 0 {
			t.heading(fmt.Sprintf("By call path: %s, %s mode (cores lost, leaf first)", c.Target, c.Mode))
		}
		n++
		shown[r.Cause], shown[detail] = true, true
		if detail != "" {
			detail = ": " + detail
		}
		t.item(r.Cause+detail, "  ")
		t.stacks(grown, "")
		t.stacks(culprits, "caused by ")
	}
}

// visible are the paths to be shown: the first of those that show as more than 0.00.
func visible(stacks []Stack) []Stack {
	var out []Stack
	for _, s := range stacks {
		if cores(s.CoresLost) != "0.00" && len(s.Frames) > 0 && len(out) < maxPathsEach {
			out = append(out, s)
		}
	}
	return out
}

func (t *textWriter) stacks(stacks []Stack, label string) {
	for _, s := range stacks {
		prefix := fmt.Sprintf("    %5s  %s", cores(s.CoresLost), label)
		line := pathLine(s, t.opt.Width-columns(prefix))
		if src := source(s); src != "" && columns(prefix+line+"  "+src) <= t.opt.Width {
			line += "  " + t.dim(src)
		}
		t.printf("%s%s\n", prefix, line)
	}
}

// source is the line of a path's leaf; none of code that was compiled at run
// time, which has no file.
func source(s Stack) string {
	if strings.Contains(s.Source, "?:") {
		return ""
	}
	return s.Source
}

// cpuPerOp is what CPU profiles alone show: CPU time of an operation by cause.
func (t *textWriter) cpuPerOp(c *Comparison) {
	t.heading(fmt.Sprintf("CPU time per operation: %s, %s mode", c.Target, c.Mode))
	g := &grid{columns: []column{{title: "cause", left: true}, {title: fmt.Sprintf("T=%d", c.Base)}, {title: fmt.Sprintf("T=%d", c.Peak)}, {title: "grew by"}}}
	for _, r := range c.CPUPerOp[:min(len(c.CPUPerOp), maxCPURows)] {
		g.add(r.Cause, Wall(int64(r.BaseNS)), Wall(int64(r.PeakNS)), signedWall(int64(r.PeakNS-r.BaseNS)))
	}
	t.table(g)
}

// experiments sets what the arms measured beside what the profiles say.
func (t *textWriter) experiments(c *Comparison) {
	if len(c.Experiments) > 0 {
		t.heading(fmt.Sprintf("Proof by experiment: %s, %s mode (cores given back)", c.Target, c.Mode))
		g := &grid{columns: []column{{title: "arm", left: true}, {title: "measured"}, {title: "95% interval"}, {title: "profiles say"}, {title: "", left: true}}}
		for _, e := range c.Experiments {
			g.add(e.Arm, cores(e.EffectCores), coresRange(e.EffectCI), optional(e.AttributedCores, cores), outcome(e))
		}
		t.table(g)
	}
	if t.opt.Brief {
		return
	}
	why := &grouped{}
	for _, e := range c.Experiments {
		if e.EffectCI != nil {
			why.add(e.Why, e.Arm)
		}
	}
	for _, s := range why.texts {
		t.item(strings.Join(why.who[s], ", ")+": "+s, "  ")
	}
	if d := c.Dose; d != nil {
		t.item(doseText(d), "  ")
	}
	if c.Combined != nil {
		t.item(combinedText(c.Combined), "  ")
	}
	if c.Mode != "thread" {
		return // what follows is of both modes, and said once
	}
	if m := c.ModeContrast; m != nil {
		t.item(m.Text, "  ")
	}
	if c.Quote != "" {
		t.item("To quote: "+c.Quote, "  ")
	}
}

// outcome is an experiment's verdict for people: without an interval none was reached.
func outcome(e Experiment) string {
	if e.EffectCI == nil {
		return "too few blocks"
	}
	return e.Verdict
}

func doseText(d *Dose) string {
	s := fmt.Sprintf("GOGC dose: %s cores lost vanish as GOGC grows (slot time = S_inf + c/GOGC)", cores(d.GCCores))
	if iv := coresRange(d.GCCoresCI); iv != "" {
		s += ", " + iv
	}
	s += fmt.Sprintf("; efficiency without collection %s", percent(d.Efficiency))
	if d.Why != "" {
		s += "; " + d.Why
	}
	return s
}

// grouped holds texts in order, each with those who said it.
type grouped struct {
	texts []string
	who   map[string][]string
}

func (g *grouped) add(text, who string) {
	if text == "" {
		return
	}
	if g.who == nil {
		g.who = map[string][]string{}
	}
	if g.who[text] == nil {
		g.texts = append(g.texts, text)
	}
	if !slices.Contains(g.who[text], who) {
		g.who[text] = append(g.who[text], who)
	}
}
