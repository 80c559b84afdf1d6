package lanes

import (
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"golang.org/x/exp/trace"
)

// pass is the state of one streaming pass over one trace.
type pass struct {
	ps
	causes  *causes
	stacks  *stackTable
	live    *table
	journal *journal
	in      *Input

	lanes   []*lane
	working int   // lanes that have not ended
	begin   int64 // of the window, once on
	end     int64 // of the window, once closed: the last lane's end
	began   bool
	marked  bool // the window is the one that the harness's logs mark
	closed  bool
	seen    bool // any event was read
	foreign *foreign
	walk    walk
	watch   *watch // nil where nobody watches

	sums      tally   // partKey, packed
	waits     tally   // waitKey, packed
	whos      numbers // the goroutines in waits
	waitedAt  tally   // sites and lanes, see siteLane
	queues    map[int32]*lockQueue
	locks     lockSums
	outside   []outside // goroutines that are no lanes, by start function's stack
	samples   samples
	gc        gcState
	latency   latencies
	stopStack stackID // who stopped the world last
	goal      uint64
	procs     int
	preempted int
}

// lane is one worker's time line.
type lane struct {
	g         int64
	start     int64
	end       int64 // 0 while it works
	active    bool
	waitsFor  bool // parked for what another goroutine does
	modes     [4]int64
	parked    int64
	ready     int64
	ownSys    int64 // system calls with the P
	sys       int64 // and without
	stop      int64 // ready while the world was stopped
	delegated int64 // of parked: children ran meanwhile
	late      int64 // from the window's begin until the lane began
	own       team  // the goroutines that it started, and theirs
	atPark    ownTime
}

// partKey names a row of the account before running time is divided.
type partKey struct {
	cause   causeID
	state   State
	victim  stackID
	culprit stackID
}

// pack makes one word of a partKey. Stacks are fewer than 1<<16.
func (k partKey) pack() uint64 {
	return uint64(k.cause)<<40 | uint64(k.state)<<36 | uint64(k.victim)<<18 | uint64(k.culprit)
}

func unpackPart(k uint64) partKey {
	return partKey{causeID(k >> 40), State(k >> 36 & 15), stackID(k >> 18 & (1<<18 - 1)), stackID(k & (1<<18 - 1))}
}

// siteLane is the key of a place in the program and a lane.
func siteLane(site, lane int32) uint64 { return uint64(site)<<32 | uint64(uint32(lane)) }

// outside sums up the goroutines of one start function that are no lanes.
type outside struct {
	ns    int64
	count int
}

func newPass(in *Input) *pass {
	c := newCauses()
	a := &pass{
		in: in, causes: c, stacks: newStackTable(c, in.rules()), live: newTable(), journal: newJournal(),
		queues: make(map[int32]*lockQueue),
	}
	a.samples.init()
	return a
}

// book adds a finished piece of slot time.
func (a *pass) book(c causeID, st State, victim, culprit stackID, ns int64) {
	if ns > 0 {
		a.sums.add(partKey{c, st, victim, culprit}.pack(), ns)
	}
}

// event takes the next event of the stream.
func (a *pass) event(ev *event) {
	if !a.seen {
		a.seen = true
		a.now = ev.time
		a.openProcs(ev.time)
	}
	switch ev.kind {
	case evGo:
		a.advance(ev.time)
		a.goEvent(ev)
	case evProc:
		a.advance(ev.time)
		a.procEvent(ev)
	case evSample:
		a.sample(ev)
	case evRangeBegin, evRangeActive, evRangeEnd:
		a.advance(ev.time)
		a.rangeEvent(ev)
	case evGoLabel:
		a.advance(ev.time)
		a.label(ev)
	case evMetric:
		a.advance(ev.time)
		switch ev.metric {
		case metricHeapGoal:
			a.goal = ev.value
		case metricProcs:
			a.procs = int(min(ev.value, maxProcs))
		}
	case evRegionBegin:
		a.advance(ev.time)
		if ev.name == recorder.RegionLane {
			a.laneBegins(ev.g, ev.time)
		}
	case evRegionEnd:
		a.advance(ev.time)
		if g := a.live.get(ev.g); g != nil && g.lane >= 0 && ev.name == recorder.RegionLane {
			a.laneEnds(g, ev.time)
		}
	case evLog:
		a.advance(ev.time)
		if ev.name == recorder.LogCategory {
			a.mark(ev)
		}
	case evSync:
		a.stacks.forget()
	}
}

