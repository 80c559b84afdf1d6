package lanes

// waitKey sums time that lanes waited while the goroutine that ended the wait
// was running. Whether that is a serial part of the program or the price of the
// channel is decided at the end, from what that goroutine's samples say.
type waitKey struct {
	cause   causeID
	victim  stackID
	culprit stackID
	who     who
}

// packWait makes one word of a waitKey. A trace with more goroutines of different
// kinds than that has room for keeps the first.
func (a *pass) packWait(k waitKey) uint64 {
	n := a.whos.of(uint64(k.who))
	if n >= 1<<24 {
		n = 1<<24 - 1
	}
	return uint64(k.cause)<<56 | uint64(k.victim)<<40 | uint64(k.culprit)<<24 | uint64(n)
}

func (a *pass) unpackWait(k uint64) waitKey {
	return waitKey{causeID(k >> 56), stackID(k >> 40 & (1<<16 - 1)), stackID(k >> 24 & (1<<16 - 1)), who(a.whos.values[k&(1<<24-1)])}
}

// laneParks notes that a lane begins to wait.
func (a *pass) laneParks(g *goroutine) {
	l := a.lanes[g.lane]
	l.atPark = l.own.upTo(&a.ps)
	switch a.stacks.waiting(g.where, g.why) {
	case cChannel, cSelect, cCond, cWaitGroup:
		l.waitsFor = true
		a.samples.waiting++
		if site := a.stacks.infos[g.where].site; site != 0 {
			a.waitedAt.add(siteLane(site, g.lane), 0)
		}
	}
}

// endWait books the time that a goroutine of the program was parked, and finds
// out who ended it.
func (a *pass) endWait(g *goroutine, ev *event) {
	now := ev.time
	begin := max(g.since, a.begin)
	c := a.stacks.waiting(g.where, g.why)
	if g.lane >= 0 {
		if l := a.lanes[g.lane]; l.waitsFor {
			l.waitsFor = false
			a.samples.waiting--
		}
	}
	by := a.live.get(ev.g)
	var byWho who
	var byLast uint64
	if by != nil && by != g {
		byWho, byLast = by.who(), by.last
	} else {
		by = nil
	}
	culprit := stackID(0)
	if by != nil {
		culprit = a.stacks.idAt(ev.stack, ^ev.g)
	}
	before := g.since < a.begin && g.lane >= 0
	if before && a.causes.group(c) != "gc" {
		c = cHarness // the start barrier
	}
	kindOf := a.waitKind(c, g)
	g.origin = a.released(g, c, kindOf, by, culprit)
	if kindOf == waitsForLock && by != nil {
		a.handOver(g, by, begin, now, culprit)
	}
	e := entry{t0: g.since, t1: now, doing: didWait, prev: g.last, cause: c, culprit: culprit}
	if by != nil && kindOf == waitsForEvent {
		e.follow, e.link, e.linkWho = true, byLast, byWho
	}
	if g.lane >= 0 && a.lanes[g.lane].active {
		a.bookWait(g, c, kindOf, by, culprit, begin, now)
	}
	g.last = a.journal.add(e)
}

// waitKind says how the culprit of a wait is found.
type waitKind uint8

const (
	waitsAlone    waitKind = iota // for the clock, a file, the collector: its cause says it all
	waitsForLock                  // in a queue of a lock
	waitsForEvent                 // for what another goroutine does next
)

func (a *pass) waitKind(c causeID, g *goroutine) waitKind {
	switch {
	case c == cHarness:
		return waitsAlone
	case c == cChannel, c == cSelect, c == cWaitGroup, g.why == reasonCond, g.why == reasonNone && c == cUnexplained:
		return waitsForEvent
	case a.causes.group(c) == "lock":
		return waitsForLock
	}
	return waitsAlone
}

// released is why g becomes ready at the end of a wait.
func (a *pass) released(g *goroutine, c causeID, k waitKind, by *goroutine, culprit stackID) origin {
	o := origin{cause: c, victim: g.where, culprit: culprit}
	switch {
	case k == waitsAlone:
		o.culprit = 0
		switch a.causes.group(c) {
		case "gc", "observer":
		default:
			o.cause = cWakeLatency
		}
	case by == nil || c == cUnexplained:
		o.cause = cWakeLatency
	case g.owner >= 0 && by.owner == g.owner && by.lane < 0 && k == waitsForEvent && !a.stood(by):
		// A child that was started to do this one thing: what it costs is the
		// scheduler's, as with every go statement.
		o.cause = cWakeLatency
	default:
		o.lock = true
	}
	return o
}

// stood says whether a child has waited for something itself since its birth,
// as one does that works with its lane through a channel and not for it once.
func (a *pass) stood(by *goroutine) bool {
	n := by.last
	for range 8 {
		e := a.journal.at(n)
		if e == nil {
			return false
		}
		if e.doing == didWait && e.follow {
			return true
		}
		n = e.prev
	}
	return true
}

