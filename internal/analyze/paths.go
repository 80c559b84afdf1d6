package analyze

import (
	"sort"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/report"
)

// pathShares holds, by cause and call path, the mean share of slot time over a
// cell's observations.
type pathShares struct {
	victim  map[cause.ID]map[*callPath]float64
	culprit map[cause.ID]map[*callPath]float64
}

func (c *cell) pathShares(table pathTable) pathShares {
	out := pathShares{victim: map[cause.ID]map[*callPath]float64{}, culprit: map[cause.ID]map[*callPath]float64{}}
	n := 0
	for _, o := range c.profiled {
		if o.account != nil && o.account.SlotNS > 0 {
			n++
		}
	}
	for _, o := range c.profiled {
		if o.account == nil || o.account.SlotNS <= 0 {
			continue
		}
		unit := 1 / float64(o.account.SlotNS) / float64(n)
		for _, p := range o.account.Parts {
			add(out.victim, p.Cause, table.stack(p.Victim), float64(p.NS)*unit)
			add(out.culprit, p.Cause, table.stack(p.Culprit), float64(p.NS)*unit)
		}
	}
	return out
}

func add(m map[cause.ID]map[*callPath]float64, id cause.ID, p *callPath, v float64) {
	if p == nil || len(p.frames) == 0 {
		return
	}
	if m[id] == nil {
		m[id] = map[*callPath]float64{}
	}
	m[id][p] += v
}

// maxRowStacks is how many call paths a row shows.
const maxRowStacks = 5

// growth lists the call paths that grew most from base to peak, in slot time,
// largest first; paths that shrank are left to the loss profile.
func growth(base, peak map[*callPath]float64, slotBase, slotPeak, wallPeak float64) []report.Stack {
	type grown struct {
		p  *callPath
		ns float64
	}
	var all []grown
	for p, v := range peak {
		if ns := v*slotPeak - base[p]*slotBase; ns > 0 {
			all = append(all, grown{p, ns})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].ns != all[j].ns {
			return all[i].ns > all[j].ns
		}
		return lessFrames(all[i].p.frames, all[j].p.frames)
	})
	if len(all) > maxRowStacks {
		all = all[:maxRowStacks]
	}
	out := make([]report.Stack, 0, len(all))
	for _, g := range all {
		out = append(out, report.Stack{
			Frames: g.p.frames, Source: g.p.source,
			ExcessNS: int64(g.ns), CoresLost: g.ns / wallPeak,
		})
	}
	return out
}

func lessFrames(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) < len(b)
}
