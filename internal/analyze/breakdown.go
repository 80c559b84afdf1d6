package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// The units of a breakdown.
const (
	unitSlot     = "slot time"
	unitPSeconds = "P-seconds"
	unitCPU      = "CPU time"
)

// breakdown is where the time went at each T of a group that has profiles and no
// timings, as imported files are: shares of each T's own time. nil where the group
// is timed, or has no profiles.
func (l *loaded) breakdown(g *group) *report.Breakdown {
	if g.arm != record.Baseline {
		return nil
	}
	b := &report.Breakdown{Target: g.target, Mode: g.mode, Rows: []report.BreakdownRow{}}
	byCause := map[cause.ID][]float64{}
	var cells []*cell
	for _, c := range g.cells {
		if g.find(c.Threads) != nil {
			return nil
		}
		s, unit := c.ownShares()
		if len(s) == 0 {
			continue
		}
		if b.Unit == "" {
			b.Unit = unit
		}
		if unit != b.Unit {
			l.warn(nil, "unit", fmt.Sprintf("%s at T=%d: shares of %s cannot stand beside shares of %s; it is left out", g.target, c.Threads, unit, b.Unit))
			continue
		}
		for id, v := range s {
			if byCause[id] == nil {
				byCause[id] = make([]float64, len(g.cells))
			}
			byCause[id][len(cells)] = v
		}
		cells = append(cells, c)
		b.Threads = append(b.Threads, c.Threads)
	}
	if len(cells) == 0 {
		return nil
	}
	last := len(cells) - 1
	paths := cells[last].ownPaths(l.paths)
	for _, id := range sortedCauses(byCause) {
		shares := byCause[id][:len(cells)]
		b.Rows = append(b.Rows, report.BreakdownRow{Cause: string(id), Group: id.Group(), Shares: shares, Paths: largestPaths(paths[id])})
	}
	slices.SortStableFunc(b.Rows, func(x, y report.BreakdownRow) int { return cmp.Compare(y.Shares[last], x.Shares[last]) })
	return b
}

// ownShares are the parts of a cell's own time by cause, the mean over its
// observations, and what it is time of. Traces show all time, CPU profiles that on a CPU.
func (c *cell) ownShares() (shares, string) {
	unit := ""
	sums := shares{}
	n := 0.0
	for _, o := range c.profiled {
		if o.account != nil && o.account.SlotNS > 0 {
			u := unitSlot
			if o.account.LanesOf == "Ps" {
				u = unitPSeconds
			}
			if unit != u {
				unit, sums, n = u, shares{}, 0 // a trace says more than a CPU profile
			}
			for id, v := range sharesOf(o, countScale{1}) {
				sums[id] += v
			}
			n++
			continue
		}
		total := 0.0
		for _, s := range o.onCPU {
			total += s.ns
		}
		if total <= 0 || unit != "" && unit != unitCPU {
			continue
		}
		unit = unitCPU
		for _, s := range o.onCPU {
			sums[s.cause] += s.ns / total
		}
		n++
	}
	for id := range sums {
		sums[id] /= n
	}
	return sums, unit
}

// ownPaths are the call paths of ownShares.
func (c *cell) ownPaths(table pathTable) map[cause.ID]map[*callPath]float64 {
	if paths := c.pathShares(table); len(paths.victim) > 0 {
		return paths.victim
	}
	out := map[cause.ID]map[*callPath]float64{}
	total := 0.0
	for _, o := range c.profiled {
		for _, s := range o.onCPU {
			add(out, s.cause, s.path, s.ns)
			total += s.ns
		}
	}
	for _, paths := range out {
		for p := range paths {
			paths[p] /= total
		}
	}
	return out
}

// breakdownPaths is how many call paths a row of a breakdown shows.
const breakdownPaths = 3

func largestPaths(paths map[*callPath]float64) []report.BreakdownPath {
	out := []report.BreakdownPath{}
	for p, v := range paths {
		out = append(out, report.BreakdownPath{Frames: p.frames, Source: p.source, Share: v})
	}
	slices.SortFunc(out, func(x, y report.BreakdownPath) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), slices.Compare(x.Frames, y.Frames))
	})
	return out[:min(len(out), breakdownPaths)]
}
