package stats

import "math"

// Rows divides a Pair's slot time between causes.
type Rows struct {
	Pair
	// BaseShare and PeakShare hold, for each profiled run, each cause's share of
	// the run's slot time: fractions that add up to 1 over the causes.
	BaseShare, PeakShare [][]float64
	// Floor is, for each cause, the standard error in ns below which its excess
	// cannot be known (counting noise of CPU samples); nil for none.
	Floor []float64
}

// Row is one cause's part. The rows' Base, Peak and Excess add up to the slot
// times of the Pair and its excess.
type Row struct {
	Base, Peak float64  // ns of slot time
	Excess     Estimate // Peak - Base, ns
	Cores      Estimate // Excess / wall at peak
	P          float64  // one-sided, of "this cause grew"; 1 where that cannot be told
	Holm       float64  // P adjusted for all rows
}

// Grew reports whether the row grew beyond noise, judged together with all
// other rows: if none did, the probability that any says so is below Alpha.
func (r Row) Grew() bool { return r.Holm <= Alpha }

// Estimate accounts for every cause with the same resamples. nil where base or
// peak has no timed or no profiled run.
func (r Rows) Estimate() []Row {
	causes := 0
	for _, s := range [][][]float64{r.BaseShare, r.PeakShare} {
		for _, run := range s {
			causes = max(causes, len(run))
		}
	}
	timed := max(len(r.Base), len(r.Peak))
	base, peak := pad(r.Base, timed), pad(r.Peak, timed)
	observed := min(len(Finite(base)), len(Finite(peak)))
	if causes == 0 || len(r.BaseShare) == 0 || len(r.PeakShare) == 0 || observed == 0 {
		return nil
	}
	b := NewBootstrap3(timed, len(r.BaseShare), len(r.PeakShare), r.seed(), Resamples)
	var buf []float64
	shareBase, sharePeak := make([]float64, causes), make([]float64, causes)
	est := b.Estimates(func(ti, bi, qi []int) []float64 {
		var tb, tq float64
		tb, buf = MedianOf(base, ti, buf)
		tq, buf = MedianOf(peak, ti, buf)
		meanShares(shareBase, r.BaseShare, bi)
		meanShares(sharePeak, r.PeakShare, qi)
		out := make([]float64, 2*causes)
		for k := range causes {
			x := float64(r.PeakThreads)*tq*sharePeak[k] - float64(r.BaseThreads)*tb*shareBase[k]
			out[k], out[causes+k] = x, x/tq
		}
		return out
	})
	meanShares(shareBase, r.BaseShare, identity(len(r.BaseShare)))
	meanShares(sharePeak, r.PeakShare, identity(len(r.PeakShare)))
	slotBase := float64(r.BaseThreads) * Median(base)
	slotPeak := float64(r.PeakThreads) * Median(peak)
	rows := make([]Row, causes)
	ps := make([]float64, causes)
	for k := range rows {
		rows[k] = Row{Base: slotBase * shareBase[k], Peak: slotPeak * sharePeak[k], Excess: est[k], Cores: est[causes+k]}
		if observed < MinBlocks {
			rows[k].Excess, rows[k].Cores = unknown(est[k].Value), unknown(est[causes+k].Value)
		}
		floor := 0.0
		if k < len(r.Floor) {
			floor = r.Floor[k]
		}
		rows[k].P = rows[k].Excess.Above(floor)
		ps[k] = rows[k].P
	}
	for k, h := range Holm(ps) {
		rows[k].Holm = h
	}
	return rows
}

func (r Rows) seed() uint64 {
	series := [][]float64{r.Base, r.Peak}
	series = append(series, r.BaseShare...)
	series = append(series, r.PeakShare...)
	return SeedOf(series...)
}

// meanShares puts the mean of the runs in idx into out.
func meanShares(out []float64, shares [][]float64, idx []int) {
	for k := range out {
		out[k] = 0
	}
	for _, i := range idx {
		for k, v := range shares[i] {
			out[k] += v / float64(len(idx))
		}
	}
	if len(idx) == 0 {
		for k := range out {
			out[k] = math.NaN()
		}
	}
}
