package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TextOptions say what the terminal can show.
type TextOptions struct {
	Width int  // columns; 0 means 80
	Color bool // only ever true on a terminal without NO_COLOR
	ASCII bool // no characters beyond ASCII
}

// Text writes the report for a person at a terminal: per target the verdict
// first, then the figures that carry it, then the details.
func Text(w io.Writer, r *Report, opt TextOptions) error {
	r = cleaned(r)
	t := &textWriter{w: w, opt: opt, notes: &footnotes{}}
	if t.opt.Width <= 0 {
		t.opt.Width = 80
	}
	t.host(r)
	for _, target := range targets(r) {
		t.target(r, target)
	}
	t.footnotes()
	t.files(r)
	t.warnings(r)
	return t.err
}

type textWriter struct {
	w     io.Writer
	opt   TextOptions
	notes *footnotes
	err   error
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprint(t.w, t.plain(fmt.Sprintf(format, args...)))
	}
}

// plain replaces what an ASCII terminal cannot show.
func (t *textWriter) plain(s string) string {
	if !t.opt.ASCII {
		return s
	}
	return strings.NewReplacer("µ", "u", "…", ".", "×", "x", "→", "->", "–", "-", "±", "+-").Replace(s)
}

func (t *textWriter) paint(s string, colors ...text.Color) string {
	if !t.opt.Color {
		return s
	}
	return text.Colors(colors).Sprint(s)
}

func (t *textWriter) bold(s string) string { return t.paint(s, text.Bold) }
func (t *textWriter) dim(s string) string  { return t.paint(s, text.Faint) }

func (t *textWriter) heading(s string) { t.printf("\n%s\n", t.bold(s)) }

func (t *textWriter) paragraph(s, indent string) { t.printf("%s", wrap(s, indent, t.opt.Width)) }

func (t *textWriter) host(r *Report) {
	h := r.Host
	line := fmt.Sprintf("%d CPUs", h.CPUs)
	if h.PhysicalCores != nil {
		line += fmt.Sprintf(" on %d physical cores", *h.PhysicalCores)
	}
	if h.QuotaCPUs != nil {
		line += fmt.Sprintf(", quota %.2g CPUs", *h.QuotaCPUs)
	}
	if h.Virtual != nil && *h.Virtual {
		line += ", virtual"
	}
	parts := []string{line}
	if h.CPU != "" {
		parts = append([]string{h.CPU}, parts...)
	}
	if r.Toolchain.Go != "" {
		parts = append(parts, r.Toolchain.Go)
	}
	if h.OS != "" {
		parts = append(parts, h.OS+"/"+h.Arch)
	}
	t.printf("%s\n", t.dim(clip(strings.Join(parts, ", "), t.opt.Width)))
}

// targets lists the targets of a report in order.
func targets(r *Report) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range r.Series {
		if !seen[s.Target] {
			seen[s.Target] = true
			out = append(out, s.Target)
		}
	}
	return out
}

func (t *textWriter) target(r *Report, target string) {
	t.printf("\n%s\n", t.paint(target, text.Bold, text.Underline))
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target {
			t.verdict(r, c)
		}
	}
	t.speedups(r, target)
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target {
			t.statement(c)
		}
	}
}

// verdict is the sentence that a reader came for.
func (t *textWriter) verdict(r *Report, c *Comparison) {
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
	for line := range strings.Lines(wrap(label+c.Verdict.Text, "    ", t.opt.Width)) {
		t.printf("%s\n", t.paint(strings.TrimSuffix(line, "\n"), color))
	}
	if c.Potential != nil {
		s := fmt.Sprintf("without it: %s efficiency", percent(c.Potential.WithoutCauseEfficiency))
		if iv := percentRange(c.Potential.CI); iv != "" {
			s += " (" + iv + ")"
		}
		t.paragraph(s+", from "+c.Potential.From, "    ")
	}
	if c.Verdict.Advice != "" {
		t.paragraph("try: "+c.Verdict.Advice, "    ")
	}
	for _, e := range c.Verdict.Evidence {
		// A command is never broken: it is there to be copied.
		t.printf("    see: %s\n", inCapture(r, e))
	}
}

// files names the outputs that a reader opens first, and says where the rest is.
func (t *textWriter) files(r *Report) {
	if len(r.Files) == 0 {
		return
	}
	t.heading("Files")
	shown := 0
	for _, f := range r.Files {
		if f.Kind == "loss" {
			t.printf("  %s\n", inCapture(r, f.OpenWith))
			shown++
		}
	}
	if more := len(r.Files) - shown; more > 0 {
		t.paragraph(fmt.Sprintf("and %d more profiles (cpu, slots, blame, mutex, block, wall) in %s", more, inCapture(r, "out/")), "  ")
	}
}

func (t *textWriter) warnings(r *Report) {
	if len(r.Warnings) == 0 {
		return
	}
	t.heading("Warnings")
	seen := map[string]bool{}
	shown := 0
	for _, w := range r.Warnings {
		if seen[w.Text] {
			continue
		}
		seen[w.Text] = true
		if shown++; shown > maxWarnings {
			continue
		}
		t.paragraph("- "+w.Text, "  ")
	}
	if shown > maxWarnings {
		t.printf("  and %d more; --format json has them all\n", shown-maxWarnings)
	}
}

const maxWarnings = 8

// inCapture makes the files of a command those of the capture as the user named
// it, so that the command can be pasted where scaleprof ran.
func inCapture(r *Report, command string) string {
	if r.Capture == "" {
		return command
	}
	fields := strings.Split(command, " ")
	for i, f := range fields {
		if strings.HasPrefix(f, "out/") || strings.HasPrefix(f, "runs/") {
			fields[i] = shellQuote(filepath.Join(r.Capture, f))
		}
	}
	return strings.Join(fields, " ")
}

func shellQuote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+=:@%,", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
