// Package export writes a pprof file, above all the loss profile, in the forms
// that flame-graph tools read: folded stacks, folded stacks of two columns, and
// speedscope's JSON.
//
// A loss profile has values below zero: call paths that cost less at the peak
// than at the base. No flame graph can draw a width below zero, so paths that
// grew and paths that shrank are kept apart, never added up into one picture.
package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Frame is one function of a call path.
type Frame struct {
	Name string
	File string // "" unknown
}

// Path is a call path and its value in the unit of the sample type.
type Path struct {
	Frames []Frame // root first
	Value  int64
}

// Options choose what is exported.
type Options struct {
	Sample string   // sample type; "" for the profile's default, else the last
	Roots  []string // labels that become the outermost frames, as pprof's -tagroot does
}

// sampleIndex finds a sample type by name.
func sampleIndex(p *profile.Profile, name string) (int, error) {
	if len(p.SampleType) == 0 {
		return 0, fmt.Errorf("the profile has no sample types")
	}
	if name == "" {
		name = p.DefaultSampleType
	}
	if name == "" {
		return len(p.SampleType) - 1, nil
	}
	var names []string
	for i, t := range p.SampleType {
		if t.Type == name {
			return i, nil
		}
		names = append(names, t.Type)
	}
	return 0, fmt.Errorf("the profile has no sample type %q; it has %s", name, strings.Join(names, ", "))
}

// paths adds up the values of equal call paths, several sample types at once,
// and leaves out paths that are 0 in all of them. Largest first value first.
func paths(p *profile.Profile, roots []string, types ...int) (frames [][]Frame, values [][]int64) {
	at := map[string]int{}
	var key strings.Builder
	for _, s := range p.Sample {
		path := framesOf(s, roots)
		key.Reset()
		for _, f := range path {
			key.WriteString(f.Name)
			key.WriteByte(0)
			key.WriteString(f.File)
			key.WriteByte(0)
		}
		i, ok := at[key.String()]
		if !ok {
			i = len(frames)
			at[key.String()] = i
			frames = append(frames, path)
			values = append(values, make([]int64, len(types)))
		}
		for k, t := range types {
			if t < len(s.Value) {
				values[i][k] += s.Value[t]
			}
		}
	}
	order := make([]int, 0, len(frames))
	for i := range frames {
		if slices.ContainsFunc(values[i], func(v int64) bool { return v != 0 }) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b][0], values[a][0]) })
	sortedFrames, sortedValues := make([][]Frame, len(order)), make([][]int64, len(order))
	for to, from := range order {
		sortedFrames[to], sortedValues[to] = frames[from], values[from]
	}
	return sortedFrames, sortedValues
}

// framesOf is a sample's call path, root first, inlined functions too.
func framesOf(s *profile.Sample, roots []string) []Frame {
	out := make([]Frame, 0, len(roots)+len(s.Location))
	for _, label := range roots {
		out = append(out, Frame{Name: report.Clean(label + "=" + labelOf(s, label))})
	}
	for i := len(s.Location) - 1; i >= 0; i-- {
		loc := s.Location[i]
		if loc == nil {
			continue
		}
		if len(loc.Line) == 0 {
			out = append(out, Frame{Name: fmt.Sprintf("0x%x", loc.Address)})
		}
		for k := len(loc.Line) - 1; k >= 0; k-- {
			f := Frame{Name: "?"}
			if fn := loc.Line[k].Function; fn != nil {
				f = Frame{Name: report.Clean(fn.Name), File: report.Clean(fn.Filename)}
			}
			if f.Name == "" {
				f.Name = "?"
			}
			out = append(out, f)
		}
	}
	if len(out) == len(roots) {
		out = append(out, Frame{Name: "(no stack)"})
	}
	return out
}

// labelOf is the value of a label, text or number.
func labelOf(s *profile.Sample, name string) string {
	if values := s.Label[name]; len(values) > 0 {
		return strings.Join(values, ",")
	}
	numbers := s.NumLabel[name]
	if len(numbers) == 0 {
		return "?"
	}
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(texts, ",")
}

// HasLabel reports whether any sample of the profile carries the label.
func HasLabel(p *profile.Profile, name string) bool {
	return slices.ContainsFunc(p.Sample, func(s *profile.Sample) bool {
		return len(s.Label[name]) > 0 || len(s.NumLabel[name]) > 0
	})
}
