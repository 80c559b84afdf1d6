package analyze

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// cell is everything that was observed of one cell. Slices by block hold NaN
// where a block has no usable run.
type cell struct {
	record.Cell
	ops      int64
	timed    []*record.Run // by block, nil where missing
	wall     []float64     // ns, by block
	cpu      []float64     // rusage user + system of all processes, ns, by block
	profiled []*observation
	// profiledRuns are all runs with profiles, also those without an account.
	profiledRuns []*record.Run
	profiledWall []float64 // ns, of those that did the same work as the timed ones
	perturbed    float64   // profiled wall over timed wall, medians; NaN where not known
}

// observation is one profiled run with its account of slot time.
type observation struct {
	run     *record.Run
	account *lanes.Account // nil where the run left no usable trace
	onCPU   []cpuSample    // the run's CPU profile, classified
	samples int            // that the CPU profile counted
	allocs  []allocSite    // the run's allocation profile
}

// cpuSample is CPU time on one call path of a CPU profile, in nanoseconds of
// the profile's own period (not yet scaled to rusage).
type cpuSample struct {
	cause      cause.ID
	path       *callPath
	names      []string // until they are interned as path
	ns         float64
	count      int
	background bool // a GC worker, sweeper or scavenger: beside the lanes, not in them
}

// slot is the slot time of each timed block, T x wall.
func (c *cell) slot() []float64 {
	out := make([]float64, len(c.wall))
	for i, w := range c.wall {
		out[i] = w * float64(c.Threads)
	}
	return out
}

// shares are one observation's parts of slot time by cause; they sum to 1.
type shares map[cause.ID]float64

// sharesOf books an account by cause. The recorder's buffers are fresh memory to
// the program: page faults are scaled to the minor faults of the untraced runs,
// and everything else gives or takes the difference in proportion.
func sharesOf(o *observation, scale countScale) shares {
	s := make(shares)
	if o.account == nil || o.account.SlotNS <= 0 {
		return s
	}
	slot := float64(o.account.SlotNS)
	for _, p := range o.account.Parts {
		s[p.Cause] += float64(p.NS) / slot
	}
	scale.apply(s)
	return s
}

// countScale holds the ratios of counted events, untraced over traced run.
type countScale struct{ fault float64 }

// Ratios outside of these bounds are not believed: the traced run was then a
// different program, and the report says so instead of scaling.
const (
	minCountScale = 0.5
	maxCountScale = 2.5
	// smallCountScale is the difference below which scaling would only add noise.
	smallCountScale = 0.10
)

func (k countScale) apply(s shares) {
	rest, scaled := 0.0, 0.0
	added := 0.0
	for id, v := range s {
		f := k.factor(id)
		if f == 1 {
			rest += v
			continue
		}
		s[id] = v * f
		added += v * (f - 1)
		scaled += v * f
	}
	if added == 0 || rest <= 0 || rest-added <= 0 {
		return
	}
	for id := range s {
		if k.factor(id) == 1 {
			s[id] *= (rest - added) / rest
		}
	}
}

func (k countScale) factor(id cause.ID) float64 {
	f := 1.0
	if id == cause.AllocPageFault {
		f = k.fault
	}
	if math.IsNaN(f) || f < minCountScale || f > maxCountScale || math.Abs(f-1) < smallCountScale {
		return 1
	}
	return f
}

// scaleOf compares an observation's minor faults with the median of the cell's
// timed runs.
func (c *cell) scaleOf(o *observation) countScale {
	faults := func(r *record.Run) float64 {
		return sumUsage(r, func(u *recorder.Usage) int64 { return u.MinFlt })
	}
	ratio := func(f func(*record.Run) float64, enough float64) float64 {
		var timed []float64
		for _, r := range c.timed {
			if r != nil {
				timed = append(timed, f(r))
			}
		}
		m, traced := stats.Median(timed), f(o.run)
		if math.IsNaN(m) || math.IsNaN(traced) || m < enough || traced < enough {
			return 1
		}
		return m / traced
	}
	return countScale{fault: ratio(faults, 2000)}
}

func sumMetric(r *record.Run, name string) float64 {
	sum, any := 0.0, false
	for i := range r.Processes {
		if v, ok := r.Processes[i].Metrics[name]; ok {
			sum += v
			any = true
		}
	}
	if !any {
		return math.NaN()
	}
	return sum
}

func sumUsage(r *record.Run, f func(*recorder.Usage) int64) float64 {
	sum, any := 0.0, false
	for i := range r.Processes {
		if u := r.Processes[i].Usage; u != nil {
			sum += float64(f(u))
			any = true
		}
	}
	if !any {
		return math.NaN()
	}
	return sum
}

// cpuOf is the CPU time of a run's processes in its window.
func cpuOf(r *record.Run) float64 {
	return sumUsage(r, func(u *recorder.Usage) int64 { return u.UserNS + u.SysNS })
}

// pick returns the values at the given indices.
func pick(values []float64, idx []int) []float64 {
	out := make([]float64, len(idx))
	for i, k := range idx {
		out[i] = values[k]
	}
	return out
}
