package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Bench writes the timings in the Go benchmark format, a line for each timed run,
// so that `benchstat -col /threads@num` has its samples. Where the report has no
// single runs, the line is the cell's median. Iterations are the operations of a run.
func Bench(w io.Writer, r *Report) error {
	r = cleaned(r)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\n", orUnknown(r.Host.OS), orUnknown(r.Host.Arch))
	if r.Host.CPU != "" {
		fmt.Fprintf(out, "cpu: %s\n", oneLine(r.Host.CPU))
	}
	for _, s := range r.Series {
		for _, p := range s.Points {
			if p.Ops <= 0 {
				continue
			}
			name := "Benchmark" + benchName(s.Target) + "/mode=" + benchWord(s.Mode)
			if s.Arm != "baseline" {
				name += "/arm=" + benchWord(s.Arm)
			}
			name += fmt.Sprintf("/threads=%d", p.Threads)
			if p.Procs > 1 {
				name += fmt.Sprintf("-%d", p.Procs)
			}
			walls, cpus := p.WallsNS, p.CPUsNS
			if len(walls) == 0 {
				walls, cpus = []int64{p.WallNS}, nil
				if p.CPUNS != nil {
					cpus = []int64{*p.CPUNS}
				}
			}
			perOp := func(ns int64) float64 { return float64(ns) / float64(p.Ops) }
			for i, wall := range walls {
				fmt.Fprintf(out, "%s\t%d\t%.6g ns/op\t%.6g slot-ns/op", name, p.Ops, perOp(wall), perOp(wall)*float64(p.Threads))
				if len(cpus) == len(walls) {
					fmt.Fprintf(out, "\t%.6g cpu-ns/op", perOp(cpus[i]))
				}
				fmt.Fprintln(out)
			}
		}
	}
	return out.Flush()
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
