package analyze

import (
	"fmt"
	"math"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// narrative says in one paragraph each how the collector, the allocator and
// the scheduler moved between base and peak, with figures. Counts and sizes
// come from the timed runs, phases from the traces.
func narrative(base, peak *cell) []string {
	var out []string
	for _, s := range []string{collector(base, peak), allocator(base, peak), scheduler(base, peak)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// metric is the median over timed runs of a runtime/metrics difference.
func (c *cell) metric(name string) float64 {
	var values []float64
	for _, r := range c.timed {
		if r != nil {
			values = append(values, sumMetric(r, name))
		}
	}
	return stats.Median(values)
}

// traced is the mean over accounts of a figure.
func (c *cell) traced(f func(*lanes.Account) float64) float64 {
	sum, n := 0.0, 0
	for _, o := range c.profiled {
		if o.account != nil {
			sum += f(o.account)
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

func collector(base, peak *cell) string {
	cyclesB, cyclesP := base.metric("/gc/cycles/automatic:gc-cycles"), peak.metric("/gc/cycles/automatic:gc-cycles")
	if math.IsNaN(cyclesB) || math.IsNaN(cyclesP) {
		return ""
	}
	if cyclesB < 1 && cyclesP < 1 {
		return "The garbage collector did not run in the window."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Garbage collector: %.0f cycles at T=%d and %.0f at T=%d for the same work", cyclesB, base.Threads, cyclesP, peak.Threads)
	if goal := peak.metric("/gc/heap/goal:bytes"); goal > 0 {
		fmt.Fprintf(&b, ", heap goal %s", bytesText(goal))
	}
	mark := func(c *cell) float64 {
		return c.traced(func(a *lanes.Account) float64 { return float64(a.GC.MarkNS) / float64(a.WallNS) })
	}
	if mb, mp := mark(base), mark(peak); !math.IsNaN(mb) && !math.IsNaN(mp) {
		fmt.Fprintf(&b, "; marking is on for %.0f%% and %.0f%% of the window", 100*mb, 100*mp)
	}
	idle := func(c *cell) float64 {
		return c.traced(func(a *lanes.Account) float64 { return float64(a.GC.IdleNS) / float64(a.WallNS) })
	}
	if ib, ip := idle(base), idle(peak); (ib > 0.005 || ip > 0.005) && !math.IsNaN(ib+ip) {
		fmt.Fprintf(&b, "; idle-priority mark workers use %.2f of otherwise idle cores at T=%d and %.2f at T=%d", ib, base.Threads, ip, peak.Threads)
	}
	pause := func(c *cell) (n, total, worst float64) {
		return c.traced(func(a *lanes.Account) float64 { return float64(a.GC.Pauses) }),
			c.traced(func(a *lanes.Account) float64 { return float64(a.GC.PauseNS) }),
			c.traced(func(a *lanes.Account) float64 { return float64(a.GC.WorstPauseNS) })
	}
	nb, tb, _ := pause(base)
	np, tp, wp := pause(peak)
	if !math.IsNaN(nb+np) && np > 0 {
		fmt.Fprintf(&b, "; %.0f pauses of %s in all become %.0f of %s, the worst %s", nb, duration(tb), np, duration(tp), duration(wp))
	}
	assist := func(c *cell) float64 {
		return c.traced(func(a *lanes.Account) float64 { return float64(a.GC.Assists) }) / float64(max(c.ops, 1))
	}
	if ab, ap := assist(base), assist(peak); (ab > 0 || ap > 0) && !math.IsNaN(ab+ap) {
		fmt.Fprintf(&b, "; %.2g and %.2g assists an operation", ab, ap)
	}
	if base.Procs != peak.Procs {
		fmt.Fprintf(&b, ". GOMAXPROCS differs (%d and %d): how marking is split between assists and workers follows from that policy and is no cause", base.Procs, peak.Procs)
	}
	return b.String() + "."
}

func allocator(base, peak *cell) string {
	bytesB, bytesP := base.metric("/gc/heap/allocs:bytes"), peak.metric("/gc/heap/allocs:bytes")
	objs := peak.metric("/gc/heap/allocs:objects")
	if math.IsNaN(bytesP) || bytesP <= 0 || peak.ops == 0 {
		return ""
	}
	ops := float64(peak.ops)
	out := fmt.Sprintf("Allocator: %s in %.3g objects an operation at T=%d", bytesText(bytesP/ops), objs/ops, peak.Threads)
	if wb, wp := stats.Median(base.wall), stats.Median(peak.wall); wb > 0 && wp > 0 && bytesB > 0 {
		out += fmt.Sprintf(", %s/s at T=%d and %s/s at T=%d", bytesText(bytesB/wb*1e9), base.Threads, bytesText(bytesP/wp*1e9), peak.Threads)
	}
	faults := func(c *cell) float64 {
		var v []float64
		for _, r := range c.timed {
			if r != nil {
				v = append(v, sumUsage(r, minFlt))
			}
		}
		return stats.Median(v)
	}
	if fb, fp := faults(base), faults(peak); fb+fp > 500 {
		out += fmt.Sprintf(", %.0f and %.0f minor page faults", fb, fp)
	}
	return out + "."
}

func scheduler(base, peak *cell) string {
	rate := func(c *cell, f func(lanes.Sched) int64) float64 {
		return c.traced(func(a *lanes.Account) float64 { return float64(f(a.Sched)) / float64(a.WallNS) })
	}
	idleB, idleP := rate(base, func(s lanes.Sched) int64 { return s.PIdleNS }), rate(peak, func(s lanes.Sched) int64 { return s.PIdleNS })
	if math.IsNaN(idleB) || math.IsNaN(idleP) {
		return ""
	}
	searchB, searchP := rate(base, func(s lanes.Sched) int64 { return s.PSearchNS }), rate(peak, func(s lanes.Sched) int64 { return s.PSearchNS })
	out := fmt.Sprintf("Scheduler: %.2f Ps idle and %.2f searching for work at T=%d, %.2f and %.2f at T=%d", idleB, searchB, base.Threads, idleP, searchP, peak.Threads)
	lat := func(c *cell) float64 {
		return c.traced(func(a *lanes.Account) float64 {
			if a.Sched.Latencies == 0 {
				return 0
			}
			return float64(a.Sched.LatencyNS) / float64(a.Sched.Latencies)
		})
	}
	if lp := lat(peak); lp > 0 {
		out += fmt.Sprintf("; a ready worker waits %s on average at T=%d", duration(lp), peak.Threads)
	}
	switches := func(c *cell) float64 {
		var v []float64
		for _, r := range c.timed {
			if r != nil {
				v = append(v, sumUsage(r, voluntary))
			}
		}
		return stats.Median(v)
	}
	if sb, sp := switches(base), switches(peak); sp > 100 {
		out += fmt.Sprintf("; %.0f and %.0f voluntary context switches", sb, sp)
	}
	return out + "."
}
