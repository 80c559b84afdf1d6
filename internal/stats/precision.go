package stats

import "math"

// HalfWidth is half of an interval's width, NaN where there is none.
func HalfWidth(ci Interval) float64 {
	if ci == nil {
		return math.NaN()
	}
	return (ci[1] - ci[0]) / 2
}

// BlocksNeeded is how many blocks in all would bring an interval of half-width
// width, reached with blocks, to the half-width want: n0 (w0/w)^2 (METHOD 6.2).
// It is at least MinBlocks, and MinBlocks where there is no interval yet. It is
// an extrapolation from a noisy width: ask again after a few more blocks.
func BlocksNeeded(blocks int, width, want float64) int {
	if math.IsNaN(width) || math.IsInf(width, 0) || blocks < MinBlocks || want <= 0 {
		return max(MinBlocks, blocks)
	}
	n := math.Ceil(float64(blocks)*(width/want)*(width/want) - 1e-9)
	return max(MinBlocks, int(math.Min(n, 1e6)))
}
