package export

import (
	"fmt"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Loss reads the call paths of a loss profile for the report's flame graph.
func Loss(p *profile.Profile) ([]report.LossPath, error) {
	const label = "cause"
	base, err := sampleIndex(p, "base")
	if err != nil {
		return nil, fmt.Errorf("it is no loss profile: %w", err)
	}
	peak, err := sampleIndex(p, "peak")
	if err != nil {
		return nil, fmt.Errorf("it is no loss profile: %w", err)
	}
	frames, values := paths(p, []string{label}, peak, base)
	out := make([]report.LossPath, 0, len(frames))
	for i, path := range frames {
		l := report.LossPath{Cause: strings.TrimPrefix(path[0].Name, label+"="), PeakNS: values[i][0], BaseNS: values[i][1]}
		for _, f := range path[1:] {
			l.Frames = append(l.Frames, f.Name)
		}
		out = append(out, l)
	}
	return out, nil
}
