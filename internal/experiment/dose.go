package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Response is the slot times under one GOGC.
type Response struct {
	GOGC int
	Slots
}

// line is S = inf + c/GOGC, fitted with relative errors.
type line struct {
	inf, c float64
}

// fitLine is weighted linear least squares with weights 1/S^2: a steady heap is
// collected in inverse proportion to GOGC (METHOD 5.3).
func fitLine(gogc, slot []float64) line {
	var s11, s12, s22, t1, t2 float64
	for i, g := range gogc {
		x1, x2 := 1/slot[i], 1/(g*slot[i])
		s11 += x1 * x1
		s12 += x1 * x2
		s22 += x2 * x2
		t1 += x1
		t2 += x2
	}
	det := s11*s22 - s12*s12
	return line{inf: (t1*s22 - t2*s12) / det, c: (t2*s11 - t1*s12) / det}
}

func (l line) at(g float64) float64 { return l.inf + l.c/g }

// Dose fits the response to GOGC at base and peak and says how many of the
// cores lost would come back if GC cost nothing, by extrapolation instead of by
// GOGC=off, whose growing heap costs page faults. The lowest dose given is the
// baseline; nil below two doses with runs at both ends, or without a finite fit.
//
// attributed is what the profiles give to the collector, in cores: the fit is
// judged against it like an arm's effect.
func Dose(peakThreads int, responses []Response, attributed stats.Estimate) *report.Dose {
	rs, series := dosed(responses)
	n := len(rs)
	if n < 2 {
		return nil
	}
	gogc := make([]float64, n)
	for i, r := range rs {
		gogc[i] = float64(r.GOGC)
	}
	lines := func(s []float64) (base, peak line) { return fitLine(gogc, s[:n]), fitLine(gogc, s[n:]) }
	est, blocks := estimate(series, func(s []float64) []float64 {
		b, q := lines(s)
		// Cores at the baseline dose: the fitted GC part there, peak minus base, over
		// the baseline's wall time at peak.
		lost := (q.c - b.c) / gogc[0]
		return []float64{lost * float64(peakThreads) / s[n], b.inf / q.inf, b.inf, q.inf, s[0] / (s[n] - lost)}
	})
	for _, e := range est {
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
			return nil
		}
	}
	out := &report.Dose{
		BaseInfNS: est[2].Value, PeakInfNS: est[3].Value,
		GCCores: est[0].Value, GCCoresCI: est[0].CI, Efficiency: est[1].Value,
	}
	cut, _ := complete(series...)
	med := make([]float64, len(cut))
	for k := range cut {
		med[k] = stats.Median(cut[k])
	}
	for i, r := range rs {
		out.GOGC = append(out.GOGC, r.GOGC)
		out.BaseSlotNS = append(out.BaseSlotNS, int64(math.Round(med[i])))
		out.PeakSlotNS = append(out.PeakSlotNS, int64(math.Round(med[n+i])))
	}
	b, q := lines(med)
	out.Why = doubts(gogc, cut, b, q, blocks)
	out.AttributedCores = knownValue(attributed.Value)
	out.Verdict, out.VerdictWhy = Judge(est[0], attributed)
	out.Potential = potential(est[4], "the GOGC dose")
	return out
}

// dosed are the responses with runs at both ends by rising GOGC, and their
// series: base of all, then peak of all.
func dosed(responses []Response) ([]Response, [][]float64) {
	var rs []Response
	for _, r := range responses {
		if r.GOGC > 0 && len(positive(r.Base)) > 0 && len(positive(r.Peak)) > 0 {
			rs = append(rs, r)
		}
	}
	slices.SortStableFunc(rs, func(a, b Response) int { return cmp.Compare(a.GOGC, b.GOGC) })
	rs = slices.CompactFunc(rs, func(a, b Response) bool { return a.GOGC == b.GOGC })
	var series [][]float64
	for _, r := range rs {
		series = append(series, r.Base)
	}
	for _, r := range rs {
		series = append(series, r.Peak)
	}
	return rs, series
}

// lackSmall is the relative size below which a lack of fit does not matter.
const lackSmall = 0.01

// doubts says why a fit should not be trusted, "" where nothing speaks against it.
func doubts(gogc []float64, cut [][]float64, base, peak line, blocks int) string {
	n := len(gogc)
	switch {
	case base.inf <= 0 || peak.inf <= 0:
		return "the fit leaves no time for the program: slot time does not follow c/GOGC"
	case n == 2:
		return "two values of GOGC fit any line: lack of fit cannot be tested"
	case blocks < stats.MinBlocks:
		return fmt.Sprintf("below %d blocks lack of fit is not tested", stats.MinBlocks)
	}
	for _, end := range []struct {
		name string
		l    line
		s    [][]float64
	}{{"base", base, cut[:n]}, {"peak", peak, cut[n:]}} {
		off, p := lack(gogc, end.s, end.l)
		if p < 0.01 && off > lackSmall {
			return fmt.Sprintf("at %s slot time does not follow c/GOGC (off by %.1f%%, p=%.3f)", end.name, 100*off, p)
		}
	}
	return ""
}

// lack is the root mean square deviation of the doses' medians from the line,
// relative, and the p-value of its F test against the repeats' own spread. Blocks'
// common ups and downs are taken out first, and the spread is that of the MAD:
// a slow run in ten must not hide a lack of fit.
func lack(gogc []float64, s [][]float64, l line) (off, p float64) {
	n, blocks := len(gogc), len(s[0])
	med := make([]float64, n)
	for i := range s {
		med[i] = stats.Median(s[i])
	}
	var dev []float64
	for b := range blocks {
		var row []float64
		for i := range s {
			row = append(row, math.Log(s[i][b]/med[i]))
		}
		common := stats.Median(row)
		for _, v := range row {
			dev = append(dev, math.Abs(v-common))
		}
	}
	df := float64((n - 1) * (blocks - 1))
	sd := 1.4826 * stats.Median(dev) * math.Sqrt(float64(n*blocks)/df)
	ss := 0.0
	for i, g := range gogc {
		d := math.Log(med[i] / l.at(g))
		ss += d * d
	}
	off = math.Sqrt(ss / float64(n))
	// The variance of a median of normal values is pi/2 that of their mean.
	pure := sd * sd * math.Pi / 2 / float64(blocks)
	if pure == 0 {
		if ss > 0 {
			return off, 0
		}
		return off, 1
	}
	return off, distuv.F{D1: float64(n - 2), D2: df}.Survival(ss / float64(n-2) / pure)
}

// Expected is what of an attributed GC cost, in cores, an arm that raises GOGC
// should recover: collections, and what they cost, become baseline/gogc times
// as many. Judge an arm of GOGC against this, not against the whole.
func Expected(attributed stats.Estimate, baseline, gogc int) stats.Estimate {
	f := 1 - float64(baseline)/float64(gogc)
	attributed.Value *= f
	attributed.SE *= f
	if ci := attributed.CI; ci != nil {
		attributed.CI = &[2]float64{min(f*ci[0], f*ci[1]), max(f*ci[0], f*ci[1])}
	}
	return attributed
}
