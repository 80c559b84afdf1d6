package analyze

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// minDoses is the fewest values of GOGC for which a line is fitted and can be
// seen not to fit.
const minDoses = 3

// maxMisfit is the residual, as a part of the slot time, above which the model
// S = S_inf + c/GOGC is not believed.
const maxMisfit = 0.05

// dose fits S = S_inf + c/GOGC (METHOD 5.3) to the slot times at base and peak
// under the gogc arms and the baseline. nil with fewer than three doses.
func dose(groups []*group, g *group, base, peak *cell) *report.Dose {
	type level struct {
		gogc       int
		base, peak *cell
	}
	levels := []level{{100, base, peak}}
	for _, other := range groups {
		value, ok := strings.CutPrefix(other.arm, "gogc=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil || n <= 0 || other.target != g.target || other.mode != g.mode {
			continue
		}
		if b, p := other.find(base.Threads), other.find(peak.Threads); b != nil && p != nil {
			levels = append(levels, level{n, b, p})
		}
	}
	if g.arm != record.Baseline || len(levels) < minDoses {
		return nil
	}
	sort.Slice(levels, func(i, j int) bool { return levels[i].gogc < levels[j].gogc })
	var cells []*cell
	d := &report.Dose{}
	var inverse []float64
	for _, l := range levels {
		cells = append(cells, l.base, l.peak)
		d.GOGC = append(d.GOGC, l.gogc)
		inverse = append(inverse, 1/float64(l.gogc))
	}
	slots, blocks := aligned(cells...)
	if blocks == 0 {
		return nil
	}
	at := func(idx []int) (f doseFit) {
		var b, p []float64
		for i := range levels {
			b = append(b, stats.Median(pick(slots[2*i], idx)))
			p = append(p, stats.Median(pick(slots[2*i+1], idx)))
		}
		f.base, f.peak = b, p
		f.baseInf, f.baseC = line(inverse, b)
		f.peakInf, f.peakC = line(inverse, p)
		return f
	}
	f := at(identity(blocks))
	for i := range levels {
		d.BaseSlotNS = append(d.BaseSlotNS, int64(f.base[i]))
		d.PeakSlotNS = append(d.PeakSlotNS, int64(f.peak[i]))
	}
	d.BaseInfNS, d.PeakInfNS = f.baseInf, f.peakInf
	gcCores := func(f doseFit) float64 { return (f.peakC - f.baseC) / 100 * float64(peak.Threads) / f.peak[0] }
	d.GCCores = gcCores(f)
	d.Efficiency = f.baseInf / f.peakInf
	b := stats.NewBootstrap(blocks, stats.SeedOf(slots...), resamples)
	d.GCCoresCI = b.Interval(func(idx []int) float64 { return gcCores(at(idx)) })
	worst := 0.0
	for i, x := range inverse {
		worst = math.Max(worst, math.Abs(f.baseInf+f.baseC*x-f.base[i])/f.base[i])
		worst = math.Max(worst, math.Abs(f.peakInf+f.peakC*x-f.peak[i])/f.peak[i])
	}
	if worst > maxMisfit {
		d.Why = fmt.Sprintf("the line misses a point by %.0f%%: costs other than collection change with the heap too", 100*worst)
	}
	return d
}

// doseFit is one fit at both ends; slot times in the order of the doses.
type doseFit struct {
	base, peak     []float64
	baseInf, baseC float64
	peakInf, peakC float64
}

// line is the least-squares line y = a + c x. Residuals count relative to y, as
// the noise of a timing is in proportion to it.
func line(x, y []float64) (a, c float64) {
	var sw, sx, sy, sxx, sxy float64
	for i := range x {
		w := 1 / (y[i] * y[i])
		sw += w
		sx += w * x[i]
		sy += w * y[i]
		sxx += w * x[i] * x[i]
		sxy += w * x[i] * y[i]
	}
	det := sw*sxx - sx*sx
	if det == 0 {
		return math.NaN(), math.NaN()
	}
	c = (sw*sxy - sx*sy) / det
	return (sy - c*sx) / sw, c
}
