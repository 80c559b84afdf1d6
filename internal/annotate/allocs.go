package annotate

import (
	"fmt"

	"github.com/google/pprof/profile"
)

// Allocated is an allocation profile of the window of one run.
type Allocated struct {
	Profile *profile.Profile // is not changed
	// Bytes and Objects are what runtime/metrics counted in the window, to which
	// the samples are scaled; 0 leaves them as they are.
	Bytes, Objects int64
}

// Allocs is what a cell's runs allocated, by call path and size (label bytes):
// one run's, as the average of several. What was in use is left out: the
// difference over a window says nothing of a program. Samples carry no cause,
// for an allocation costs time in many places.
func Allocs(c Cell, sources []Allocated) (*profile.Profile, error) {
	var parts []*profile.Profile
	for _, src := range sources {
		if src.Profile == nil {
			continue
		}
		p := src.Profile.Copy()
		if err := p.CheckValid(); err != nil {
			return nil, fmt.Errorf("allocation profile of %s: %w", c, err)
		}
		objects, space := valueIndex(p, "alloc_objects"), valueIndex(p, "alloc_space")
		if objects < 0 || space < 0 {
			return nil, fmt.Errorf("allocation profile of %s has no sample types alloc_objects and alloc_space", c)
		}
		kept := p.Sample[:0]
		for _, s := range p.Sample {
			n, bytes := s.Value[objects], s.Value[space]
			if n <= 0 || bytes <= 0 {
				continue // of before the window, when sampling was coarser than what was there
			}
			s.Value = []int64{n, bytes}
			if c.Threads > 0 {
				if s.NumLabel == nil {
					s.NumLabel = map[string][]int64{}
				}
				s.NumLabel[LabelThreads] = []int64{int64(c.Threads)}
				delete(s.NumUnit, LabelThreads)
			}
			kept = append(kept, s)
		}
		p.Sample = kept
		p.SampleType = []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
		if len(kept) == 0 {
			continue
		}
		if src.Objects > 0 {
			rescale(p, 0, src.Objects)
		}
		if src.Bytes > 0 {
			rescale(p, 1, src.Bytes)
		}
		p.Comments, p.DocURL, p.DefaultSampleType = nil, "", ""
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, ErrNoProfile
	}
	merged, err := profile.Merge(parts)
	if err != nil {
		return nil, fmt.Errorf("merging the allocation profiles of %s: %w", c, err)
	}
	if n := int64(len(parts)); n > 1 {
		for i := range merged.SampleType {
			rescale(merged, i, total(merged, i)/n)
		}
		merged.DurationNanos /= n
	}
	merged.DefaultSampleType = "alloc_space"
	c.comment(merged, "allocations in the window, scaled to what runtime/metrics counted", len(parts))
	return merged, nil
}
