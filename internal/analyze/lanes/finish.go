package lanes

import (
	"fmt"
	"slices"
)

// finish closes the window, divides running time by the samples and makes the
// Account.
func (a *pass) finish(damage error) (*Account, error) {
	out := &Account{Truncated: damage != nil}
	if damage != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the trace ends early or is damaged (%v); the account covers what could be read", damage))
	}
	a.endEarly(out)
	byProcs := a.foreign != nil && !a.foreign.byStart
	if !a.began || a.end <= a.begin || (!byProcs && len(a.lanes) == 0) {
		if damage != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoWindow, damage)
		}
		return nil, ErrNoWindow
	}
	out.BeginNS, out.EndNS, out.WallNS, out.Procs = a.begin, a.end, a.end-a.begin, a.procs
	if out.Procs == 0 && a.in.Result != nil {
		out.Procs = a.in.Result.Procs
	}
	b := &books{pass: a, out: out, cpu: a.cpuInWindow()}
	if byProcs {
		b.perProcs()
	} else {
		b.workers()
	}
	b.summaries()
	if a.stacks.lost > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d call paths were not kept: there are more than %d different ones", a.stacks.lost, maxStacks))
	}
	return out, nil
}

// endEarly closes a window that the trace's end has left open.
func (a *pass) endEarly(out *Account) {
	if !a.on {
		return
	}
	marked := a.foreign == nil
	if marked || a.foreign.byStart {
		if a.working > 0 {
			a.end = a.now
			if !out.Truncated {
				out.Truncated = marked
				if marked {
					out.Warnings = append(out.Warnings, "the trace ends before the last lane does; the account covers what could be read")
				}
			}
		}
		a.finishLanes(a.now)
	} else {
		a.end = a.now
	}
	a.shut()
}

// books turns a pass into an Account.
type books struct {
	*pass
	out   *Account
	cpu   cpu
	rows  map[partKey]int64
	total int64
}

func (b *books) add(k partKey, ns int64) {
	if ns != 0 {
		b.rows[k] += ns
		b.total += ns
	}
}

// workers makes the account of lanes that are goroutines.
func (b *books) workers() {
	out := b.out
	out.LanesOf = "workers"
	if b.foreign != nil {
		out.LanesOf = "RunParallel goroutines"
	}
	out.SlotNS = out.WallNS * int64(len(b.lanes))
	b.rows = make(map[partKey]int64, b.sums.n)
	for k, ns := range b.sums.all {
		b.add(unpackPart(k), ns)
	}
	var plain, ranged, late, tail, strange int64
	for _, l := range b.lanes {
		end := min(max(l.end, b.begin), b.end)
		l.late = max(0, min(l.start, end)-b.begin)
		done := b.end - end
		plain += l.modes[modePlain]
		ranged += l.modes[modeAssist] + l.modes[modeSweep]
		late += l.late
		tail += done
		rest := out.WallNS - l.late - done - l.parked - l.ready - l.stop - l.ownSys - l.sys
		for _, m := range l.modes {
			rest -= m
		}
		l.parked += rest // of a state that the trace does not tell
		strange += rest
	}
	b.add(partKey{cause: cStartUp, state: Waiting}, late)
	b.add(partKey{cause: cUnexplained, state: Waiting}, strange)
	off := b.running(plain, ranged)
	b.waited()
	b.delegations()
	b.queued()
	b.tail(tail)
	b.closure(off, strange)
	b.laneTotals(off)
	b.parts()
}

// closure books nothing: it says how far measurements that are independent of
// the window's own clock miss the slot time.
func (b *books) closure(off offCPU, strange int64) {
	b.out.ClosureNS = b.samples.beyond(off.missed, b.cpu.used) + strange
	if r := b.in.Result; r != nil && r.EndNS > r.BeginNS && !b.out.Truncated && b.foreign == nil {
		b.out.ClosureNS += (r.EndNS - r.BeginNS - b.out.WallNS) * int64(len(b.lanes))
	}
}

// laneTotals fills Account.Lanes. Time off CPU is known for all lanes together
// only and is divided in proportion to their running time.
func (b *books) laneTotals(off offCPU) {
	var plain int64
	for _, l := range b.lanes {
		plain += l.modes[modePlain]
	}
	gone := int64(off.total())
	for _, l := range b.lanes {
		x := Lane{Goroutine: uint64(max(l.g, 0)), EndNS: min(max(l.end, b.begin), b.end) - b.begin}
		for _, m := range l.modes {
			x.ByState[OnCPU] += m
		}
		x.ByState[OnCPU] += l.ownSys + l.delegated
		if plain > 0 {
			x.ByState[OffCPU] = int64(float64(gone) * float64(l.modes[modePlain]) / float64(plain))
			x.ByState[OnCPU] -= x.ByState[OffCPU]
		}
		x.ByState[Runnable] = l.ready
		x.ByState[Waiting] = l.parked - l.delegated + l.late
		x.ByState[Syscall] = l.sys
		x.ByState[Stopped] = l.stop
		x.ByState[Done] = b.out.WallNS - x.EndNS
		b.out.Lanes = append(b.out.Lanes, x)
	}
}

// parts lists the rows, largest first.
func (b *books) parts() {
	// Rounding in floats aside, the rows add up already; a difference would be a
	// mistake of the pass, and is shown rather than hidden.
	if d := b.out.SlotNS - b.total; d != 0 {
		b.out.ClosureNS += d
		b.add(partKey{cause: cUnexplained, state: Waiting}, d)
	}
	keys := make([]partKey, 0, len(b.rows))
	for k, ns := range b.rows {
		if ns != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y partKey) int {
		if b.rows[x] != b.rows[y] {
			return int(min(max(b.rows[y]-b.rows[x], -1), 1))
		}
		return x.compare(y)
	})
	for _, k := range keys {
		b.out.Parts = append(b.out.Parts, Part{
			Cause: b.causes.id(k.cause), State: k.state, Victim: b.stacks.get(k.victim), Culprit: b.stacks.get(k.culprit), NS: b.rows[k],
		})
	}
}
