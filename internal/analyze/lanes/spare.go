package lanes

// spare is the accounting of a program whose lanes are its Ps: what its
// goroutines could have done on the Ps that were free.
type spare struct {
	readyBy  [256]int32 // ready goroutines of the program, by why they became ready
	readyAll int32
	lockBy   [256]int32 // parked goroutines, by the lock's cause
	lockAll  int32
	asleep   int32 // parked for the clock
	netWait  int32 // parked for the network
	// served says that a load drives the program. Goroutines that have a request
	// in hand are then told from those that wait for one.
	served   bool
	asking   int32 // have a request, and wait for something in the program
	sleeping int32 // have a request, and wait for the clock
	free     [256]float64
	modes    [4]int64 // running time of the program's goroutines
	calls    map[partKey]int64
}

func (s *spare) reset() {
	s.free, s.modes = [256]float64{}, [4]int64{}
	s.calls = make(map[partKey]int64)
}

func (s *spare) ready(c causeID, n int32) {
	s.readyBy[c] += n
	s.readyAll += n
}

func (s *spare) park(c causeID, n int32) {
	switch c {
	case cMutex, cRWMutex:
		s.lockBy[c] += n
		s.lockAll += n
	case cSleep:
		s.asleep += n
	case cNetwork:
		s.netWait += n
	}
}

// advance divides the free P-time of dt: as many Ps as there are ready
// goroutines were kept from them by a hand-over, as many of the rest as there
// are goroutines in a lock's queue by that lock, and what then remains had
// nothing to do: the program waits for the clock or the network, or it is a
// serial part. A program that is driven by requests has a serial part only
// where it has requests in hand; else it lacks them.
func (s *spare) advance(p *ps, dt int64) {
	n := p.count[useIdle] + p.count[useSearch] + p.count[useClass+use(classIdleMark)]
	if n <= 0 {
		return
	}
	free := float64(n)
	d := float64(dt)
	if p.stops > 0 {
		s.free[cSTW] += d * free
		return
	}
	if s.readyAll > 0 {
		x := min(free, float64(s.readyAll))
		free -= x
		divide(&s.free, &s.readyBy, d*x/float64(s.readyAll))
	}
	if free > 0 && s.lockAll > 0 {
		x := min(free, float64(s.lockAll))
		free -= x
		divide(&s.free, &s.lockBy, d*x/float64(s.lockAll))
	}
	if s.served && s.netWait > 0 {
		free -= s.give(cSerial, s.asking, free, d)
		free -= s.give(cSleep, s.sleeping, free, d)
		if free > 0 {
			s.free[cNetwork] += d * free // no request came
		}
		return
	}
	if free <= 0 {
		return
	}
	busy := p.count[useSyscall]
	for c := classOther; c <= classChild; c++ {
		busy += p.count[useClass+use(c)]
	}
	switch {
	case busy > 0 || s.netWait+s.asleep == 0:
		s.free[cSerial] += d * free
	case s.netWait > 0:
		s.free[cNetwork] += d * free
	default:
		s.free[cSleep] += d * free
	}
}

// give books what n goroutines could have used of the free Ps, and returns it.
func (s *spare) give(c causeID, n int32, free, d float64) float64 {
	x := max(0, min(free, float64(n)))
	s.free[c] += d * x
	return x
}

// park counts n more goroutines that wait as g does.
func (a *pass) park(g *goroutine, n int32) {
	c := a.stacks.waiting(g.where, g.why)
	a.spare.park(c, n)
	if !a.spare.served || g.creator < 0 && !a.stacks.infos[g.where].serves {
		return
	}
	switch c {
	case cChannel, cSelect, cCond, cWaitGroup:
		a.spare.asking += n
	case cSleep:
		a.spare.sleeping += n
	}
}

// serving is where a goroutine starts that answers the requests of one
// connection of net/http. Those of other servers begin with their request.
const serving = "net/http.(*conn).serve"

func divide(to *[256]float64, by *[256]int32, each float64) {
	for c, n := range by {
		if n > 0 {
			to[c] += each * float64(n)
		}
	}
}

// openProcs begins to account by P, until marks or RunParallel say better.
func (a *pass) openProcs(now int64) {
	if a.foreign == nil {
		return
	}
	a.perProc = true
	a.spare.served = a.in.System != nil && a.in.System.LoadNS != nil
	a.openWindow(now)
}

