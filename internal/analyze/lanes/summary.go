package lanes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

func (b *books) warn(format string, args ...any) {
	b.out.Warnings = append(b.out.Warnings, fmt.Sprintf(format, args...))
}

// maxListed bounds the locks and other goroutines that an Account lists.
const maxListed = 32

func (b *books) summaries() {
	out, g := b.out, &b.gc
	out.GC = GC{
		Cycles: g.cycles, MarkNS: g.markNS, Pauses: g.pauses, PauseNS: g.pauseNS, WorstPauseNS: g.worst, Assists: g.assists, AssistNS: g.assistNS,
		DedicatedNS: g.dedicated, FractionalNS: g.fractional, IdleNS: g.idle, SweepNS: g.sweep, HeapGoalBytes: b.goal,
	}
	exist := 0
	for _, p := range b.all {
		if p.exists {
			exist++
		}
	}
	out.Sched = Sched{
		PIdleNS: b.idle, PSearchNS: b.search, PBusyNS: max(0, int64(exist)*out.WallNS-b.idle-b.search-b.halted),
		Latencies: b.latency.n, LatencyNS: b.latency.sum, P50NS: b.latency.quantile(0.5), P99NS: b.latency.quantile(0.99),
		Preemptions: b.preempted,
	}
	holders := b.locks.top()
	for _, s := range b.locks.sums {
		out.Locks = append(out.Locks, Lock{
			Cause: b.causes.id(s.cause), Wait: b.stacks.get(s.victim), Holder: b.stacks.get(holders[s.number]), Waits: s.waits, WaitNS: s.waitNS, HandOver: s.handOver,
		})
	}
	slices.SortFunc(out.Locks, func(x, y Lock) int {
		return cmp.Or(cmp.Compare(y.WaitNS+y.HandOver, x.WaitNS+x.HandOver), cmp.Compare(y.Waits, x.Waits), cmp.Compare(leaf(x.Wait), leaf(y.Wait)))
	})
	out.Locks = out.Locks[:min(len(out.Locks), maxListed)]
	sum := make(map[string]*Other)
	for id, o := range b.outside {
		if o.count == 0 {
			continue
		}
		name := "unknown"
		if s := b.stacks.get(stackID(id)); s != nil {
			name = s.Frames[0].Func
		}
		if sum[name] == nil {
			sum[name] = &Other{Start: name}
		}
		sum[name].NS += o.ns
		sum[name].Count += o.count
	}
	for o := range maps.Values(sum) {
		out.Others = append(out.Others, *o)
	}
	slices.SortFunc(out.Others, func(x, y Other) int { return cmp.Or(cmp.Compare(y.NS, x.NS), cmp.Compare(x.Start, y.Start)) })
	out.Others = out.Others[:min(len(out.Others), maxListed)]
}

func leaf(s *Stack) string {
	if s == nil || len(s.Frames) == 0 {
		return ""
	}
	return s.Frames[0].Func
}
