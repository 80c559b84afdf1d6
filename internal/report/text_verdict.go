package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// verdictLines is how much room a verdict has below its headline.
const verdictLines = 4

// verdicts are the answers for one target.
func (t *textWriter) verdicts(r *Report, target string) {
	all := comparisons(r, target)
	if len(all) == 0 {
		return
	}
	t.printf("\n")
	t.painted(wrap(target, "", t.opt.Width), text.Bold, text.Underline)
	advised := ""
	for _, c := range all {
		t.verdict(c, c.Verdict.Advice == advised)
		advised = c.Verdict.Advice
	}
}

// verdict is the sentence that a reader came for. Advice that stands above is
// not given again.
func (t *textWriter) verdict(c *Comparison, advised bool) {
	head := fmt.Sprintf("%s mode, T=%d to T=%d: %s efficiency", c.Mode, c.Base, c.Peak, percent(c.Efficiency))
	if iv := percentRange(c.EfficiencyCI); iv != "" {
		head += " (" + iv + ")"
	}
	head += fmt.Sprintf(", %s of %d cores lost", cores(c.CoresLost), c.Peak)
	t.paragraph(head, "  ")
	color := text.FgYellow
	switch {
	case c.Verdict.Cause != nil && c.Verdict.Confidence == "proven":
		color = text.FgRed
	case c.Verdict.Cause == nil && c.Verdict.Confidence != "unclear":
		color = text.FgGreen
	}
	label := c.Verdict.Confidence + ": "
	if c.Verdict.Cause == nil {
		label = ""
	}
	remedy := wrap(remedy(c, advised), "    ", t.opt.Width)
	room := max(2, verdictLines-strings.Count(remedy, "\n"))
	t.painted(t.shorten(label+c.Verdict.Text, "    ", room), color)
	t.printf("%s", remedy)
}

// remedy says what is to be had, and how.
func remedy(c *Comparison, advised bool) string {
	var parts []string
	if p := c.Potential; p != nil {
		s := fmt.Sprintf("without it: %s efficiency", percent(p.WithoutCauseEfficiency))
		if iv := percentRange(p.CI); iv != "" {
			s += " (" + iv + ")"
		}
		if p.From != "" && p.From != "attribution" {
			s += ", by " + p.From
		}
		parts = append(parts, s)
	}
	if c.Verdict.Advice != "" && !advised {
		parts = append(parts, "try: "+c.Verdict.Advice)
	}
	return strings.Join(parts, "; ")
}

// shorten wraps text, leaving out clauses from the end until it has the lines
// that there is room for: the tables below and the JSON have what is left out.
func (t *textWriter) shorten(s, indent string, lines int) string {
	clauses := strings.Split(s, "; ")
	for {
		out := wrap(strings.Join(clauses, "; "), indent, t.opt.Width)
		if strings.Count(out, "\n") <= lines || len(clauses) == 1 {
			return out
		}
		clauses = clauses[:len(clauses)-1]
	}
}