// closeProcs ends what lasts at the window's end.
func (a *pass) closeProcs() {
	a.live.each(func(g *goroutine) {
		if !g.class.user() {
			return
		}
		switch g.status {
		case stRunning:
			a.flush(g, a.end)
		case stSyscall:
			a.endSyscall(g, a.end)
		}
	})
	for _, p := range a.all {
		p.spent[p.use] += max(0, a.end-max(p.since, a.from))
		p.since = a.end
	}
}

// procSample takes a sample of one of the program's goroutines.
func (a *pass) procSample(g *goroutine, id stackID) {
	if free := a.count[useIdle] + a.count[useSearch]; free > 0 {
		a.samples.tail[id] += int64(free)
	}
	switch {
	case g.status == stSyscall:
		a.samples.calls++
	case g.status != stRunning:
		a.samples.rest++
	case g.mode == modeStop:
		a.samples.stops++
	case g.mode != modePlain:
		a.samples.ranged++
	default:
		a.samples.plain[id]++
		if id != 0 && a.stacks.infos[id].kernel {
			a.samples.lanesKer++
		}
	}
}

// perProcs makes the account of Ps as lanes.
func (b *books) perProcs() {
	out := b.out
	out.LanesOf = "Ps"
	b.rows = make(map[partKey]int64)
	var sum [numUses]int64
	for i, p := range b.all {
		if p.spent[useNone] >= out.WallNS {
			continue
		}
		x := Lane{Goroutine: uint64(i), EndNS: out.WallNS}
		rest := out.WallNS
		for u, ns := range p.spent {
			sum[u] += ns
			rest -= ns
			switch use(u) {
			case useNone, useIdle, useSearch, useClass + use(classIdleMark):
				x.ByState[Waiting] += ns
			default:
				x.ByState[OnCPU] += ns
			}
		}
		x.ByState[Waiting] += rest
		sum[useNone] += rest
		out.Lanes = append(out.Lanes, x)
	}
	out.SlotNS = out.WallNS * int64(len(out.Lanes))
	b.add(partKey{cause: cStartUp, state: Waiting}, sum[useNone])

	plain := sum[useClass+use(classOther)] + sum[useClass+use(classLane)] + sum[useClass+use(classChild)]
	var ranged int64
	for packed, ns := range b.sums.all {
		k := unpackPart(packed)
		if k.state == OnCPU && ns <= plain {
			b.add(k, ns)
			plain -= ns
			ranged += ns
		}
	}
	calls := make([]weighted, 0, len(b.spare.calls))
	for k, ns := range b.spare.calls {
		calls = append(calls, weighted{k, float64(ns)})
	}
	if len(calls) == 0 {
		calls = append(calls, weighted{partKey{cause: cSyscall, state: OnCPU}, 1})
	}
	spread(sum[useSyscall], calls, b.add)
	for c := classMark; c < numClasses; c++ {
		if c != classIdleMark {
			b.add(partKey{cause: causeOf[blameOf[c]], state: OnCPU}, sum[useClass+use(c)])
		}
	}
	off := b.running(plain, ranged)
	b.freeProcs(sum[useIdle] + sum[useSearch] + sum[useClass+use(classIdleMark)])
	out.ClosureNS = b.samples.beyond(off.missed, b.cpu.used)
	b.parts()
}

// freeProcs divides the time of free Ps. What ran meanwhile is the culprit of a
// serial part.
func (b *books) freeProcs(total int64) {
	var rows []weighted
	for c, ns := range b.spare.free {
		if ns <= 0 {
			continue
		}
		k := partKey{cause: causeID(c), state: Waiting}
		if k.cause == cSerial && len(b.samples.tail) > 0 {
			var hits float64
			for _, n := range b.samples.tail {
				hits += float64(n)
			}
			for id, n := range b.samples.tail {
				k.culprit = id
				rows = append(rows, weighted{k, ns * float64(n) / hits})
			}
			continue
		}
		rows = append(rows, weighted{k, ns})
	}
	if len(rows) == 0 {
		rows = append(rows, weighted{partKey{cause: cSerial, state: Waiting}, 1})
	}
	spread(total, rows, b.add)
}
