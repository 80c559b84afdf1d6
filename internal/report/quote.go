package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// quotedRow is the part of the loss from which on a cause is quoted by itself.
const quotedRow = 0.05

// Quote is the comparison in a few sentences that stand by themselves, for an
// issue or a mailing list: what ran where, what was lost, which causes carry it,
// and what each experiment left of it.
func Quote(r *Report, c *Comparison) string {
	var s strings.Builder
	what := c.Target
	for _, name := range quotedLibraries(r, c.Target) {
		what += ", " + name + " " + r.Toolchain.Libraries[name]
	}
	workers := "goroutines"
	if c.Mode == "process" {
		workers = "processes"
	}
	if r.Toolchain.Go != "" {
		what += ", " + r.Toolchain.Go
	}
	if r.Host.CPUs > 0 {
		what += fmt.Sprintf(" on %d CPUs", r.Host.CPUs)
	}
	if r.Host.CPU != "" {
		what += " (" + r.Host.CPU + ")"
	}
	fmt.Fprintf(&s, "%s: from %d to %d %s with the same work in all, %s is kept and %.2f of %d cores are lost.",
		what, c.Base, c.Peak, workers, efficiencyWithRange(c.Efficiency, c.EfficiencyCI), c.CoresLost, c.Peak)
	if carried := quotedRows(c); carried != "" {
		s.WriteString(" " + carried)
	}
	var left []string
	for _, e := range c.Experiments {
		if e.Efficiency == nil {
			continue
		}
		name := e.Arm
		if name == "mode=process" {
			name = "T processes"
		}
		left = append(left, fmt.Sprintf("with %s it keeps %s", name, percent(*e.Efficiency)))
	}
	if len(left) > 0 {
		text := strings.Join(left, ", ")
		s.WriteString(" " + strings.ToUpper(text[:1]) + text[1:])
		if d := c.Dose; d != nil && d.Why == "" {
			fmt.Fprintf(&s, "; extrapolated to no collection, %s", percent(d.Efficiency))
		}
		s.WriteString(".")
	}
	fmt.Fprintf(&s, " %s: %s.", strings.ToUpper(c.Verdict.Confidence[:min(1, len(c.Verdict.Confidence))])+c.Verdict.Confidence[min(1, len(c.Verdict.Confidence)):], quotedVerdict(c))
	return s.String()
}

func quotedVerdict(c *Comparison) string {
	if c.Verdict.Cause == nil {
		return "no cause can be named"
	}
	return "the cause to act on is " + *c.Verdict.Cause
}

// quotedRows names the rows that carry most of the loss, largest first.
func quotedRows(c *Comparison) string {
	var parts []string
	for _, row := range c.Rows {
		if row.Distinguishable && row.CoresLost >= quotedRow*c.CoresLost && row.CoresLost > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", row.Cause, row.CoresLost))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "By cause: " + strings.Join(parts, ", ") + "."
}

// quotedLibraries are the modules that a target is about: those whose path ends
// in a word of the target's name.
func quotedLibraries(r *Report, target string) []string {
	words := strings.FieldsFunc(target, func(c rune) bool { return c == '/' || c == '-' })
	var out []string
	for module := range r.Toolchain.Libraries {
		parts := strings.Split(module, "/")
		if slices.ContainsFunc(words, func(w string) bool { return w != "json" && slices.Contains(parts, w) }) {
			out = append(out, module)
		}
	}
	slices.Sort(out)
	return out
}

func efficiencyWithRange(v float64, iv Interval) string {
	text := percent(v) + " efficiency"
	if iv != nil && !math.IsNaN(iv[0]) {
		text += fmt.Sprintf(" (95%%: %s)", percentRange(iv))
	}
	return text
}
