package export

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/google/pprof/profile"
)

// The file format of speedscope, https://www.speedscope.app/file-format-schema.json.
type (
	speedscopeFile struct {
		Schema   string              `json:"$schema"`
		Name     string              `json:"name"`
		Exporter string              `json:"exporter"`
		Active   int                 `json:"activeProfileIndex"`
		Shared   speedscopeShared    `json:"shared"`
		Profiles []speedscopeProfile `json:"profiles"`
	}

	speedscopeShared struct {
		Frames []speedscopeFrame `json:"frames"`
	}

	speedscopeFrame struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
	}

	speedscopeProfile struct {
		Type       string  `json:"type"`
		Name       string  `json:"name"`
		Unit       string  `json:"unit"`
		StartValue int64   `json:"startValue"`
		EndValue   int64   `json:"endValue"`
		Samples    [][]int `json:"samples"` // indices of frames, root first
		Weights    []int64 `json:"weights"`
	}
)

// Speedscope writes one profile for each sample type, the chosen one first and
// shown at once. A sample type with values below zero becomes two: what grew,
// and what shrank, by how much.
func Speedscope(w io.Writer, p *profile.Profile, name string, opt Options) error {
	first, err := sampleIndex(p, opt.Sample)
	if err != nil {
		return err
	}
	file := speedscopeFile{
		Schema: "https://www.speedscope.app/file-format-schema.json", Name: name, Exporter: "scaleprof",
	}
	order := []int{first}
	for i := range p.SampleType {
		if i != first {
			order = append(order, i)
		}
	}
	index := map[Frame]int{}
	for _, at := range order {
		typ := p.SampleType[at]
		frames, values := paths(p, opt.Roots, at)
		grew := speedscopeProfile{Type: "sampled", Name: typ.Type, Unit: speedscopeUnit(typ.Unit), Samples: [][]int{}, Weights: []int64{}}
		shrank := grew
		for i, path := range frames {
			into, weight := &grew, values[i][0]
			if weight < 0 {
				into, weight = &shrank, -weight
			}
			into.Samples = append(into.Samples, file.Shared.intern(index, path))
			into.Weights = append(into.Weights, weight)
			into.EndValue += weight
		}
		if len(shrank.Samples) > 0 {
			grew.Name, shrank.Name = typ.Type+": what grew", typ.Type+": what shrank, by how much"
			slices.Reverse(shrank.Samples) // largest first, too
			slices.Reverse(shrank.Weights)
			file.Profiles = append(file.Profiles, grew, shrank)
			continue
		}
		file.Profiles = append(file.Profiles, grew)
	}
	if file.Shared.Frames == nil {
		file.Shared.Frames = []speedscopeFrame{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(&file)
}

// intern gives the indices of a path's frames, adding those that are new.
func (s *speedscopeShared) intern(index map[Frame]int, path []Frame) []int {
	out := make([]int, len(path))
	for i, f := range path {
		at, ok := index[f]
		if !ok {
			at = len(s.Frames)
			index[f] = at
			s.Frames = append(s.Frames, speedscopeFrame(f))
		}
		out[i] = at
	}
	return out
}

// speedscopeUnit is the unit by the name that speedscope knows it by.
func speedscopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		return unit
	}
	return "none"
}
