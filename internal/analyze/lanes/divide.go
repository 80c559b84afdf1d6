package lanes

import "cmp"

// running divides the lanes' plain running time: what was off CPU by what kept
// it off, the rest by the samples.
func (b *books) running(plain, ranged int64) offCPU {
	s := &b.samples
	hit := 0
	for _, n := range s.plain {
		hit += int(n)
	}
	all := s.total()
	b.out.Samples = s.lanes()
	off := b.cpu.absent(float64(plain+ranged), hit+s.ranged, all, float64(s.handOvers), s.nHandOvers)
	if t := off.total(); t > float64(plain) {
		off = offCPU{missed: off.missed + t - float64(plain)} // more than there is: the figures are of no use here
	}
	if b.cpu.used > 0 && all > 0 {
		b.out.Scale = b.cpu.used / (float64(all) * float64(b.in.period()))
	}
	gone := int64(off.total())
	spread(gone, b.absences(off), b.add)
	left := plain - gone
	// Running time that no CPU time covers and no figure of the kernel explains.
	// Below what the samples can tell it is noise, and is left where it is.
	if lost := b.samples.beyond(off.missed, b.cpu.used); lost > 0 {
		lost = min(lost, left)
		b.add(partKey{cause: cUnexplained, state: OnCPU}, lost)
		left -= lost
	}
	if hit == 0 {
		b.withoutSamples(left)
		return off
	}
	if hit < minSamples {
		b.warn("only %d CPU samples in lanes: how running time divides is a guess", hit)
	}
	spread(left, b.sampled(left, hit, all), b.add)
	return off
}

// sampled weighs the rows of plain running time on CPU. Page faults have no
// frame: they are taken out of the stacks whose leaf may touch new memory, the
// allocator's and those that clear or copy first.
func (b *books) sampled(on int64, hit, all int) []weighted {
	s := &b.samples
	quiet := all - s.kernel
	fault := 0.0
	if quiet > 0 {
		fault = b.cpu.faulting(s.kernel, all) * float64(hit-s.lanesKer) / float64(quiet)
	}
	var first, second float64
	for id, n := range s.plain {
		switch b.touches(id) {
		case touchesNew:
			first += float64(n)
		case mayTouchNew:
			second += float64(n)
		}
	}
	each := float64(on) / float64(hit)
	want := fault / each // in samples
	f1, f2 := 0.0, 0.0
	if first > 0 {
		f1 = min(1, want/first)
	}
	if second > 0 {
		f2 = min(1, max(0, want-first)/second)
	}
	rows := make([]weighted, 0, len(s.plain))
	for id, n := range s.plain {
		f := 0.0
		switch b.touches(id) {
		case touchesNew:
			f = f1
		case mayTouchNew:
			f = f2
		}
		rows = append(rows,
			weighted{partKey{b.stacks.running(id), OnCPU, id, 0}, float64(n) * (1 - f)},
			weighted{partKey{cPageFault, OnCPU, id, 0}, float64(n) * f})
	}
	return rows
}

const (
	touchesNothing = iota
	touchesNew
	mayTouchNew
)

func (b *books) touches(id stackID) int {
	info := &b.stacks.infos[id]
	c := b.stacks.running(id)
	switch {
	case info.kernel:
		return touchesNothing
	case info.fresh, b.causes.group(c) == "alloc":
		return touchesNew
	case c == cWork:
		return mayTouchNew
	}
	return touchesNothing
}

// absences weighs the rows of time off CPU. What the program's own wake-ups
// caused is divided like the time of the hand-overs themselves.
func (b *books) absences(off offCPU) []weighted {
	rows := []weighted{
		{partKey{cause: cThrottled, state: OffCPU}, off.throttled},
		{partKey{cause: cSteal, state: OffCPU}, off.steal},
		{partKey{cause: cNeighbour, state: OffCPU}, off.neighbour},
		{partKey{cause: cRunQueue, state: OffCPU}, off.queued},
	}
	var sum float64
	hand := make([]weighted, 0, 16)
	for packed, ns := range b.sums.all {
		k := unpackPart(packed)
		if k.state == Runnable && b.causes.group(k.cause) == "lock" {
			k.state = OffCPU
			hand = append(hand, weighted{k, float64(ns)})
			sum += float64(ns)
		}
	}
	for i := range hand {
		hand[i].weight *= off.handOver / sum
	}
	if sum == 0 {
		rows[3].weight += off.handOver
	}
	return append(rows, hand...)
}

// withoutSamples divides running time by the process's CPU profile, or not at all.
func (b *books) withoutSamples(left int64) {
	if left <= 0 {
		return
	}
	if rows := b.profiled(); len(rows) > 0 {
		b.warn("the trace holds no CPU samples of lanes; running time is divided by the process's CPU profile")
		spread(left, rows, b.add)
		return
	}
	b.warn("no CPU samples in lanes: running time is not divided by cause")
	b.add(partKey{cause: cWork, state: OnCPU}, left)
}

