package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"
)

// TextOptions say what the terminal can show.
type TextOptions struct {
	Width int  // columns; 0 means 80
	Color bool // only ever true on a terminal without NO_COLOR
	ASCII bool // no characters beyond ASCII
	Brief bool // verdicts and tables only: what ends a capture
}

// Text writes the report for a person at a terminal. The verdicts of all targets
// come first, as they are what one came for; then for each target the tables
// that carry them and, unless brief, the details; last what holds for all.
func Text(w io.Writer, r *Report, opt TextOptions) error {
	r = cleaned(r)
	t := newTextWriter(w, opt)
	t.host(r)
	all := targets(r)
	for _, target := range all {
		t.verdicts(r, target)
	}
	for _, target := range all {
		t.target(r, target)
	}
	for i := range r.Breakdowns {
		t.breakdown(&r.Breakdowns[i])
	}
	t.footnotes()
	if !opt.Brief {
		t.remarks(r)
	}
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

func newTextWriter(w io.Writer, opt TextOptions) *textWriter {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	return &textWriter{w: w, opt: opt, notes: &footnotes{}}
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, t.plain(fmt.Sprintf(format, args...)))
	}
}

// plain replaces what an ASCII terminal cannot show, column by column.
func (t *textWriter) plain(s string) string {
	if !t.opt.ASCII || plainText(strings.ReplaceAll(s, "\n", "")) {
		return s
	}
	s = strings.NewReplacer("µ", "u", "…", ".", "×", "x", "→", ">", "–", "-", "±", "~").Replace(s)
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Repeat("?", (&runewidth.Condition{}).RuneWidth(r)))
	}
	return b.String()
}

func (t *textWriter) paint(s string, colors ...text.Color) string {
	if !t.opt.Color || s == "" {
		return s
	}
	return text.Colors(colors).Sprint(s)
}

func (t *textWriter) bold(s string) string { return t.paint(s, text.Bold) }
func (t *textWriter) dim(s string) string  { return t.paint(s, text.Faint) }

// heading begins a section.
func (t *textWriter) heading(s string) {
	t.printf("\n")
	t.painted(wrap(s, "", t.opt.Width), text.Bold)
}

func (t *textWriter) paragraph(s, indent string) { t.printf("%s", wrap(s, indent, t.opt.Width)) }

// item is a paragraph whose first line stands out to the left.
func (t *textWriter) item(s, indent string) {
	t.printf("%s", hang(s, indent, indent+"  ", t.opt.Width))
}

// painted prints lines in a colour of their own each, so that one that is cut
// out of the text keeps it.
func (t *textWriter) painted(lines string, colors ...text.Color) {
	for line := range strings.Lines(lines) {
		t.printf("%s\n", t.paint(strings.TrimSuffix(line, "\n"), colors...))
	}
}

func (t *textWriter) host(r *Report) {
	h := r.Host
	line := "machine unknown"
	if h.CPUs > 0 {
		line = fmt.Sprintf("%d CPUs", h.CPUs)
	}
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

// comparisons are those of a target, in order.
func comparisons(r *Report, target string) []*Comparison {
	var out []*Comparison
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target {
			out = append(out, c)
		}
	}
	return out
}

// target prints what carries the verdicts of one target.
func (t *textWriter) target(r *Report, target string) {
	t.speedups(r, target)
	all := comparisons(r, target)
	for i, c := range all {
		if i == 0 || !t.opt.Brief {
			t.statement(c)
		}
	}
	shown := map[string]bool{} // causes and details that another mode has shown
	for _, c := range all {
		if !t.opt.Brief {
			t.paths(c, shown)
		}
		t.experiments(c)
	}
	if len(all) > 0 && !t.opt.Brief {
		if len(all[0].Narrative) > 0 {
			t.heading("Collector, allocator and scheduler: " + target + ", " + all[0].Mode + " mode")
		}
		for _, n := range all[0].Narrative {
			t.item(n, "  ")
		}
	}
}
