package analyze

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// How uneven the lanes end differs from run to run more than anything else, and
// timed runs know their lanes' ends without a trace. So balance/tail is taken from
// them, block by block, and the traces divide what is left.

// tailShare is the part of a timed run's slot time after its lanes' ends, NaN
// where the ends of all T lanes are not known.
func tailShare(r *record.Run, threads int) float64 {
	ends := laneEnds(r, threads)
	if ends == nil {
		return math.NaN()
	}
	idle := 0.0
	for _, e := range ends {
		idle += 1 - e
	}
	return idle / float64(threads)
}

// laneEnds are the ends of a run's lanes as parts of its window, nil where they
// are not all known.
func laneEnds(r *record.Run, threads int) []float64 {
	if r == nil || r.WallNS <= 0 || len(r.Processes) == 0 {
		return nil
	}
	begin, end := window(r)
	if end <= begin {
		return nil
	}
	var out []float64
	for i := range r.Processes {
		p := &r.Processes[i]
		for _, l := range p.Lanes {
			e := float64(p.BeginNS+l.EndNS-begin) / float64(end-begin)
			if !(e > 0) || e > 1.001 {
				return nil
			}
			out = append(out, math.Min(e, 1))
		}
	}
	if len(out) != threads {
		return nil
	}
	return out
}

// retail puts the timed runs' tail in the place of the profiled runs': the other
// rows share what is left as they did. Without a trace the tail is part of what is
// not explained.
func retail(rows map[cause.ID][2]float64, at int, slot, tail float64, traced bool) {
	if math.IsNaN(tail) || tail < 0 || tail >= 1 || slot <= 0 || len(rows) == 0 {
		return
	}
	old, want := rows[cause.BalanceTail][at], tail*slot
	if !traced {
		rest := rows[cause.Unexplained]
		want = math.Min(want, math.Max(0, rest[at]))
		rest[at] -= want
		rows[cause.Unexplained] = rest
	} else {
		if slot-old < slot/100 {
			return // nothing is left to divide
		}
		for id, r := range rows {
			if id != cause.BalanceTail {
				r[at] *= (slot - want) / (slot - old)
				rows[id] = r
			}
		}
	}
	r := rows[cause.BalanceTail]
	r[at] = want
	if !traced {
		r[at] += old
	}
	rows[cause.BalanceTail] = r
}

// firstDone is when the first lane ends, as a part of the window: the median of
// the timed runs, NaN where they do not say.
func (c *cell) firstDone() float64 {
	var firsts []float64
	for _, r := range c.timed {
		ends := laneEnds(r, c.Threads)
		if ends == nil {
			continue
		}
		first := 1.0
		for _, e := range ends {
			first = math.Min(first, e)
		}
		firsts = append(firsts, first)
	}
	return stats.Median(firsts)
}

// anyTrace says whether any observation has a trace.
func anyTrace(missed []float64) bool {
	for _, m := range missed {
		if !math.IsNaN(m) {
			return true
		}
	}
	return false
}
