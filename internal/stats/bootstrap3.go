package stats

import "math/rand/v2"

// Bootstrap3 resamples three groups of runs independently: timed blocks, and
// the profiled runs at base and at peak. A row of a report takes its slot time
// from timed runs (medians) and its share of it from profiled ones (means), and
// there are usually more of the former.
//
// Few profiled runs are the rule, so the interval cannot be read off the
// resamples: three runs have ten different resamples. The variance is instead
// divided into what resampling each group alone gives; each part is corrected
// for its number of runs, the profiled ones by Student's t, and the joint
// resamples' spread is stretched to the sum.
//
// Base and peak are profiled in runs of their own, so drawing them
// independently doubles the degrees of freedom over drawing pairs; where whole
// blocks are disturbed it errs on the wide side.
type Bootstrap3 struct {
	n    [3]int // timed blocks, profiled runs at base and at peak
	idx  [3][][]int
	self [3][]int
}

// MinProfiled is the fewest profiled runs at each end for which an interval of
// a row is given.
const MinProfiled = 3

// partial is the fraction of resamples that a variance needs of those that a
// percentile needs.
const partial = 4

// NewBootstrap3 draws n resamples of each group.
func NewBootstrap3(timed, base, peak int, seed uint64, n int) *Bootstrap3 {
	b := &Bootstrap3{n: [3]int{timed, base, peak}}
	for g, size := range b.n {
		b.idx[g] = draw(size, n, rand.New(rand.NewPCG(seed, 0x5ca1e+uint64(g))))
		b.self[g] = identity(size)
	}
	return b
}

// Each calls f with each triple of resamples, always in the same order.
func (b *Bootstrap3) Each(f func(timed, base, peak []int)) {
	for i := range min(len(b.idx[0]), len(b.idx[1]), len(b.idx[2])) {
		f(b.idx[0][i], b.idx[1][i], b.idx[2][i])
	}
}

// Estimates gives each statistic's value on the data as they are, its interval
// and its standard error; the error is unknown below MinBlocks timed or
// MinProfiled profiled runs. stat must always return the same number of figures.
func (b *Bootstrap3) Estimates(stat func(timed, base, peak []int) []float64) []Estimate {
	point := stat(b.self[0], b.self[1], b.self[2])
	out := make([]Estimate, len(point))
	for k, v := range point {
		out[k] = unknown(v)
	}
	if b.n[0] < MinBlocks || min(b.n[1], b.n[2]) < MinProfiled || len(b.idx[0]) == 0 {
		return out
	}
	joint := newColumns(len(point))
	var alone [3]columns
	for g := range alone {
		alone[g] = newColumns(len(point))
	}
	i := 0
	b.Each(func(t, p, q []int) {
		joint.add(stat(t, p, q))
		if i%partial == 0 {
			alone[0].add(stat(t, b.self[1], b.self[2]))
			alone[1].add(stat(b.self[0], p, b.self[2]))
			alone[2].add(stat(b.self[0], b.self[1], q))
		}
		i++
	})
	for k := range out {
		groups := make([]spread, 3)
		for g := range groups {
			groups[g] = spread{v: variance(alone[g][k]), n: float64(b.n[g]), mean: g > 0}
		}
		out[k] = combine(point[k], percentiles(joint[k], (1-Confidence)/2), groups)
	}
	return out
}

// Bootstrap2 is Bootstrap3 with base and peak profiled runs drawn in pairs, for
// figures in which the pairing matters. It has half the degrees of freedom.
type Bootstrap2 struct {
	timed, profiled int
	t, p            [][]int
}

// NewBootstrap2 draws n pairs of resamples.
func NewBootstrap2(timed, profiled int, seed uint64, n int) *Bootstrap2 {
	return &Bootstrap2{
		timed: timed, profiled: profiled,
		t: draw(timed, n, rand.New(rand.NewPCG(seed, 0x5ca1e))),
		p: draw(profiled, n, rand.New(rand.NewPCG(seed, 0x5ca1e+1))),
	}
}

// Each calls f with each pair of resamples, always in the same order.
func (b *Bootstrap2) Each(f func(timed, profiled []int)) {
	for i := range min(len(b.t), len(b.p)) {
		f(b.t[i], b.p[i])
	}
}

// Interval is the 95% interval of stat; nil below MinBlocks timed or
// MinProfiled profiled blocks.
func (b *Bootstrap2) Interval(stat func(timed, profiled []int) float64) Interval {
	return b.Estimates(func(t, p []int) []float64 { return []float64{stat(t, p)} })[0].CI
}

// Estimates is like Bootstrap3's. Its degrees of freedom are those of the
// profiled pairs at most: with so few, their variance is too often
// underestimated for Satterthwaite's formula to be trusted.
func (b *Bootstrap2) Estimates(stat func(timed, profiled []int) []float64) []Estimate {
	allT, allP := identity(b.timed), identity(b.profiled)
	point := stat(allT, allP)
	out := make([]Estimate, len(point))
	for k, v := range point {
		out[k] = unknown(v)
	}
	if b.timed < MinBlocks || b.profiled < MinProfiled || len(b.t) == 0 {
		return out
	}
	joint, justT, justP := newColumns(len(point)), newColumns(len(point)), newColumns(len(point))
	i := 0
	b.Each(func(t, p []int) {
		joint.add(stat(t, p))
		if i%partial == 0 {
			justT.add(stat(t, allP))
			justP.add(stat(allT, p))
		}
		i++
	})
	for k := range out {
		out[k] = combine(point[k], percentiles(joint[k], (1-Confidence)/2), []spread{
			{v: variance(justT[k]), n: float64(b.timed)},
			{v: variance(justP[k]), n: float64(b.profiled), mean: true},
		})
		out[k].DF = min(out[k].DF, float64(b.profiled-1))
	}
	return out
}

// columns gather one slice for each statistic.
type columns [][]float64

func newColumns(n int) columns { return make(columns, n) }

func (c columns) add(row []float64) {
	for k := range c {
		c[k] = append(c[k], row[k])
	}
}

func identity(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}
