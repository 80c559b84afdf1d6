package model

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/stats"
)

// MinGain is the gain of an added core, in cores, below which adding it is
// called useless.
const MinGain = 0.1

// gains are the marginal gains and the T beyond which no added core gives
// MinGain: from a point on, the gain of every step and of all remaining steps
// together is below it, beyond noise where there is an interval. nil where the
// last step still gives as much.
func (c *curve) gains() ([]Gain, *int) {
	n := len(c.threads)
	out := make([]Gain, n)
	for i := range out {
		out[i] = Gain{Threads: c.threads[i], Value: math.NaN()}
		if i > 0 {
			out[i].Value, out[i].CI = c.gain(i-1, i)
		}
	}
	below := func(v float64, ci stats.Interval) bool {
		if ci != nil {
			return ci[1] < MinGain
		}
		return v < MinGain
	}
	at := n - 1
	for at > 0 && out[at].Value < MinGain && below(c.gain(at-1, n-1)) {
		at--
	}
	if at == n-1 {
		return out, nil
	}
	return out, &c.threads[at]
}

// gain is what each core added between points i and j gives, in cores of the
// first point.
func (c *curve) gain(i, j int) (float64, stats.Interval) {
	first := float64(c.threads[0])
	added := float64(c.threads[j] - c.threads[i])
	value := func(w0, wi, wj float64) float64 { return first * w0 * (1/wj - 1/wi) / added }
	v := value(c.median[0], c.median[i], c.median[j])
	if c.blocks < stats.MinBlocks {
		return v, nil
	}
	for _, k := range []int{0, i, j} {
		if len(stats.Finite(c.wall[k])) < stats.MinBlocks {
			return v, nil
		}
	}
	seed := stats.SeedOf(c.wall[0], c.wall[i], c.wall[j])
	var buf []float64
	return v, stats.NewBootstrap(c.blocks, seed, stats.Resamples).Interval(func(idx []int) float64 {
		var w0, wi, wj float64
		w0, buf = stats.MedianOf(c.wall[0], idx, buf)
		wi, buf = stats.MedianOf(c.wall[i], idx, buf)
		wj, buf = stats.MedianOf(c.wall[j], idx, buf)
		return value(w0, wi, wj)
	})
}
