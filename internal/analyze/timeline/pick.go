package timeline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Selection names the cell to draw; zero values stand for the first target, thread
// mode where there is one, and the highest T.
type Selection struct {
	Target  string
	Mode    record.Mode
	Threads int
}

// Picked is the run that a Selection found.
type Picked struct {
	Cell    record.Cell
	Run     *record.Run
	Sources []Source
}

// ErrNoTrace says that a capture has no trace at all.
var ErrNoTrace = errors.New("the capture holds no execution trace, and a timeline is drawn from one")

// SelectionError says that the cell asked for has no trace, and which have.
type SelectionError struct{ text string }

func (e *SelectionError) Error() string { return e.text }

// maxTrace bounds a trace that is read, in bytes.
const maxTrace = 8 << 30

// Pick finds the first run with traces of all its processes in the selected cell.
func Pick(c *record.Capture, sel Selection) (*Picked, error) {
	var have []Picked
	for _, cell := range c.Manifest.Cells {
		if r := traced(c.Manifest, cell.ID); r != nil {
			have = append(have, Picked{Cell: cell, Run: r})
		}
	}
	if len(have) == 0 {
		return nil, ErrNoTrace
	}
	all := have
	have = slices.DeleteFunc(slices.Clone(have), func(p Picked) bool {
		return sel.Target != "" && p.Cell.Target != sel.Target || sel.Mode != "" && p.Cell.Mode != sel.Mode ||
			sel.Threads != 0 && p.Cell.Threads != sel.Threads
	})
	if len(have) == 0 {
		return nil, &SelectionError{fmt.Sprintf("no trace is of %s; there are traces of %s", sel, list(all))}
	}
	best := have[0]
	for _, p := range have[1:] {
		if p.Cell.Target != best.Cell.Target {
			continue
		}
		switch thread := p.Cell.Mode == record.Thread; {
		case thread && best.Cell.Mode != record.Thread, p.Cell.Mode == best.Cell.Mode && p.Cell.Threads > best.Cell.Threads:
			best = p
		}
	}
	for _, f := range best.Run.Find("trace") {
		best.Sources = append(best.Sources, source(c, best.Run, f))
	}
	return &best, nil
}

func traced(m *record.Manifest, cell string) *record.Run {
	for i := range m.Runs {
		r := &m.Runs[i]
		if n := len(r.Find("trace")); r.Cell == cell && r.Error == "" && n > 0 && n >= len(r.Processes) {
			return r
		}
	}
	return nil
}

func source(c *record.Capture, r *record.Run, f record.File) Source {
	s := Source{Open: func() (io.ReadCloser, error) {
		file, err := c.Open(f, maxTrace)
		if err != nil {
			return nil, err
		}
		return buffered{bufio.NewReaderSize(file, 1<<20), file}, nil
	}}
	for i := range r.Processes {
		if r.Processes[i].Process == f.Process {
			s.Input = lanes.Input{Result: &r.Processes[i]}
		}
	}
	return s
}

type buffered struct {
	io.Reader
	io.Closer
}

func (s Selection) String() string {
	var words []string
	if s.Target != "" {
		words = append(words, s.Target)
	}
	if s.Mode != "" {
		words = append(words, string(s.Mode)+" mode")
	}
	if s.Threads != 0 {
		words = append(words, fmt.Sprintf("T=%d", s.Threads))
	}
	return strings.Join(words, ", ")
}

// maxListed bounds the cells that an error names.
const maxListed = 8

func list(all []Picked) string {
	var out []string
	for i, p := range all {
		if i == maxListed {
			out = append(out, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s %s T=%d", p.Cell.Target, p.Cell.Mode, p.Cell.Threads))
	}
	return strings.Join(out, "; ")
}
