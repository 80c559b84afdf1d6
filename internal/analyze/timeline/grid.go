package timeline

import (
	"math/bits"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// grid divides [from, to) into n buckets whose lengths differ by at most one ns.
type grid struct{ from, to, n int64 }

// bucket is the stretch of bucket i.
func (g grid) bucket(i int64) (lo, hi int64) { return g.edge(i), g.edge(i + 1) }

// edge is the begin of bucket i: from + i*(to-from)/n, of which the product may
// exceed 64 bits.
func (g grid) edge(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(g.to-g.from))
	q, _ := bits.Div64(hi, lo, uint64(g.n))
	return g.from + int64(q)
}

// at is the bucket of a time inside the grid.
func (g grid) at(t int64) int64 {
	hi, lo := bits.Mul64(uint64(t-g.from), uint64(g.n))
	q, _ := bits.Div64(hi, lo, uint64(g.to-g.from))
	i := min(int64(q), g.n-1)
	// Edges are rounded down: t may be in the next bucket already.
	for i+1 < g.n && g.edge(i+1) <= t {
		i++
	}
	return i
}

func (g grid) row() [][lanes.NumActivities]int64 { return make([][lanes.NumActivities]int64, g.n) }

// sums is what the tracks of a process did, by bucket.
type sums struct {
	grid  grid
	lanes [][][lanes.NumActivities]int64
	procs [][][lanes.NumActivities]int64
	mark  [][lanes.NumActivities]int64
}

func newSums(g grid) *sums { return &sums{grid: g} }

// maxRows bounds the lanes and the Ps of a process that are kept.
const maxRows = 1 << 12

// take books a span.
func (s *sums) take(x lanes.Span) {
	from, to := max(x.From, s.grid.from), min(x.To, s.grid.to)
	if from >= to || x.N >= maxRows {
		return
	}
	var row [][lanes.NumActivities]int64
	switch x.Track {
	case lanes.LaneTrack:
		row = s.track(&s.lanes, x.N)
	case lanes.ProcTrack:
		row = s.track(&s.procs, x.N)
	default:
		if s.mark == nil {
			s.mark = s.grid.row()
		}
		row = s.mark
	}
	for i := s.grid.at(from); from < to; i++ {
		_, hi := s.grid.bucket(i)
		hi = min(hi, to)
		row[i][x.Activity] += hi - from
		from = hi
	}
}

func (s *sums) track(list *[][][lanes.NumActivities]int64, n int) [][lanes.NumActivities]int64 {
	for len(*list) <= n {
		*list = append(*list, nil)
	}
	if (*list)[n] == nil {
		(*list)[n] = s.grid.row()
	}
	return (*list)[n]
}

// add joins the Ps and the marking of another process.
func (s *sums) add(o *sums) {
	s.procs = append(s.procs, o.procs...)
	if o.mark == nil {
		return
	}
	if s.mark == nil {
		s.mark = s.grid.row()
	}
	for i := range o.mark {
		s.mark[i][lanes.Running] += o.mark[i][lanes.Running]
	}
}
