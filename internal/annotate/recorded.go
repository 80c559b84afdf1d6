package annotate

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/classify"
)

// Source is a profile of one process in one run.
type Source struct {
	Profile *profile.Profile // is not changed
	Process int              // index in process mode, -1 in thread mode
	// CPUNS is the CPU time of the process in the window as the system counted
	// it (rusage), to which CPU samples are scaled; 0 leaves them as they are.
	CPUNS int64
}

// CPU annotates CPU profiles of a cell's runs. There are runs of them, each
// with one source or, in process mode, several.
func CPU(c Cell, runs int, sources []Source) (*profile.Profile, error) {
	return c.recorded("CPU time by cause", "cpu", runs, sources, classify.Stack)
}

// Mutex annotates mutex profiles: waiting, at the code that unlocked.
func Mutex(c Cell, runs int, sources []Source) (*profile.Profile, error) {
	return c.recorded("mutex waiting by cause, at the code that unlocked", "delay", runs, sources, classify.Stack)
}

// Block annotates block profiles: waiting, at the code that waited.
func Block(c Cell, runs int, sources []Source) (*profile.Profile, error) {
	return c.recorded("waiting by cause, at the code that waited", "delay", runs, sources, waiting)
}

// Wall annotates wall-clock profiles of all goroutines.
func Wall(c Cell, runs int, sources []Source) (*profile.Profile, error) {
	return c.recorded("wall-clock time of all goroutines by cause", "time", runs, sources, classify.Parked)
}

// waiting is the cause of a wait that a profile without reasons recorded.
func waiting(n int, frame func(int) string) cause.ID {
	if id := classify.WaitCause("", n, frame); id != cause.Unexplained {
		return id
	}
	return classify.Stack(n, frame)
}

// ErrNoProfile is the error of making a file of nothing.
var ErrNoProfile = errors.New("there is no profile to annotate")

// recorded labels the samples of profiles, averages them over runs and merges
// them. value names the sample type that is a time.
func (c Cell) recorded(what, value string, runs int, sources []Source, classify func(int, func(int) string) cause.ID) (*profile.Profile, error) {
	if len(sources) == 0 || runs < 1 {
		return nil, ErrNoProfile
	}
	var parts []*profile.Profile
	for _, src := range sources {
		if src.Profile == nil {
			continue
		}
		p := src.Profile.Copy()
		if err := p.CheckValid(); err != nil {
			return nil, fmt.Errorf("profile of %s: %w", c, err)
		}
		at := valueIndex(p, value)
		if at < 0 {
			return nil, fmt.Errorf("profile of %s has no sample type %q", c, value)
		}
		if src.CPUNS > 0 {
			rescale(p, at, src.CPUNS)
		}
		c.labelAll(p, src.Process, classify)
		// Comments and names of the parts would pile up in the merge.
		p.Comments, p.DocURL = nil, ""
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, ErrNoProfile
	}
	merged, err := profile.Merge(parts)
	if err != nil {
		return nil, fmt.Errorf("merging the profiles of %s: %w", c, err)
	}
	if runs > 1 {
		for i, t := range merged.SampleType {
			// Counts stay sums: they say how much the figures rest on.
			if t.Unit == "nanoseconds" {
				rescale(merged, i, total(merged, i)/int64(runs))
			}
		}
	}
	// The merge added durations up; the file shows one window's.
	merged.DurationNanos /= int64(len(parts))
	merged.DefaultSampleType = value
	c.comment(merged, what, runs)
	return merged, nil
}

func (c Cell) labelAll(p *profile.Profile, process int, classify func(int, func(int) string) cause.ID) {
	var buf []string
	for _, s := range p.Sample {
		buf = names(s, buf)
		c.label(s, classify(len(buf), func(i int) string { return buf[i] }))
		if process >= 0 {
			s.NumLabel[LabelProcess] = []int64{int64(process)}
		}
		// A label that the program set itself may hold anything; ours are the
		// only numbers that pprof is to read as such.
		for k, v := range s.NumUnit {
			if len(v) != len(s.NumLabel[k]) {
				delete(s.NumUnit, k)
			}
		}
	}
}

// rescale makes one of the sample types add up to a total.
func rescale(p *profile.Profile, at int, want int64) {
	values := make([]int64, len(p.Sample))
	for i, s := range p.Sample {
		values[i] = s.Value[at]
	}
	for i, v := range apportion(values, want) {
		p.Sample[i].Value[at] = v
	}
}

func total(p *profile.Profile, at int) int64 {
	var sum int64
	for _, s := range p.Sample {
		sum += s.Value[at]
	}
	return sum
}

// Headline is what CPU profiles say in a line: the largest causes with their shares.
func Headline(p *profile.Profile) string {
	at := valueIndex(p, p.DefaultSampleType)
	if at < 0 {
		return ""
	}
	byCause, sum := map[string]int64{}, int64(0)
	for _, s := range p.Sample {
		for _, id := range s.Label[LabelCause] {
			byCause[id] += s.Value[at]
			sum += s.Value[at]
		}
	}
	if sum <= 0 {
		return ""
	}
	text := ""
	for range 4 {
		best := ""
		for id, v := range byCause {
			if v > 0 && (best == "" || v > byCause[best] || v == byCause[best] && id < best) {
				best = id
			}
		}
		if best == "" || byCause[best]*50 < sum {
			break
		}
		if text != "" {
			text += ", "
		}
		text += best + " " + strconv.FormatInt((100*byCause[best]+sum/2)/sum, 10) + "%"
		delete(byCause, best)
	}
	return text
}
