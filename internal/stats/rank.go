package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MedianInterval is an interval of the median between order statistics,
// interpolated to exactly 95% (Hettmansperger and Sheather 1986): without
// interpolation eight values give 93.0 or 99.2%. nil below MinBlocks.
func MedianInterval(values []float64) Interval {
	v := Finite(values)
	n := len(v)
	if n < MinBlocks {
		return nil
	}
	slices.Sort(v)
	// d is the largest depth whose interval [v[d-1], v[n-d]] still has 95%.
	cover := func(d int) float64 { return 1 - 2*binomialHalf(n, d-1) }
	d := 1
	for d+1 <= n/2 && cover(d+1) >= Confidence {
		d++
	}
	wide, narrow := cover(d), cover(d+1)
	if d+1 > n/2 || wide <= Confidence {
		return &[2]float64{v[d-1], v[n-d]}
	}
	i := (wide - Confidence) / (wide - narrow)
	l := float64(n-d) * i / (float64(d) + float64(n-2*d)*i)
	return &[2]float64{
		v[d-1] + l*(v[d]-v[d-1]),
		v[n-d] + l*(v[n-d-1]-v[n-d]),
	}
}

// binomialHalf is P(Binomial(n, 1/2) <= k).
func binomialHalf(n, k int) float64 {
	if k < 0 {
		return 0
	}
	return distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(k))
}

// SignedRank is the one-sided p-value of Wilcoxon's signed-rank test that the
// values lie above zero. Zeros are left out and ties share their rank; exact to
// 40 values, normal with a continuity correction above. 1 without values.
func SignedRank(values []float64) float64 {
	var v []float64
	for _, x := range Finite(values) {
		if x != 0 {
			v = append(v, x)
		}
	}
	n := len(v)
	if n == 0 {
		return 1
	}
	abs := make([]float64, n)
	for i, x := range v {
		abs[i] = math.Abs(x)
	}
	// Doubled ranks are whole numbers even where ties share one.
	ranks := doubledRanks(abs)
	w, total, squares := 0, 0, 0.0
	for i, x := range v {
		total += ranks[i]
		squares += float64(ranks[i]) * float64(ranks[i])
		if x > 0 {
			w += ranks[i]
		}
	}
	if n > 40 {
		return distuv.UnitNormal.Survival((float64(w) - 1 - float64(total)/2) / math.Sqrt(squares/4))
	}
	// ways[s] is the probability that the ranks with a plus add up to s.
	ways := make([]float64, total+1)
	ways[0] = 1
	for _, r := range ranks {
		for s := total; s >= 0; s-- {
			ways[s] /= 2
			if s >= r {
				ways[s] += ways[s-r] / 2
			}
		}
	}
	p := 0.0
	for s := w; s <= total; s++ {
		p += ways[s]
	}
	return min(p, 1)
}

// doubledRanks are twice the mid-ranks of values, from 2.
func doubledRanks(values []float64) []int {
	order := identity(len(values))
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	out := make([]int, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = i + 1 + j // (i+1 + j)/2, doubled
		}
		i = j
	}
	return out
}
