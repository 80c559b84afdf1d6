package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Observation is one timed run of a session.
type Observation struct {
	Seq   int    // order in which runs were made
	Cell  string // runs of one cell are comparable
	Value float64
}

// Drift says whether a session's runs became slower or faster as it went on.
type Drift struct {
	N      int
	Change float64 // relative change from first run to last, Theil-Sen slope of log time; NaN below 3 runs
	P      float64 // two-sided, Mann-Kendall; 1 where it cannot be told
}

// Drifted reports a change of more than threshold that chance does not explain.
func (d Drift) Drifted(threshold float64) bool {
	return d.P <= Alpha && math.Abs(d.Change) > threshold
}

// SessionDrift tests all runs of a session together: each is taken relative to
// its cell's median, then put in the order in which the runs were made. Cells
// with one run say nothing and are left out.
func SessionDrift(runs []Observation) Drift {
	cells := make(map[string][]float64)
	for _, r := range runs {
		cells[r.Cell] = append(cells[r.Cell], r.Value)
	}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Observation) int { return a.Seq - b.Seq })
	var v []float64
	for _, r := range runs {
		m := Median(cells[r.Cell])
		if len(Finite(cells[r.Cell])) > 1 && r.Value > 0 && m > 0 && !math.IsInf(r.Value, 0) {
			v = append(v, math.Log(r.Value/m))
		}
	}
	return trend(v)
}

// trend tests values in their order, log ratios each.
func trend(v []float64) Drift {
	n := len(v)
	d := Drift{N: n, Change: math.NaN(), P: 1}
	if n < 3 {
		return d
	}
	s := 0
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range v {
		for j := i + 1; j < n; j++ {
			switch {
			case v[j] > v[i]:
				s++
			case v[j] < v[i]:
				s--
			}
			slopes = append(slopes, (v[j]-v[i])/float64(j-i))
		}
	}
	d.Change = math.Expm1(Median(slopes) * float64(n-1))
	d.P = kendall(v, s)
	return d
}

// kendall is the two-sided p-value of the concordant minus discordant pairs s
// of v: exact for up to 10 values without ties, else normal with tie and
// continuity corrections.
func kendall(v []float64, s int) float64 {
	n := len(v)
	sorted := slices.Sorted(slices.Values(v))
	ties := 0.0
	for i := 0; i < n; {
		j := i
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		ties += t * (t - 1) * (2*t + 5)
		i = j
	}
	abs := s
	if abs < 0 {
		abs = -abs
	}
	if n <= 10 && ties == 0 {
		return kendallExact(n, abs)
	}
	f := float64(n)
	sd := math.Sqrt((f*(f-1)*(2*f+5) - ties) / 18)
	if sd == 0 || abs == 0 {
		return 1
	}
	return min(1, 2*distuv.UnitNormal.Survival((float64(abs)-1)/sd))
}

// kendallExact is P(|S| >= s) over all orders of n different values, by the
// usual recurrence over the number of inversions.
func kendallExact(n, s int) float64 {
	pairs := n * (n - 1) / 2
	p := make([]float64, pairs+1) // p[k]: probability of k inversions
	p[0] = 1
	for m := 2; m <= n; m++ {
		next := make([]float64, pairs+1)
		for k := range p {
			for j := 0; j < m && k+j <= pairs; j++ {
				next[k+j] += p[k] / float64(m)
			}
		}
		p = next
	}
	sum := 0.0
	for k, v := range p {
		if d := pairs - 2*k; d >= s || -d >= s {
			sum += v
		}
	}
	return min(1, sum)
}
