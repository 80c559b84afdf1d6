package gate

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Cell finds the gates that a cell breaks as a whole: how its timed repeats agree, and how much longer its
// profiled runs took. timed and profiled are wall times in ns for each operation, or of the same
// number of operations; NaN and missing ones are left out.
func Cell(timed, profiled []float64) []record.Gate {
	timed, profiled = stats.Finite(timed), stats.Finite(profiled)
	var out []record.Gate
	// Two modes explain a spread; both at once would say it twice.
	if modes := stats.Modes(timed); len(modes) == 2 {
		low, high := modes[0], modes[1]
		out = append(out, broken(TwoModes, (high-low)/stats.Median(timed), threshold(TwoModes),
			"low", duration(low), "high", duration(high)))
	} else if cv := stats.CV(timed); len(timed) >= 3 && cv > threshold(Spread) {
		limit := threshold(Spread)
		out = append(out, broken(Spread, cv, limit, "value", percent(cv), "limit", percent(limit)))
	}
	ratio := stats.Median(profiled) / stats.Median(timed)
	limit := threshold(Perturbation)
	if len(profiled) > 0 && len(timed) > 0 && ratio > limit && !math.IsInf(ratio, 0) {
		so := ""
		if ratio > perturbationBad {
			so = "; what they show is not what the timed runs do"
		}
		out = append(out, broken(Perturbation, ratio, limit,
			"value", fmt.Sprintf("%.2f", ratio), "limit", fmt.Sprintf("%.2f", limit), "so", so))
	}
	return out
}
