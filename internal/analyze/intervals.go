package analyze

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// resamples is how many times blocks are resampled: enough for the second digit
// of a 95% interval, and fast.
const resamples = 1000

// resampled estimates figures of the comparison over resampled runs: timed
// blocks, and the profiled runs at base and at peak, each by themselves.
func (p *pair) resampled(of func(f figures) []float64) []stats.Estimate {
	b := stats.NewBootstrap3(len(p.baseWall), len(p.baseRows), len(p.peakRows), stats.SeedOf(p.baseWall, p.peakWall), resamples)
	return b.Estimates(func(t, base, peak []int) []float64 { return of(p.figures(t, base, peak)) })
}

// timings gives the intervals that need timed blocks alone.
func (p *pair) timings() (efficiency, coresLost report.Interval) {
	n := len(p.baseWall)
	b := stats.NewBootstrap(n, stats.SeedOf(p.baseWall, p.peakWall), resamples)
	iv := b.Many(func(idx []int) []float64 {
		f := p.figures(idx, nil, nil)
		return []float64{f.slotBase / f.slotPeak, cores(f.slotPeak-f.slotBase, f, p)}
	})
	if iv == nil {
		return nil, nil
	}
	return finite(iv[0]), finite(iv[1])
}

// cores turns nanoseconds of slot time into cores at peak: F3.
func cores(ns float64, f figures, p *pair) float64 {
	return ns * float64(p.peak.Threads) / f.slotPeak
}

// rowIntervals gives each row its interval and says which grew beyond noise:
// Holm over all rows keeps a false "this cause grew" at 5% for the whole table.
func (p *pair) rowIntervals(rows []report.Row) {
	profiled := len(p.baseRows)
	est := p.resampled(func(f figures) []float64 {
		out := make([]float64, len(rows))
		for i := range rows {
			r := f.rows[cause.ID(rows[i].Cause)]
			out[i] = cores(r[1]-r[0], f, p)
		}
		return out
	})
	grew := make([]float64, len(rows))
	for i, e := range est {
		grew[i] = e.Above(p.floor(&rows[i]))
		if e.CI != nil {
			rows[i].CoresLostCI = finite([2]float64(*e.CI))
		}
	}
	for i, adjusted := range stats.Holm(grew) {
		rows[i].Distinguishable = adjusted < stats.Alpha
	}
	if len(p.baseWall) < stats.MinBlocks || profiled < stats.MinProfiled {
		// Too few blocks for a test: a row is believed when it is well beyond what
		// two runs of one program differ by, and the report says that no interval was given.
		for i := range rows {
			rows[i].Distinguishable = rows[i].CoresLost > math.Max(looseCores, looseSigmas*p.floor(&rows[i]))
		}
	}
}

// looseCores is the size above which a row counts where no interval can be given.
const looseCores = 0.10

// looseSigmas is how many standard errors of counting samples it must be there.
const looseSigmas = 4

// floor is the standard error that a row has from counting samples alone, in
// cores: with n samples at both ends, sqrt(n) of them.
func (p *pair) floor(r *report.Row) float64 {
	samples := 0
	for _, c := range []*cell{p.base, p.peak} {
		for _, o := range c.profiled {
			if o.account != nil {
				samples += o.account.Samples
			} else {
				samples += o.samples
			}
		}
	}
	if samples == 0 {
		return 0
	}
	share := math.Abs(float64(r.PeakNS)+float64(r.BaseNS)) / 2 / float64(p.peak.Threads) / math.Max(1, stats.Median(p.peakWall))
	n := math.Max(1, share*float64(samples))
	return float64(p.peak.Threads) * share / math.Sqrt(n)
}

func finite(iv [2]float64) report.Interval {
	if math.IsNaN(iv[0]) || math.IsNaN(iv[1]) || math.IsInf(iv[0], 0) || math.IsInf(iv[1], 0) {
		return nil
	}
	return &iv
}
