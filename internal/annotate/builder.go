package annotate

import (
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Weighted is time at a call path.
type Weighted struct {
	Frames []lanes.Frame // leaf first; may be empty
	Cause  cause.ID
	State  string
	NS     int64
}

// builder makes a profile from call paths that no profile holds yet.
type builder struct {
	p         *profile.Profile
	functions map[[2]string]*profile.Function
	locations map[lanes.Frame]*profile.Location
	samples   map[string]*profile.Sample
}

func newBuilder(types ...*profile.ValueType) *builder {
	return &builder{
		p:         &profile.Profile{SampleType: types, DefaultSampleType: types[0].Type},
		functions: map[[2]string]*profile.Function{},
		locations: map[lanes.Frame]*profile.Location{},
		samples:   map[string]*profile.Sample{},
	}
}

// standIn is the frame of time that has no call path, so that pprof shows it.
func standIn(id cause.ID) []lanes.Frame {
	return []lanes.Frame{{Func: "(" + string(id) + ")"}}
}

// add adds values at a call path. Samples of equal path, cause and state are one.
func (b *builder) add(c Cell, frames []lanes.Frame, id cause.ID, state string, values ...int64) {
	if len(frames) == 0 {
		frames = standIn(id)
	}
	key := sampleKey(frames, id, state)
	s := b.samples[key]
	if s == nil {
		s = &profile.Sample{Value: make([]int64, len(values)), Location: make([]*profile.Location, len(frames))}
		for i, f := range frames {
			s.Location[i] = b.location(f)
		}
		c.label(s, id)
		if state != "" {
			s.Label[LabelState] = []string{state}
		}
		b.samples[key] = s
		b.p.Sample = append(b.p.Sample, s)
	}
	for i, v := range values {
		s.Value[i] += v
	}
}

// sampleKey is equal for samples that differ in nothing but their values.
// Addresses count only at the leaf, where -disasm and -list need them: further
// out they differ by call instruction, which the line tells well enough.
func sampleKey(frames []lanes.Frame, id cause.ID, state string) string {
	var b strings.Builder
	b.WriteString(string(id))
	b.WriteByte(0)
	b.WriteString(state)
	for i, f := range frames {
		b.WriteByte(0)
		b.WriteString(f.Func)
		b.WriteByte(0)
		b.WriteString(f.File)
		b.WriteByte(0)
		b.WriteString(strconv.Itoa(f.Line))
		if i == 0 {
			b.WriteByte(0)
			b.WriteString(strconv.FormatUint(f.PC, 16))
		}
	}
	return b.String()
}

func (b *builder) location(f lanes.Frame) *profile.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	fn := b.functions[[2]string{f.Func, f.File}]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File}
		b.functions[[2]string{f.Func, f.File}] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Address: f.PC, Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
	b.locations[f] = l
	b.p.Location = append(b.p.Location, l)
	return l
}

// framesOf turns a recorded call path into frames.
func framesOf(s *profile.Sample) []lanes.Frame {
	var out []lanes.Frame
	for _, l := range s.Location {
		if l == nil {
			continue
		}
		if len(l.Line) == 0 {
			out = append(out, lanes.Frame{Func: "?", PC: l.Address})
		}
		for _, line := range l.Line {
			f := lanes.Frame{Line: int(line.Line), PC: l.Address}
			if line.Function != nil {
				f.Func, f.File = line.Function.Name, line.Function.Filename
			}
			out = append(out, f)
		}
	}
	return out
}

func nanoseconds(name string) *profile.ValueType {
	return &profile.ValueType{Type: name, Unit: "nanoseconds"}
}