// profiled weighs stacks of the CPU profile by their CPU time, those of the
// collector's and the recorder's own goroutines and those without a goroutine
// left out.
func (b *books) profiled() []weighted {
	p := b.in.Profile
	if p == nil || len(p.SampleType) == 0 {
		return nil
	}
	var rows []weighted
	for _, s := range p.Sample {
		if len(s.Value) == 0 {
			continue
		}
		v := s.Value[len(s.Value)-1]
		frames := make([]Frame, 0, len(s.Location))
		for _, l := range s.Location {
			if len(l.Line) == 0 {
				frames = append(frames, Frame{PC: l.Address})
			}
			for _, ln := range l.Line {
				f := Frame{Line: int(ln.Line), PC: l.Address}
				if ln.Function != nil {
					f.Func, f.File = ln.Function.Name, ln.Function.Filename
				}
				frames = append(frames, f)
			}
		}
		if len(frames) > maxFrames {
			frames = frames[:maxFrames]
		}
		id := b.stacks.intern(frames)
		if id == 0 || v <= 0 {
			continue
		}
		root := frames[len(frames)-1].Func
		if b.stacks.infos[id].starts != classOther || root == "runtime.mcall" || root == "runtime.mstart" || root == "runtime.morestack" {
			continue
		}
		rows = append(rows, weighted{partKey{b.stacks.running(id), OnCPU, id, 0}, float64(v)})
	}
	return rows
}

// waited decides what it was that lanes waited for while the goroutine that let
// them go was running.
func (b *books) waited() {
	for packed, ns := range b.waits.all {
		k := b.unpackWait(packed)
		key := partKey{k.cause, Waiting, k.victim, k.culprit}
		if b.turns(k) {
			b.add(key, ns)
			continue
		}
		price := int64(0)
		if m := b.samples.byWho[k.who]; m != nil && k.cause != cUnexplained {
			price = int64(float64(ns) * float64(m.overhead) / float64(m.all))
		}
		b.add(key, price)
		key.cause = cSerial
		b.add(key, ns-price)
	}
}

// turns says whether lanes take turns through a channel or condition: who let
// this one go waits at the same place itself, and lets one go at a time. The
// channel is then used as a lock, and what one of them does in its turn is done
// under it.
func (b *books) turns(k waitKey) bool {
	switch k.cause {
	case cChannel, cSelect, cCond:
	default:
		return false
	}
	if k.who.lane() < 0 || b.stacks.infos[k.culprit].broadcast {
		return false
	}
	return b.waitedAt.has(siteLane(b.stacks.infos[k.victim].site, k.who.lane()))
}

// delegations divides the time of lanes that waited for goroutines of their own
// while those ran.
func (b *books) delegations() {
	var total int64
	for _, l := range b.lanes {
		total += l.delegated
	}
	if total == 0 {
		return
	}
	hits := b.samples.child
	if len(hits) == 0 {
		hits = b.samples.children
	}
	if len(hits) == 0 {
		b.warn("no CPU samples in the goroutines that lanes started and waited for")
		b.add(partKey{cause: cUnexplained, state: OnCPU}, total)
		return
	}
	rows := make([]weighted, 0, len(hits))
	for id, n := range hits {
		rows = append(rows, weighted{partKey{b.stacks.running(id), OnCPU, id, 0}, float64(n)})
	}
	spread(total, rows, b.add)
}

// queued names the goroutines that kept lanes off their Ps.
func (b *books) queued() {
	var byOthers, total int64
	for _, ns := range b.samples.queue.all {
		byOthers += ns
	}
	var victims []partKey
	for k, ns := range b.rows {
		if k.cause == cQueue && k.state == Runnable && k.culprit == 0 {
			total += ns
			victims = append(victims, k)
		}
	}
	if byOthers == 0 || total == 0 {
		return
	}
	share := min(1, cmpRatio(byOthers, total))
	for _, v := range victims {
		var rows []weighted
		for id, ns := range b.samples.queue.all {
			rows = append(rows, weighted{partKey{cQueue, Runnable, v.victim, stackID(id)}, float64(ns)})
		}
		take := int64(share * float64(b.rows[v]))
		b.add(v, -take)
		spread(take, rows, b.add)
	}
}

func cmpRatio(a, b int64) float64 { return float64(a) / float64(cmp.Or(b, 1)) }

// tail charges the time of lanes that were done to what still ran.
func (b *books) tail(total int64) {
	rows := make([]weighted, 0, len(b.samples.tail))
	for id, n := range b.samples.tail {
		rows = append(rows, weighted{partKey{cTail, Done, 0, id}, float64(n)})
	}
	if len(rows) == 0 {
		rows = append(rows, weighted{partKey{cause: cTail, state: Done}, 1})
	}
	spread(total, rows, b.add)
}
