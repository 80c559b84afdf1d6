package lanes

// origin is why a goroutine became ready: who or what let it run again, and so
// who is to blame when nothing but the hand-over keeps it from running.
type origin struct {
	cause   causeID
	lock    bool // a lock, channel or the like let it go: a hand-over
	victim  stackID
	culprit stackID
}

// yielded is the origin of a goroutine that gave up its P and stays ready.
func (a *pass) yielded(g *goroutine) origin {
	o := origin{cause: cPreempt, victim: g.where}
	switch {
	case a.stops > 0:
		o.cause = cSTW
		if a.gcStops == 0 {
			o.culprit = a.stopStack
		}
	case g.where != 0:
		// Unlock hands the P of a starving lock's holder to the waiter.
		if c := a.stacks.running(g.where); a.causes.group(c) == "lock" {
			o.cause, o.lock, o.culprit = c, true, g.where
		}
	}
	return o
}

// endQueue divides the time that a goroutine of the program was ready.
func (a *pass) endQueue(g *goroutine, now int64) {
	begin := max(g.since, a.begin)
	d := now - begin
	if d < 0 {
		d = 0
	}
	if g.lane < 0 && a.shares[onNobody]-g.from[onNobody] >= float64(d)/2 {
		g.last = a.journal.add(entry{
			t0: g.since, t1: now, doing: didQueue, prev: g.last, cause: g.origin.cause, culprit: g.origin.culprit,
		})
		return
	}
	var part shares
	top := onNobody
	for b := range part {
		part[b] = a.shares[b] - g.from[b]
		if part[b] > part[top] {
			top = blame(b)
		}
	}
	c, culprit := a.charge(g, top)
	g.last = a.journal.add(entry{
		t0: g.since, t1: now, doing: didQueue, prev: g.last, cause: c, culprit: culprit,
	})
	if g.lane < 0 || d == 0 || !a.lanes[g.lane].active {
		return
	}
	l := a.lanes[g.lane]
	l.ready += d
	a.latency.add(d)
	left := d
	for b := range part {
		if blame(b) == top {
			continue
		}
		ns := min(int64(part[b]), left)
		if ns <= 0 {
			continue
		}
		left -= ns
		a.bookQueue(g, l, blame(b), ns)
	}
	a.bookQueue(g, l, top, left)
}

func (a *pass) bookQueue(g *goroutine, l *lane, b blame, ns int64) {
	c, culprit := a.charge(g, b)
	st := Runnable
	if b == onGCStop || b == onUserStop {
		st = Stopped
		l.ready -= ns
		l.stop += ns
	}
	a.book(c, st, g.origin.victim, culprit, ns)
	if b == onNobody && g.origin.lock {
		a.samples.handOvers += ns
		a.samples.nHandOvers++
		a.lockSum(c, g.origin.victim).handOver += ns
	}
}

// charge is the cause of time charged to b for g, and the culprit.
func (a *pass) charge(g *goroutine, b blame) (causeID, stackID) {
	switch b {
	case onNobody:
		return g.origin.cause, g.origin.culprit
	case onUserStop:
		return cSTW, a.stopStack
	}
	return causeOf[b], 0
}

// endSyscall divides a system call into the part with its P, which is kernel
// time as good as running, and the part after the P was taken.
func (a *pass) endSyscall(g *goroutine, now int64) {
	c := cSyscall
	if g.where != 0 && a.stacks.running(g.where) == cCgo {
		c = cCgo
	}
	g.last = a.journal.add(entry{t0: g.since, t1: now, doing: didSyscall, prev: g.last, cause: c, culprit: g.where})
	if a.perProc {
		a.spare.calls[partKey{c, OnCPU, g.where, 0}] += max(0, now-max(g.since, a.begin))
	}
	if g.lane < 0 || !a.lanes[g.lane].active {
		return
	}
	l := a.lanes[g.lane]
	begin := max(g.since, a.begin)
	cut := now
	if g.cut != 0 {
		cut = min(max(g.cut, begin), now)
	}
	l.ownSys += max(0, cut-begin)
	l.sys += max(0, now-max(cut, begin))
	a.book(c, OnCPU, g.where, 0, cut-begin)
	a.book(c, Syscall, g.where, 0, now-max(cut, begin))
}

// latencies is a histogram of the times from ready to running, with four
// buckets for each power of two.
type latencies struct {
	n     int
	sum   int64
	count [64 * 4]int32
}

func (l *latencies) add(d int64) {
	l.n++
	l.sum += d
	l.count[bucketOf(d)]++
}

func bucketOf(d int64) int {
	if d < 4 {
		return int(max(d, 0))
	}
	e := 0
	for v := d; v >= 8; v >>= 1 {
		e++
	}
	return (e+1)*4 + int(d>>e) - 4
}

func bucketTop(i int) int64 {
	if i < 4 {
		return int64(i)
	}
	e := i/4 - 1
	return int64(i%4+5)<<e - 1
}

// quantile is the upper bound of the bucket that holds the fraction q.
func (l *latencies) quantile(q float64) int64 {
	want := int(q * float64(l.n))
	for i, c := range l.count {
		if want -= int(c); want < 0 {
			return bucketTop(i)
		}
	}
	return 0
}
