package analyze

import (
	"math"
	"sort"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// cpuPerOp divides the CPU time of one operation by cause at base and peak:
// what CPU profiles alone can show, waits not among it. The CPU time is the
// timed runs' rusage; the profiled runs give only the shares. nil where either
// is missing.
func (l *loaded) cpuPerOp(base, peak *cell) []report.CPURow {
	b, p := base.onCPU(), peak.onCPU()
	if b == nil || p == nil {
		return nil
	}
	ids := map[cause.ID]bool{}
	for id := range b.byCause {
		ids[id] = true
	}
	for id := range p.byCause {
		ids[id] = true
	}
	var out []report.CPURow
	for _, id := range sortedCauses(ids) {
		row := report.CPURow{Cause: string(id), BaseNS: b.byCause[id] * b.perOp, PeakNS: p.byCause[id] * p.perOp}
		row.Stacks = growth(b.byPath[id], p.byPath[id], b.perOp, p.perOp, p.wallPerOp)
		out = append(out, row)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].PeakNS-out[i].BaseNS > out[j].PeakNS-out[j].BaseNS })
	return out
}

// onCPU is a cell's CPU time by cause and path, as shares of the whole.
type onCPU struct {
	byCause   map[cause.ID]float64
	byPath    map[cause.ID]map[*callPath]float64
	perOp     float64 // CPU ns per operation, all of it
	wallPerOp float64
}

func (c *cell) onCPU() *onCPU {
	cpu, wall := stats.Median(c.cpu), stats.Median(c.wall)
	if math.IsNaN(cpu) || c.ops <= 0 {
		return nil
	}
	out := &onCPU{byCause: map[cause.ID]float64{}, byPath: map[cause.ID]map[*callPath]float64{}, perOp: cpu / float64(c.ops), wallPerOp: wall / float64(c.ops)}
	total := 0.0
	for _, o := range c.profiled {
		for _, s := range o.onCPU {
			total += s.ns
		}
	}
	if total == 0 {
		return nil
	}
	for _, o := range c.profiled {
		for _, s := range o.onCPU {
			out.byCause[s.cause] += s.ns / total
			add(out.byPath, s.cause, s.path, s.ns/total)
		}
	}
	return out
}
