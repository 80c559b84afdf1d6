package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/host/kernel"
	"github.com/scaleprof/scaleprof/internal/record"
)

// TextOptions say what the terminal can show.
type TextOptions struct {
	Width int // columns
	Color bool
}

// Text writes the report for a person: each fact, what it means, what to change.
func (r *Report) Text(w io.Writer, opt TextOptions) error {
	opt.Width = max(opt.Width, 40)
	var b strings.Builder
	title := []string{r.Host.OS + "/" + r.Host.Arch}
	if r.Host.CPU != "" {
		title = append([]string{r.Host.CPU}, title...)
	}
	if r.Host.Kernel != "" {
		title = append(title, "kernel "+r.Host.Kernel)
	}
	for _, line := range wrap(printable(strings.Join(title, ", ")), opt.Width) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b)
	for _, f := range r.Findings {
		writeFinding(&b, f, opt)
	}
	r.writePlaces(&b, opt)
	writeCeiling(&b, r.Ceiling)
	fmt.Fprintln(&b)
	switch bad, notes := r.Bad(), r.count(host.Note); {
	case bad > 0:
		fmt.Fprintf(&b, "%s to change before measuring, %d to know\n", things(bad), notes)
	case notes > 0:
		fmt.Fprintf(&b, "fit for measuring; %s to know when reading the figures\n", things(notes))
	default:
		fmt.Fprintln(&b, "fit for measuring")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return fmt.Sprintf("%d things", n)
}

// Columns before the text: the level, and the fact's name.
const (
	levelColumn = 6
	indent      = levelColumn + 12
)

func writeFinding(b *strings.Builder, f host.Finding, opt TextOptions) {
	color := text.Colors{}
	level := string(f.Level)
	switch f.Level {
	case host.Bad:
		level, color = "BAD", text.Colors{text.FgRed, text.Bold}
	case host.Note:
		color = text.Colors{text.FgYellow}
	case host.OK:
		color = text.Colors{text.FgGreen}
	}
	head := fmt.Sprintf("%-*s%-*s", levelColumn, level, indent-levelColumn, f.ID)
	if opt.Color {
		head = color.EscapeSeq() + head + text.EscapeReset
	}
	pad := strings.Repeat(" ", indent)
	for i, line := range wrap(printable(f.Fact), opt.Width-indent) {
		if i > 0 {
			head = pad
		}
		fmt.Fprintln(b, head+line)
	}
	for _, line := range wrap(printable(f.Meaning), opt.Width-indent) {
		fmt.Fprintln(b, pad+line)
	}
	if f.Fix != "" && f.Level != host.OK {
		for _, line := range wrap("-> "+printable(f.Fix), opt.Width-indent) {
			fmt.Fprintln(b, pad+line)
		}
	}
}

func (r *Report) writePlaces(b *strings.Builder, opt TextOptions) {
	var parts []string
	for _, p := range r.Places {
		parts = append(parts, fmt.Sprintf("T=%d (%s)", p.Threads, p.Name))
	}
	if len(parts) == 0 {
		return
	}
	fmt.Fprintln(b)
	for _, line := range wrap("the machine itself may bend a curve at "+strings.Join(parts, ", "), opt.Width) {
		fmt.Fprintln(b, line)
	}
}

// writeCeiling lists each kernel's speed-up over T=1.
func writeCeiling(b *strings.Builder, runs []record.KernelRun) {
	if len(runs) == 0 {
		return
	}
	fmt.Fprint(b, "\nceiling: what this machine gives to code that shares nothing\n")
	one := map[string]record.KernelRun{}
	var threads []int
	for _, k := range runs {
		if k.Threads == 1 {
			one[k.Kernel] = k
		}
		if len(threads) == 0 || threads[len(threads)-1] != k.Threads {
			threads = append(threads, k.Threads)
		}
	}
	fmt.Fprintf(b, "  %-8s", "")
	for _, t := range threads {
		fmt.Fprintf(b, "%10s", fmt.Sprintf("T=%d", t))
	}
	fmt.Fprintf(b, "%14s\n", "ns/op at T=1")
	for _, name := range kernel.Names() {
		base, ok := one[name]
		if !ok || base.Ops == 0 || base.WallNS == 0 {
			continue
		}
		fmt.Fprintf(b, "  %-8s", name)
		for _, k := range runs {
			if k.Kernel == name && k.WallNS > 0 {
				fmt.Fprintf(b, "%10.2f", float64(k.Ops)/float64(k.WallNS)/(float64(base.Ops)/float64(base.WallNS)))
			}
		}
		fmt.Fprintf(b, "%14.2f\n", float64(base.WallNS)/float64(base.Ops))
	}
	fmt.Fprintln(b, "  (atomic shares one word on purpose: what that costs)")
}

// wrap breaks a text at spaces into lines of at most width columns; a longer word, such as
// a path that must stay whole to be copied, has a line of its own.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// printable keeps a hostile file's bytes from reaching a terminal as commands.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}
