package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Bench writes the timings in the Go benchmark format, a line for each cell, so
// that `benchstat -col /threads@num` works on it. The values are the cell's
// medians and what follows from them; iterations are the operations of a run.
func Bench(w io.Writer, r *Report) error {
	r = cleaned(r)
	if _, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\n", orUnknown(r.Host.OS), orUnknown(r.Host.Arch)); err != nil {
		return err
	}
	if r.Host.CPU != "" {
		if _, err := fmt.Fprintf(w, "cpu: %s\n", oneLine(r.Host.CPU)); err != nil {
			return err
		}
	}
	for _, s := range r.Series {
		for _, p := range s.Points {
			if p.Ops <= 0 {
				continue
			}
			name := fmt.Sprintf("Benchmark%s/mode=%s/threads=%d", benchName(s.Target), s.Mode, p.Threads)
			if s.Arm != "baseline" {
				name = fmt.Sprintf("Benchmark%s/mode=%s/arm=%s/threads=%d", benchName(s.Target), s.Mode, benchWord(s.Arm), p.Threads)
			}
			if p.Procs > 1 {
				name += fmt.Sprintf("-%d", p.Procs)
			}
			line := fmt.Sprintf("%s\t%d\t%.6g ns/op", name, p.Ops, float64(p.WallNS)/float64(p.Ops))
			line += fmt.Sprintf("\t%.6g slot-ns/op", float64(p.WallNS)*float64(p.Threads)/float64(p.Ops))
			if p.CPUNS != nil {
				line += fmt.Sprintf("\t%.6g cpu-ns/op", float64(*p.CPUNS)/float64(p.Ops))
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return oneLine(s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// benchName turns json/sonic into JSONSonic: a benchmark's name starts with an
// upper-case letter and holds no blank.
func benchName(target string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(target, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if word == "json" {
			b.WriteString("JSON")
			continue
		}
		r := []rune(word)
		b.WriteRune(unicode.ToUpper(r[0]))
		b.WriteString(string(r[1:]))
	}
	if b.Len() == 0 {
		return "X"
	}
	return b.String()
}

func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, s)
}