// goEvent changes a goroutine's state. It trusts its own record of the state
// before more than the event's, so that no stream can unbalance the sums.
func (a *pass) goEvent(ev *event) {
	g := a.live.get(ev.res)
	from, to := trace.GoState(ev.from), trace.GoState(ev.to)
	if g == nil {
		if to == trace.GoNotExist {
			return
		}
		g = a.live.add(ev.res)
		g.since = ev.time
		if from == trace.GoNotExist {
			a.born(g, ev)
		} else {
			a.identify(g, ev)
			if id := a.stacks.id(ev.tstack); id != 0 {
				g.where = id
			}
			a.open(g, statusOf(to), ev)
			return
		}
	} else if from == to || from == trace.GoUndetermined {
		// A generation begins: the state, its reason and its begin stay.
		a.identify(g, ev)
		return
	}
	a.close(g, ev)
	g.status = stUnknown
	if to == trace.GoNotExist {
		a.dies(g, ev.time)
		return
	}
	a.open(g, statusOf(to), ev)
}

func statusOf(s trace.GoState) status {
	switch s {
	case trace.GoRunnable:
		return stRunnable
	case trace.GoRunning:
		return stRunning
	case trace.GoWaiting:
		return stWaiting
	case trace.GoSyscall:
		return stSyscall
	}
	return stUnknown
}

// born records where a new goroutine comes from.
func (a *pass) born(g *goroutine, ev *event) {
	g.creator = ev.g
	g.start = a.stacks.idAt(ev.tstack, ev.g)
	if g.start != 0 {
		g.class, g.named = a.stacks.infos[g.start].starts, true
	}
	c := a.live.get(ev.g)
	if c == nil {
		return
	}
	g.owner = c.owner
	if g.owner >= 0 && g.class == classOther {
		g.class = classChild
	}
	if a.on {
		g.last = a.journal.add(entry{
			t0: ev.time, t1: ev.time, doing: wasBorn, link: c.last, linkWho: c.who(),
		})
	}
	if a.foreign != nil {
		a.foreign.born(a, g, ev.time)
	}
}

// identify finds out whose goroutine it is from a stack of its own, if not known yet.
func (a *pass) identify(g *goroutine, ev *event) {
	if g.named {
		return
	}
	id := a.stacks.id(ev.tstack)
	if id == 0 {
		return
	}
	frames := a.stacks.infos[id].stack.Frames
	g.start = a.stacks.intern(frames[len(frames)-1:])
	g.named = true
	if g.class == classOther {
		a.reclass(g, a.stacks.infos[id].starts)
	}
}

func (g *goroutine) who() who { return newWho(g.lane, g.owner, g.start) }

func (a *pass) dies(g *goroutine, now int64) {
	if g.lane >= 0 {
		a.laneEnds(g, now)
	}
	a.live.remove(g)
	if a.foreign != nil {
		a.foreign.died(a)
	}
}

// open begins a state.
func (a *pass) open(g *goroutine, st status, ev *event) {
	g.status, g.since, g.cut = st, ev.time, ev.time
	switch st {
	case stRunnable:
		g.from = a.shares
		if g.class == classChild {
			a.lanes[g.owner].own.queues(&a.ps, 1)
			g.serves = true
		}
		if g.class.user() {
			a.runnable++
			if a.perProc {
				a.spare.ready(g.origin.cause, 1)
			}
		}
	case stRunning:
		p := g.p
		if p == nil {
			p = a.proc(ev.p)
		}
		a.attach(g, p)
		g.mode = a.modeOf(g)
		if g.class == classChild {
			a.lanes[g.owner].own.runs(&a.ps, 1)
			g.serves = true
		}
		g.charged = a.perOut
	case stWaiting:
		g.stopped = a.stopped
		g.why = ev.reason
		if g.lane >= 0 && a.on {
			a.laneParks(g)
		}
		if a.perProc && g.class.user() {
			a.park(g, 1)
		}
	case stSyscall:
		g.cut = 0
		if g.p == nil {
			g.cut = ev.time
		}
		a.recount(g.p)
	}
}

// attach gives a P to a goroutine that begins to run.
func (a *pass) attach(g *goroutine, p *proc) {
	if p == nil {
		return
	}
	if p.g != nil && p.g != g {
		p.g.p = nil
	}
	if g.p != nil && g.p != p {
		a.detach(g)
	}
	p.g, g.p = g, p
	a.recount(p)
}

func (a *pass) detach(g *goroutine) {
	p := g.p
	g.p = nil
	if p != nil && p.g == g {
		p.g = nil
		a.recount(p)
	}
}

