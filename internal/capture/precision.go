package capture

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// seriesKey names the observations whose efficiencies belong together.
type seriesKey struct {
	target string
	mode   record.Mode
}

// widest is the largest half-width of the 95% intervals of all efficiencies of
// the baseline so far, each relative to the series' smallest T; NaN while an
// interval is missing, 0 where there is only one T.
func widest(m *record.Manifest, blocks int) float64 {
	walls := make(map[seriesKey]map[int][]float64)
	cells := make(map[string]record.Cell, len(m.Cells))
	for _, c := range m.Cells {
		if c.Arm != record.Baseline || len(m.Runs) > 0 && !succeeded(m, c.ID) {
			continue
		}
		cells[c.ID] = c
		key := seriesKey{c.Target, c.Mode}
		if walls[key] == nil {
			walls[key] = make(map[int][]float64)
		}
		missing := make([]float64, blocks)
		for i := range missing {
			missing[i] = math.NaN()
		}
		walls[key][c.Threads] = missing
	}
	for i := range m.Runs {
		r := &m.Runs[i]
		c, ok := cells[r.Cell]
		if !ok || r.Kind != record.Timed || r.Error != "" || r.Block >= blocks || r.Block < 0 {
			continue
		}
		row := walls[seriesKey{c.Target, c.Mode}][c.Threads]
		// A repeat of a disturbed run takes its place if it is clean itself.
		if math.IsNaN(row[r.Block]) || len(r.Gates) == 0 {
			row[r.Block] = float64(r.WallNS)
		}
	}
	most := 0.0
	for _, byT := range walls {
		base := math.MaxInt
		for t := range byT {
			base = min(base, t)
		}
		for t, peak := range byT {
			if t == base {
				continue
			}
			w := efficiencyWidth(base, byT[base], t, peak)
			if math.IsNaN(w) {
				return w
			}
			most = max(most, w)
		}
	}
	return most
}

// succeeded says whether a cell has any observation.
func succeeded(m *record.Manifest, cell string) bool {
	for i := range m.Runs {
		if r := &m.Runs[i]; r.Cell == cell && r.Kind == record.Timed && r.Error == "" {
			return true
		}
	}
	return false
}

// efficiencyWidth is the half-width of the interval of
// E = (p t_p)/(q t_q), medians over the blocks (METHOD F1).
func efficiencyWidth(p int, base []float64, q int, peak []float64) float64 {
	b := stats.NewBootstrap(len(base), stats.SeedOf(base, peak), stats.Resamples)
	var buf []float64
	return stats.HalfWidth(b.Interval(func(idx []int) float64 {
		var tp, tq float64
		tp, buf = stats.MedianOf(base, idx, buf)
		tq, buf = stats.MedianOf(peak, idx, buf)
		return float64(p) * tp / (float64(q) * tq)
	}))
}