func (a *pass) bookWait(g *goroutine, c causeID, k waitKind, by *goroutine, culprit stackID, begin, now int64) {
	l := a.lanes[g.lane]
	d := now - begin
	if d <= 0 {
		return
	}
	l.parked += d
	if k != waitsAlone {
		s := a.lockSum(c, g.where)
		s.waits++
		s.waitNS += d
		a.locks.blame(s, culprit, d)
	}
	// The world stood still for a part of it, whatever the lane waited for.
	if a.causes.group(c) != "gc" && k != waitsAlone {
		if s := min(a.stopped-g.stopped, d); s > 0 && k == waitsForLock {
			a.book(cSTW, Waiting, g.where, 0, s)
			begin += s
		}
	}
	switch {
	case k == waitsForLock && by != nil:
		a.cutLockWait(g, c, by, culprit, begin, now)
	case k == waitsForEvent && by != nil:
		w := &a.walk
		*w = walk{cause: c, victim: g.where, culprit: culprit, lane: g.lane, own: by.owner == g.lane, pieces: w.pieces[:0]}
		a.follow(w, begin, now, by.last, by.who(), 0)
		a.bookWalk(w, now-begin, l.own.upTo(&a.ps).minus(l.atPark))
	case k == waitsForEvent && (c == cChannel || c == cSelect):
		// Nobody's goroutine sent: a timer did.
		a.book(cSleep, Waiting, g.where, 0, now-begin)
	default:
		a.book(c, Waiting, g.where, 0, now-begin)
	}
}

// walk is one wait of a lane that is divided by what others did meanwhile.
type walk struct {
	cause   causeID
	victim  stackID
	culprit stackID
	lane    int32
	own     bool // a goroutine of the lane's own ended it
	steps   int
	ran     int64 // ns that goroutines of the lane's own were running
	pieces  []piece
}

// piece is a part of a wait. Its goroutine was running, or it is booked under a
// cause that is known already.
type piece struct {
	ran     bool
	who     who
	cause   causeID
	culprit stackID
	ns      int64
}

const (
	maxSteps = 256 // states looked at for one wait
	maxDepth = 6   // goroutines in a row, each of which waited for the next
)

// follow divides [lo, hi): the goroutine by, whose newest entry is n, ended the
// wait at hi. Going back in time, its running time is its own doing; while it was
// ready it waited for what its entry says; and where it waited for somebody in
// turn, that one is followed.
func (a *pass) follow(w *walk, lo, hi int64, n uint64, by who, depth int) {
	cur := hi
	for cur > lo {
		e := a.journal.at(n)
		w.steps++
		if w.steps > maxSteps {
			e = nil
		}
		if e == nil {
			if n != 0 {
				break // has left the journal
			}
			w.running(by, cur-lo)
			return
		}
		// A state may begin before the wait and end after it has begun.
		if end := max(e.t1, lo); end < cur {
			w.running(by, cur-end)
			cur = end
		}
		if e.doing == wasBorn {
			n, by = e.link, e.linkWho
			continue
		}
		if from := max(e.t0, lo); from < cur {
			if e.doing == didWait && e.follow && depth < maxDepth {
				a.follow(w, from, cur, e.link, e.linkWho, depth+1)
			} else {
				w.pieces = append(w.pieces, piece{cause: e.cause, culprit: e.culprit, ns: cur - from})
			}
			cur = from
		}
		n = e.prev
	}
	if cur > lo {
		c := w.cause
		if c == cUnexplained {
			c = cSerial
		}
		w.pieces = append(w.pieces, piece{cause: c, ns: cur - lo})
	}
}

// running notes that for ns of the wait the goroutine by was running.
func (w *walk) running(by who, ns int64) {
	switch {
	case by.owner() == w.lane && by.lane() < 0:
		w.ran += ns
	case by.lane() == w.lane:
		// Itself, before it began to wait: only a damaged trace says so.
		w.pieces = append(w.pieces, piece{cause: cUnexplained, ns: ns})
	default:
		w.pieces = append(w.pieces, piece{ran: true, who: by, ns: ns})
	}
}

// bookWalk books a wait of d that has been followed. Where the lane waited for
// its own team, it worked through it for as long as any of it ran, whichever
// came last; while none ran and one was ready, that one's queue is the lane's;
// and only what remains is divided as the states of the last one say.
func (a *pass) bookWalk(w *walk, d int64, team ownTime) {
	left := d
	if w.own {
		w.ran = min(max(w.ran, team.ran), d)
		left -= w.ran
		for h, ns := range team.heads {
			ns = min(ns, left)
			a.book(a.causeOfHead(h), Waiting, w.victim, w.culprit, ns)
			left -= max(ns, 0)
		}
	} else {
		left -= w.ran
	}
	a.lanes[w.lane].delegated += w.ran
	var rest int64
	for i := range w.pieces {
		rest += w.pieces[i].ns
	}
	for i := range w.pieces {
		p := &w.pieces[i]
		ns := p.ns
		if rest != left {
			ns = min(int64(float64(p.ns)*(float64(left)/float64(rest))), left)
		}
		if i == len(w.pieces)-1 {
			ns = left
		}
		rest -= p.ns
		left -= ns
		culprit := p.culprit
		if culprit == 0 {
			culprit = w.culprit
		}
		if p.ran {
			if ns > 0 {
				a.waits.add(a.packWait(waitKey{w.cause, w.victim, w.culprit, p.who}), ns)
			}
			continue
		}
		a.book(p.cause, Waiting, w.victim, culprit, ns)
	}
	a.book(cWakeLatency, Waiting, w.victim, w.culprit, left)
}