// close ends the present state and books it.
func (a *pass) close(g *goroutine, ev *event) {
	now := ev.time
	switch g.status {
	case stRunning:
		a.flush(g, now)
		to := trace.GoState(ev.to)
		g.where = 0
		if to != trace.GoNotExist && (a.on || g.lane >= 0 || !g.named) {
			g.where = a.stacks.idAt(ev.stack, g.id)
			if !g.named {
				a.identify(g, ev)
			}
		}
		a.ran(g, now)
		if to == trace.GoSyscall {
			break // keeps its P for now
		}
		a.detach(g)
		if to == trace.GoRunnable {
			g.origin = a.yielded(g)
			if a.on && g.lane >= 0 && ev.reason == reasonPreempted {
				a.preempted++
			}
		}
	case stRunnable:
		if g.serves {
			a.lanes[g.owner].own.queues(&a.ps, -1)
			g.serves = false
		}
		if g.class.user() {
			a.runnable--
			if a.perProc {
				a.spare.ready(g.origin.cause, -1)
			}
			if a.on {
				a.endQueue(g, now)
			}
		}
	case stWaiting:
		if a.perProc && g.class.user() {
			a.park(g, -1)
		}
		if g.class.user() && a.on {
			a.endWait(g, ev)
		} else {
			g.origin = origin{cause: cWakeLatency}
		}
	case stSyscall:
		if a.on && g.class.user() {
			a.endSyscall(g, now)
		}
		if to := trace.GoState(ev.to); to != trace.GoRunning {
			a.detach(g)
			g.origin = origin{cause: cSyscall, victim: g.where}
		}
	default:
		g.origin = origin{cause: cSpawn}
		if g.creator >= 0 {
			g.origin.victim = a.stacks.idAt(ev.stack, ev.g)
		}
	}
}

// ran ends a goroutine's running, or its part before a system call.
func (a *pass) ran(g *goroutine, now int64) {
	if g.serves {
		a.lanes[g.owner].own.runs(&a.ps, -1)
		g.serves = false
	}
	if !a.on {
		return
	}
	if g.lane >= 0 {
		return
	}
	d := max(0, now-max(g.since, a.begin))
	if d == 0 {
		return
	}
	for len(a.outside) <= int(g.start) {
		a.outside = append(a.outside, outside{})
	}
	a.outside[g.start].ns += d
	a.outside[g.start].count++
	switch g.class {
	case classMark:
		a.gc.marked(g, d)
	case classIdleMark:
		a.gc.idle += d
	case classSweep:
		a.gc.sweep += d
	case classOther, classChild:
		// What lanes waited for it while it held its P.
		if q := int64(a.perOut - g.charged); q > 0 {
			culprit := g.where
			if culprit == 0 {
				culprit = g.start
			}
			a.samples.queue.add(uint64(culprit), q)
		}
	}
}

// procEvent changes a P's state.
func (a *pass) procEvent(ev *event) {
	p := a.proc(ev.res)
	if p == nil {
		return
	}
	from, to := trace.ProcState(ev.from), trace.ProcState(ev.to)
	if from == to && p.exists {
		return
	}
	p.exists = to == trace.ProcRunning || to == trace.ProcIdle
	p.running = to == trace.ProcRunning
	if !p.running && p.g != nil {
		// Taken away in a system call; nothing else loses a P while it runs.
		g := p.g
		g.p, p.g = nil, nil
		if g.status == stSyscall && g.cut == 0 {
			g.cut = ev.time
		}
	}
	a.recount(p)
}

// label tells what a mark worker does from now on.
func (a *pass) label(ev *event) {
	g := a.live.get(ev.res)
	if g == nil {
		return
	}
	switch ev.name {
	case "GC (dedicated)":
		a.reclass(g, classMark)
		g.stopped = markDedicated
	case "GC (fractional)":
		a.reclass(g, classMark)
		g.stopped = markFractional
	case "GC (idle)":
		a.reclass(g, classIdleMark)
	}
}

// reclass changes whose goroutine it is while it may be running or ready.
func (a *pass) reclass(g *goroutine, c class) {
	if g.class == c {
		g.named = true
		return
	}
	if g.class.user() != c.user() {
		n := int32(1)
		if !c.user() {
			n = -1
		}
		switch {
		case g.status == stRunnable:
			a.runnable += n
			if a.perProc {
				a.spare.ready(g.origin.cause, n)
			}
		case g.status == stWaiting && a.perProc:
			a.park(g, n)
		}
	}
	g.class, g.named = c, true
	a.recount(g.p)
}
