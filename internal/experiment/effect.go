// Package experiment computes what arms prove: the effect of changing one
// suspect as a difference in differences, its agreement with attribution, the
// dose and response of GOGC, Shapley shares of arms that were combined, and the
// efficiency that a program would have without a cause.
//
// Everything is computed from slot times by block and with resamples of whole
// blocks, so that an arm is only ever compared with the baseline of the same
// block.
package experiment

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Slots are slot times (T times wall, ns) by block at base and peak, NaN where a
// block lacks the run.
type Slots struct{ Base, Peak []float64 }

// Contrast is an arm beside the baseline, the same total work in all four cells.
type Contrast struct {
	BaseThreads, PeakThreads int
	Baseline, Arm            Slots
}

// Effect is what an arm changed.
type Effect struct {
	Blocks int // blocks that have all four runs
	// NS is the slot time that the arm recovers from scaling (METHOD F10):
	// (S_peak - S_base) - (S_peak^arm - S_base^arm). What the arm costs or saves at
	// every T alike cancels.
	NS stats.Estimate
	// Cores is NS over the baseline's wall time at peak.
	Cores stats.Estimate
	// Efficiency is the arm's own, S_base^arm / S_peak^arm.
	Efficiency stats.Estimate
	// Potential is the baseline's efficiency without the effect:
	// S_base / (S_peak - NS).
	Potential stats.Estimate
}

// complete cuts series to the blocks that all of them have. With fewer than
// stats.MinBlocks such blocks the series stay as they are: medians can still be
// compared, though not block by block, and no interval is given.
func complete(series ...[]float64) (cut [][]float64, blocks int) {
	n := 0
	for _, s := range series {
		n = max(n, len(s))
	}
	cut = make([][]float64, len(series))
	for i := range n {
		all := true
		for _, s := range series {
			all = all && i < len(s) && s[i] > 0 && !math.IsInf(s[i], 0)
		}
		if !all {
			continue
		}
		blocks++
		for k, s := range series {
			cut[k] = append(cut[k], s[i])
		}
	}
	if blocks >= stats.MinBlocks {
		return cut, blocks
	}
	for k, s := range series {
		cut[k] = positive(s)
	}
	return cut, blocks
}

func positive(values []float64) []float64 {
	var out []float64
	for _, v := range stats.Finite(values) {
		if v > 0 {
			out = append(out, v)
		}
	}
	return out
}

// estimate evaluates figures of the series' medians, with intervals over blocks.
func estimate(series [][]float64, figures func(medians []float64) []float64) (out []stats.Estimate, blocks int) {
	cut, blocks := complete(series...)
	med := make([]float64, len(cut))
	for k := range cut {
		med[k] = stats.Median(cut[k])
	}
	point := figures(med)
	out = make([]stats.Estimate, len(point))
	for k, v := range point {
		out[k] = stats.Estimate{Value: v, SE: math.NaN()}
	}
	if blocks < stats.MinBlocks {
		return out, blocks
	}
	var buf []float64
	iv := stats.NewBootstrap(blocks, stats.SeedOf(cut...), stats.Resamples).Many(func(idx []int) []float64 {
		for k := range cut {
			med[k], buf = stats.MedianOf(cut[k], idx, buf)
		}
		return figures(med)
	})
	for k := range iv {
		if !math.IsNaN(iv[k][0]) {
			out[k].CI = &iv[k]
		}
	}
	return out, blocks
}

// Effect computes the arm's effect. Its figures are NaN where one of the four
// cells has no run.
func (c Contrast) Effect() Effect {
	q := float64(c.PeakThreads)
	e, blocks := estimate(
		[][]float64{c.Baseline.Base, c.Baseline.Peak, c.Arm.Base, c.Arm.Peak},
		func(s []float64) []float64 {
			d := (s[1] - s[0]) - (s[3] - s[2])
			return []float64{d, d * q / s[1], s[2] / s[3], s[0] / (s[1] - d)}
		})
	return Effect{Blocks: blocks, NS: e[0], Cores: e[1], Efficiency: e[2], Potential: e[3]}
}

// potential is an efficiency as the report has it; nil where it is not known or
// there is no positive slot time left.
func potential(e stats.Estimate, from string) *report.Potential {
	if v := e.Value; math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return nil
	}
	return &report.Potential{WithoutCauseEfficiency: e.Value, CI: e.CI, From: from}
}

// FromAttribution is the efficiency at peak if a cause cost no more than at
// base, from what attribution says it lost: S_base / (S_peak - X). Slot times
// and the excess are in ns; nil where no positive slot time is left.
func FromAttribution(slotBase, slotPeak float64, excess stats.Estimate) *report.Potential {
	at := func(x float64) float64 { return slotBase / (slotPeak - x) }
	v := at(excess.Value)
	if !(v > 0) || math.IsInf(v, 0) {
		return nil
	}
	out := &report.Potential{WithoutCauseEfficiency: v, From: "attribution"}
	if ci := excess.CI; ci != nil && ci[1] < slotPeak {
		out.CI = &[2]float64{at(ci[0]), at(ci[1])}
	}
	return out
}
