package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"
)

// Left says what a format could not show.
type Left struct {
	Paths int   // call paths left out
	Sum   int64 // of their values, below zero, or above for Shrunk
	Unit  string
}

// Folded writes one line for each call path, "root;…;leaf value", as
// flamegraph.pl, inferno and most viewers read it. Of a profile with values
// below zero it writes the paths above zero, or, with shrunk, those below zero
// with their size, and returns what it left out.
func Folded(w io.Writer, p *profile.Profile, opt Options, shrunk bool) (Left, error) {
	index, err := sampleIndex(p, opt.Sample)
	if err != nil {
		return Left{}, err
	}
	left := Left{Unit: p.SampleType[index].Unit}
	out := bufio.NewWriter(w)
	frames, values := paths(p, opt.Roots, index)
	for i, path := range frames {
		value := values[i][0]
		if (value < 0) != shrunk {
			left.Paths++
			left.Sum += value
			continue
		}
		if shrunk {
			value = -value
		}
		writeFolded(out, path)
		fmt.Fprintf(out, " %d\n", value)
	}
	return left, out.Flush()
}

// DiffFolded writes two values for each call path, base then peak, which
// flamegraph.pl draws as a differential flame graph: red where the peak costs
// more, blue where less. Nothing is left out.
func DiffFolded(w io.Writer, p *profile.Profile, roots []string) error {
	base, err := sampleIndex(p, "base")
	if err != nil {
		return fmt.Errorf("only a loss profile has two sides to compare: %w", err)
	}
	peak, err := sampleIndex(p, "peak")
	if err != nil {
		return fmt.Errorf("only a loss profile has two sides to compare: %w", err)
	}
	out := bufio.NewWriter(w)
	frames, values := paths(p, roots, peak, base)
	for i, path := range frames {
		if values[i][0] < 0 || values[i][1] < 0 {
			return fmt.Errorf("a call path costs less than nothing: %d at the base, %d at the peak", values[i][1], values[i][0])
		}
		writeFolded(out, path)
		fmt.Fprintf(out, " %d %d\n", values[i][1], values[i][0])
	}
	return out.Flush()
}

// writeFolded writes a path without what separates frames and lines.
func writeFolded(w *bufio.Writer, path []Frame) {
	clean := strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
	for i, f := range path {
		if i > 0 {
			_ = w.WriteByte(';') // Flush returns the error
		}
		_, _ = clean.WriteString(w, f.Name)
	}
}
