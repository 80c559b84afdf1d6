package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report for a pull-request comment: the verdicts, the
// speed-up table and the statement, the call paths folded away.
func Markdown(w io.Writer, r *Report) error {
	r = cleaned(r)
	m := &markdown{w: w}
	for _, target := range targets(r) {
		m.target(r, target)
	}
	for i := range r.Breakdowns {
		m.breakdown(&r.Breakdowns[i])
	}
	for _, x := range r.Warnings {
		m.printf("> %s\n", escape(x.Text))
	}
	return m.err
}

type markdown struct {
	w   io.Writer
	err error
}

func (m *markdown) printf(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

// escape keeps text from a capture from being read as markup.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "\n", " ", "\r", " ").Replace(s)
}

func (m *markdown) target(r *Report, target string) {
	m.printf("### %s\n\n", escape(target))
	for _, c := range r.Comparisons {
		if c.Target != target {
			continue
		}
		m.printf("**%s mode, T=%d → T=%d: %s efficiency, %s of %d cores lost.** %s\n\n", c.Mode, c.Base, c.Peak, percent(c.Efficiency), cores(c.CoresLost), c.Peak, escape(c.Verdict.Text))
		if c.Verdict.Advice != "" {
			m.printf("Try: %s\n\n", escape(c.Verdict.Advice))
		}
	}
	m.printf("| mode | T | wall | speed-up | efficiency | machine |\n|---|--:|--:|--:|--:|--:|\n")
	for _, s := range r.Series {
		if s.Target != target || s.Arm != "baseline" {
			continue
		}
		for _, p := range s.Points {
			m.printf("| %s | %d | %s | %s | %s | %s |\n", s.Mode, p.Threads, Wall(p.WallNS), optional(p.Speedup, ratio), withRange(optional(p.Efficiency, percent), p.EfficiencyCI), optional(p.CeilingSpeedup, ratio))
		}
	}
	m.printf("\n")
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target && len(c.Rows) > 0 {
			m.statement(c)
		}
	}
}

// breakdown is a table of shares, for profiles without timings.
func (m *markdown) breakdown(b *Breakdown) {
	m.printf("### %s: shares of %s\n\n| cause |", escape(b.Target), b.Unit)
	for _, n := range b.Threads {
		m.printf(" T=%d |", n)
	}
	m.printf("\n|---|%s\n", strings.Repeat("--:|", len(b.Threads)))
	for _, r := range b.Rows {
		m.printf("| %s |\n", strings.Join(shareCells(escape(r.Cause), r.Shares), " | "))
	}
	m.printf("\nThere are no wall times at constant work, so what was lost from one T to another cannot be told.\n\n")
}

func (m *markdown) statement(c *Comparison) {
	m.printf("<details><summary>Where the cores went, %s mode, T=%d → T=%d</summary>\n\n", c.Mode, c.Base, c.Peak)
	m.printf("| cause | base | peak | cores lost | 95%% interval | of loss |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range tableRows(c) {
		m.printf("| %s | %s | %s | %s | %s | %s |\n", escape(r.name), signedWall(r.BaseNS), signedWall(r.PeakNS), cores(r.CoresLost), coresRange(r.CoresLostCI), share(r.Share, c))
	}
	m.printf("| %s in all | %s | %s | %s | %s | |\n\n", unit(c), Wall(c.SlotBaseNS), Wall(c.SlotPeakNS), cores(c.CoresLost), coresRange(c.CoresLostCI))
	for _, r := range c.Rows {
		for i, s := range r.Stacks {
			if i == maxPathsEach || !r.Distinguishable && !inVerdict(c, r) {
				break
			}
			m.printf("- %s %s: `%s`\n", escape(r.Cause), cores(s.CoresLost), strings.ReplaceAll(pathLine(s, 160), "`", "'"))
		}
	}
	for _, e := range c.Experiments {
		m.printf("- arm %s gives back %s cores (profiles say %s): %s\n", escape(e.Arm), cores(e.EffectCores), optional(e.AttributedCores, cores), escape(e.Verdict))
	}
	m.printf("\n</details>\n\n")
}
