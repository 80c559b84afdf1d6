package lanes

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// Merge makes one account of the processes of a run, over the window from their
// release to their last end, in nanoseconds on the clock that they share. What
// of it lies before a process's own window is start-up; what lies behind its
// end is the tail, in which others still ran. The slot time is that of all
// lanes over the whole window, and the parts add up to it exactly. A window
// that does not hold all of the processes' own is widened to do so.
func Merge(accounts []*Account, begin, end int64) *Account {
	out := &Account{BeginNS: begin, EndNS: end, LanesOf: "workers"}
	for _, a := range accounts {
		if a != nil {
			out.BeginNS, out.EndNS = min(out.BeginNS, a.BeginNS), max(out.EndNS, a.EndNS)
		}
	}
	out.WallNS = out.EndNS - out.BeginNS
	var early, late int64
	weight := 0
	for _, a := range accounts {
		if a == nil {
			continue
		}
		before, after := a.BeginNS-out.BeginNS, out.EndNS-a.EndNS
		early += before * int64(len(a.Lanes))
		late += after * int64(len(a.Lanes))
		for _, l := range a.Lanes {
			l.ByState[Waiting] += before
			l.ByState[Done] += after
			l.EndNS += before
			out.Lanes = append(out.Lanes, l)
		}
		out.Parts = append(out.Parts, a.Parts...)
		out.ClosureNS += max(a.ClosureNS, -a.ClosureNS)
		out.Procs += a.Procs
		out.Samples += a.Samples
		out.Scale += a.Scale * float64(a.Samples)
		weight += a.Samples
		out.Truncated = out.Truncated || a.Truncated
		out.Warnings = append(out.Warnings, a.Warnings...)
		out.Locks = append(out.Locks, a.Locks...)
		out.Others = append(out.Others, a.Others...)
		out.GC.add(a.GC)
		out.Sched.add(a.Sched)
		if a.LanesOf != "workers" {
			out.LanesOf = a.LanesOf
		}
	}
	if weight > 0 {
		out.Scale /= float64(weight)
	}
	if early > 0 {
		out.Parts = append(out.Parts, Part{Cause: cause.OSStartUp, State: Waiting, NS: early})
	}
	if late > 0 {
		out.Parts = append(out.Parts, Part{Cause: cause.BalanceTail, State: Done, NS: late})
	}
	out.SlotNS = out.WallNS * int64(len(out.Lanes))
	return out
}

func (g *GC) add(o GC) {
	g.Cycles += o.Cycles
	g.MarkNS += o.MarkNS
	g.Pauses += o.Pauses
	g.PauseNS += o.PauseNS
	g.WorstPauseNS = max(g.WorstPauseNS, o.WorstPauseNS)
	g.Assists += o.Assists
	g.AssistNS += o.AssistNS
	g.DedicatedNS += o.DedicatedNS
	g.FractionalNS += o.FractionalNS
	g.IdleNS += o.IdleNS
	g.SweepNS += o.SweepNS
	g.HeapGoalBytes += o.HeapGoalBytes
}

func (s *Sched) add(o Sched) {
	s.PIdleNS += o.PIdleNS
	s.PSearchNS += o.PSearchNS
	s.PBusyNS += o.PBusyNS
	s.Latencies += o.Latencies
	s.LatencyNS += o.LatencyNS
	s.P50NS, s.P99NS = max(s.P50NS, o.P50NS), max(s.P99NS, o.P99NS)
	s.Preemptions += o.Preemptions
}
