package stats

import "math"

// Pair is one workload at two numbers of workers, base and peak, with the same
// total work. Base and Peak are wall times by block, NaN where a block lacks
// the run.
type Pair struct {
	BaseThreads, PeakThreads int
	Base, Peak               []float64
}

// Loss is what a Pair lost: slot times are workers times median wall.
type Loss struct {
	Blocks     int      // blocks that have both runs
	SlotBase   float64  // ns
	SlotPeak   float64  // ns
	Excess     Estimate // SlotPeak - SlotBase, ns (METHOD F2)
	Efficiency Estimate // SlotBase / SlotPeak (F1)
	Cores      Estimate // Excess / wall at peak (F3)
	// Within is the median of the blocks' own efficiencies with its
	// order-statistic interval. It is narrower than Efficiency's where whole
	// blocks were fast or slow; the two differ by noise only.
	Within Estimate
	// P is the one-sided p-value of "peak lost slot time", by signed ranks of the
	// blocks' log ratios, which no drift of the session touches; 1 without pairs.
	P float64
}

// Estimate computes the loss with bootstrap intervals. Intervals are nil unless
// base and peak both have MinBlocks observations.
func (p Pair) Estimate() Loss {
	var ratios, logs []float64
	for i := range min(len(p.Base), len(p.Peak)) {
		if e := p.efficiency(p.Base[i], p.Peak[i]); e > 0 && !math.IsInf(e, 0) {
			ratios = append(ratios, e)
			logs = append(logs, -math.Log(e))
		}
	}
	base, peak := Median(p.Base), Median(p.Peak)
	out := Loss{Blocks: len(ratios), P: SignedRank(logs)}
	out.SlotBase, out.SlotPeak = float64(p.BaseThreads)*base, float64(p.PeakThreads)*peak
	f := p.figures(base, peak)
	out.Excess, out.Efficiency, out.Cores = unknown(f[0]), unknown(f[1]), unknown(f[2])
	out.Within = unknown(Median(ratios))
	out.Within.CI = MedianInterval(ratios)
	if len(Finite(p.Base)) < MinBlocks || len(Finite(p.Peak)) < MinBlocks {
		return out
	}
	n := max(len(p.Base), len(p.Peak))
	wallBase, wallPeak := pad(p.Base, n), pad(p.Peak, n)
	var buf []float64
	iv := NewBootstrap(n, SeedOf(p.Base, p.Peak), Resamples).Many(func(idx []int) []float64 {
		var b, q float64
		b, buf = MedianOf(wallBase, idx, buf)
		q, buf = MedianOf(wallPeak, idx, buf)
		f := p.figures(b, q)
		return f[:]
	})
	for k, e := range []*Estimate{&out.Excess, &out.Efficiency, &out.Cores} {
		if iv != nil && !math.IsNaN(iv[k][0]) {
			e.CI = &iv[k]
		}
	}
	return out
}

func (p Pair) efficiency(base, peak float64) float64 {
	return float64(p.BaseThreads) * base / (float64(p.PeakThreads) * peak)
}

// figures are excess, efficiency and cores lost of two walls.
func (p Pair) figures(base, peak float64) [3]float64 {
	x := float64(p.PeakThreads)*peak - float64(p.BaseThreads)*base
	return [3]float64{x, p.efficiency(base, peak), x / peak}
}

// pad extends by missing observations.
func pad(v []float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
		if i < len(v) {
			out[i] = v[i]
		}
	}
	return out
}
