package analyze

import (
	"math"
	"sort"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// pair is the two cells of a comparison, cut to the blocks that both have.
type pair struct {
	base, peak         *cell
	baseWall, peakWall []float64 // ns, by common timed block
	baseTail, peakTail []float64 // part of the slot time after the lanes' ends, likewise; NaN unknown
	baseRows, peakRows []shares  // by observation
	// baseMissed and peakMissed are the closure errors of those observations, as
	// parts of their slot time; NaN without a trace.
	baseMissed, peakMissed []float64
	leftOut                int // pairs of observations that were disturbed
	split                  userSplit
}

// userSplit divides the growth of work/user among causes that the trace cannot
// tell apart; fractions of that growth, which sum to at most 1.
type userSplit map[cause.ID]float64

// pairOf aligns the timed blocks of two cells.
func pairOf(base, peak *cell) pair {
	p := pair{base: base, peak: peak}
	for i := range min(len(base.wall), len(peak.wall)) {
		if !math.IsNaN(base.wall[i]) && !math.IsNaN(peak.wall[i]) {
			p.baseWall = append(p.baseWall, base.wall[i])
			p.peakWall = append(p.peakWall, peak.wall[i])
			p.baseTail = append(p.baseTail, tailShare(base.timed[i], base.Threads))
			p.peakTail = append(p.peakTail, tailShare(peak.timed[i], peak.Threads))
		}
	}
	p.observe()
	return p
}

// minClean is how many undisturbed pairs of observations are enough to do
// without the disturbed ones.
const minClean = 2

// observe pairs the observations of base and peak, by block where both have one
// there, else in order. Pairs that the machine disturbed are left out where
// enough others remain; the runs keep their marks, and the report says so.
func (p *pair) observe() {
	base, peak := p.base.observed(), p.peak.observed()
	type both struct{ base, peak observed }
	var pairs, clean []both
	byBlock := map[int]observed{}
	for _, o := range base {
		byBlock[o.block] = o
	}
	for _, q := range peak {
		if b, ok := byBlock[q.block]; ok {
			pairs = append(pairs, both{b, q})
		}
	}
	if len(pairs) == 0 {
		for i := range min(len(base), len(peak)) {
			pairs = append(pairs, both{base[i], peak[i]})
		}
	}
	for _, b := range pairs {
		if !b.base.disturbed && !b.peak.disturbed {
			clean = append(clean, b)
		}
	}
	if len(clean) >= minClean && len(clean) < len(pairs) {
		p.leftOut = len(pairs) - len(clean)
		pairs = clean
	}
	for _, b := range pairs {
		p.baseRows = append(p.baseRows, b.base.shares)
		p.peakRows = append(p.peakRows, b.peak.shares)
		p.baseMissed = append(p.baseMissed, b.base.missed)
		p.peakMissed = append(p.peakMissed, b.peak.missed)
	}
}

// observed is one observation's shares of slot time by cause.
type observed struct {
	shares    shares
	missed    float64 // signed closure error as a part of the slot time; NaN without a trace
	block     int
	disturbed bool
}

func (c *cell) observed() []observed {
	var out []observed
	for _, o := range c.profiled {
		s := sharesOf(o, c.scaleOf(o))
		if len(s) == 0 {
			s = c.cpuShares(o)
		}
		if len(s) > 0 {
			missed := math.NaN()
			if a := o.account; a != nil && a.SlotNS > 0 {
				missed = float64(a.ClosureNS) / float64(a.SlotNS)
			}
			out = append(out, observed{s, missed, o.run.Block, disturbed(o.run)})
		}
	}
	return out
}

// disturbed says that others took time from a run, so that what is left is no
// picture of the program.
func disturbed(r *record.Run) bool {
	for _, g := range r.Gates {
		// A quota is the subject more often than an accident, and the same for all runs.
		if rule, ok := gate.RuleOf(g.ID); ok && rule.Voids && g.ID != gate.Throttled {
			return true
		}
	}
	return false
}

// cpuShares is what is known where there is a CPU profile but no trace: on-CPU
// time by cause, and all that was not on a CPU under unexplained. Background
// collection is left out, as it runs beside the lanes. Samples are scaled so that
// all of them together make the run's rusage.
func (c *cell) cpuShares(o *observation) shares {
	total := 0.0
	for _, s := range o.onCPU {
		total += s.ns
	}
	cpu := cpuOf(o.run)
	slot := float64(o.run.WallNS) * float64(c.Threads)
	if total <= 0 || slot <= 0 {
		return nil
	}
	scale := 1.0
	if !math.IsNaN(cpu) && cpu > 0 {
		scale = cpu / total
	}
	out, sum := make(shares), 0.0
	for _, s := range o.onCPU {
		if s.background {
			continue
		}
		v := s.ns * scale / slot
		out[s.cause] += v
		sum += v
	}
	if sum > 1 {
		for id := range out {
			out[id] /= sum
		}
		sum = 1
	}
	out[cause.Unexplained] += 1 - sum
	return out
}

// figures are the numbers of one resample of a comparison.
type figures struct {
	slotBase, slotPeak float64
	rows               map[cause.ID][2]float64 // ns at base and peak
}

// figures computes a comparison from the chosen timed blocks and observations.
// Slot times are T times the median wall; each row is its mean share of that,
// so that rows add up to the slot time in every resample.
func (p *pair) figures(timed, profiledBase, profiledPeak []int) figures {
	f := figures{
		slotBase: float64(p.base.Threads) * stats.Median(pick(p.baseWall, timed)),
		slotPeak: float64(p.peak.Threads) * stats.Median(pick(p.peakWall, timed)),
		rows:     map[cause.ID][2]float64{},
	}
	mean(p.baseRows, profiledBase, func(id cause.ID, share float64) {
		r := f.rows[id]
		r[0] += share * f.slotBase
		f.rows[id] = r
	})
	mean(p.peakRows, profiledPeak, func(id cause.ID, share float64) {
		r := f.rows[id]
		r[1] += share * f.slotPeak
		f.rows[id] = r
	})
	if len(profiledBase) > 0 && len(profiledPeak) > 0 {
		retail(f.rows, 0, f.slotBase, stats.Median(pick(p.baseTail, timed)), anyTrace(p.baseMissed))
		retail(f.rows, 1, f.slotPeak, stats.Median(pick(p.peakTail, timed)), anyTrace(p.peakMissed))
	}
	p.divideUser(f.rows)
	return f
}

func mean(rows []shares, idx []int, each func(cause.ID, float64)) {
	for _, i := range idx {
		// A fixed order of additions keeps the sums, and with them the report, the same to the bit.
		for _, id := range sortedCauses(rows[i]) {
			each(id, rows[i][id]/float64(len(idx)))
		}
	}
}

func sortedCauses[V any](m map[cause.ID]V) []cause.ID {
	ids := make([]cause.ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

// divideUser moves parts of the growth of work/user to the causes of p.split.
func (p *pair) divideUser(rows map[cause.ID][2]float64) {
	user, ok := rows[cause.WorkUser]
	grown := user[1] - user[0]
	if !ok || grown <= 0 {
		return
	}
	for _, id := range sortedCauses(p.split) {
		part := grown * p.split[id]
		r := rows[id]
		r[1] += part
		user[1] -= part
		rows[id] = r
	}
	rows[cause.WorkUser] = user
}

// rows turns figures into the report's rows, largest excess first, integers
// that add up exactly.
func (p *pair) rows(f figures) []report.Row {
	if len(p.baseRows) == 0 || len(p.peakRows) == 0 {
		return nil
	}
	wallPeak := f.slotPeak / float64(p.peak.Threads)
	excess := f.slotPeak - f.slotBase
	slotBase, slotPeak := int64(math.Round(f.slotBase)), int64(math.Round(f.slotPeak))
	var out []report.Row
	var sumBase, sumPeak int64
	for _, id := range sortedCauses(f.rows) {
		r := f.rows[id]
		base, peak := int64(math.Round(r[0])), int64(math.Round(r[1]))
		if id == cause.Unexplained || base == 0 && peak == 0 {
			continue
		}
		sumBase += base
		sumPeak += peak
		out = append(out, report.Row{Cause: string(id), Group: id.Group(), BaseNS: base, PeakNS: peak})
	}
	rest := f.rows[cause.Unexplained]
	left := report.Row{
		Cause: string(cause.Unexplained), Group: cause.Unexplained.Group(),
		BaseNS: int64(math.Round(rest[0])), PeakNS: int64(math.Round(rest[1])),
	}
	// What rounding leaves, some nanoseconds, goes where it shows least.
	if n := largest(out); n != nil {
		n.BaseNS += slotBase - sumBase - left.BaseNS
		n.PeakNS += slotPeak - sumPeak - left.PeakNS
	} else {
		left.BaseNS, left.PeakNS = slotBase, slotPeak
	}
	out = append(out, left)
	for i := range out {
		r := &out[i]
		r.ExcessNS = r.PeakNS - r.BaseNS
		r.CoresLost = float64(r.ExcessNS) / wallPeak
		if excess > 0 {
			r.Share = float64(r.ExcessNS) / excess
		}
		r.Stacks = []report.Stack{}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].ExcessNS > out[j].ExcessNS })
	return out
}

// largest is the row with most time at peak, nil of none.
func largest(rows []report.Row) *report.Row {
	var top *report.Row
	for i := range rows {
		if top == nil || rows[i].PeakNS > top.PeakNS {
			top = &rows[i]
		}
	}
	return top
}
