package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Bootstrap holds one set of resamples of blocks, drawn once. Every statistic
// that is asked for sees the same resamples: rows that add up do so in each.
//
// Its intervals are percentile intervals, widened by sqrt(n/(n-1)) in units of
// the normal quantile because resampling n blocks understates their variance by
// that much. For ratios of medians they cover 93 to 99% from six blocks on,
// under slow outliers, drift and two modes (the package's simulations); BCa was
// tried and falls to 80% under drift, as its acceleration means nothing for
// medians.
type Bootstrap struct {
	blocks int
	idx    [][]int
}

// NewBootstrap draws n resamples of blocks, each of blocks indices.
func NewBootstrap(blocks int, seed uint64, n int) *Bootstrap {
	return &Bootstrap{blocks: blocks, idx: draw(blocks, n, rand.New(rand.NewPCG(seed, 0x5ca1e)))}
}

func draw(blocks, n int, r *rand.Rand) [][]int {
	if blocks <= 0 || n <= 0 {
		return nil
	}
	all := make([]int, blocks*n)
	for i := range all {
		all[i] = r.IntN(blocks)
	}
	return slices.Collect(slices.Chunk(all, blocks))
}

// Blocks is the number of blocks that are resampled.
func (b *Bootstrap) Blocks() int { return b.blocks }

// Each calls f with each resample's block indices, always in the same order. f
// must not keep or change idx.
func (b *Bootstrap) Each(f func(idx []int)) {
	for _, idx := range b.idx {
		f(idx)
	}
}

// Interval is the 95% interval of stat; nil below MinBlocks, or where stat is
// not finite for more than a tenth of the resamples.
func (b *Bootstrap) Interval(stat func(idx []int) float64) Interval {
	iv := b.Many(func(idx []int) []float64 { return []float64{stat(idx)} })
	if iv == nil || math.IsNaN(iv[0][0]) {
		return nil
	}
	return &iv[0]
}

// Many is Interval for several statistics at once, as Interval would give for
// each. nil below MinBlocks; an interval of two NaNs stands for one that cannot
// be given.
func (b *Bootstrap) Many(stat func(idx []int) []float64) [][2]float64 {
	if b.blocks < MinBlocks || len(b.idx) == 0 {
		return nil
	}
	var cols [][]float64
	b.Each(func(idx []int) {
		for k, v := range stat(idx) {
			if k == len(cols) {
				cols = append(cols, make([]float64, 0, len(b.idx)))
			}
			cols[k] = append(cols[k], v)
		}
	})
	out := make([][2]float64, len(cols))
	tail := tailMass(b.blocks)
	for k, c := range cols {
		out[k] = percentiles(c, tail)
	}
	return out
}

// tailMass is the probability left out on each side by the widened percentile
// interval of n blocks.
func tailMass(n int) float64 {
	z := distuv.UnitNormal.Quantile(0.5 + Confidence/2)
	return distuv.UnitNormal.CDF(-z * math.Sqrt(float64(n)/float64(n-1)))
}

// percentiles are the tail and 1-tail quantiles of the finite values, NaN where
// more than a tenth is not finite.
func percentiles(values []float64, tail float64) [2]float64 {
	v := Finite(values)
	if len(v) == 0 || 10*len(v) < 9*len(values) {
		return [2]float64{math.NaN(), math.NaN()}
	}
	slices.Sort(v)
	return [2]float64{Quantile(v, tail), Quantile(v, 1-tail)}
}

// Quantile is the p-quantile of sorted values by linear interpolation at
// p(n+1), clamped to the range.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := p*float64(n+1) - 1
	i := int(math.Floor(h))
	switch {
	case i < 0:
		return sorted[0]
	case i >= n-1:
		return sorted[n-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}
