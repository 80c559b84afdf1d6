package lanes

import "github.com/scaleprof/scaleprof/internal/capture/recorder"

// maxLanes bounds the lanes of one process.
const maxLanes = 1 << 16

// laneBegins makes goroutine id a lane.
func (a *pass) laneBegins(id, now int64) {
	g := a.live.get(id)
	if g == nil || g.lane >= 0 || a.closed || len(a.lanes) >= maxLanes {
		return
	}
	if a.foreign != nil && !a.foreign.byStart {
		// It does have lanes: what counts is the window that its logs open.
		a.foreign = nil
		a.began, a.on, a.perProc = false, false, false
	}
	n := int32(len(a.lanes))
	a.lanes = append(a.lanes, &lane{g: id, start: now, active: true})
	a.working++
	if a.on {
		a.flush(g, now)
		g.since, g.cut = max(g.since, now), max(g.cut, now)
	}
	g.lane, g.owner, g.start = n, n, max(g.start, 0)
	a.reclass(g, classLane)
}

// laneEnds marks the lane of g as done. The window ends with the last.
func (a *pass) laneEnds(g *goroutine, now int64) {
	l := a.lanes[g.lane]
	if !l.active {
		return
	}
	if a.on {
		a.cutState(g, now)
	}
	l.active, l.end = false, now
	a.working--
	if a.watch != nil {
		a.watch.lane(g.lane, Absent, now)
	}
	g.lane, g.owner = -1, -1
	a.reclass(g, classOther)
	if a.on {
		a.end = now
		if a.working == 0 && (a.foreign == nil || !a.foreign.byStart) {
			a.shut()
		}
	}
}

// cutState books what a lane's present state has lasted so far, where the lane
// or the window ends in the middle of it.
func (a *pass) cutState(g *goroutine, now int64) {
	ev := event{kind: evGo, time: now, g: -1, p: -1}
	switch g.status {
	case stRunning:
		a.flush(g, now)
		g.since = now
	case stRunnable:
		a.endQueue(g, now)
		g.from = a.shares
		g.since = now
	case stWaiting:
		a.endWait(g, &ev)
		g.since, g.stopped = now, a.stopped
	case stSyscall:
		a.endSyscall(g, now)
		g.since = now
		if g.cut != 0 {
			g.cut = now
		}
	}
}

// mark handles the harness's logs.
func (a *pass) mark(ev *event) {
	switch {
	case ev.text == recorder.LogBegin && !a.marked:
		a.marked = true
		a.openWindow(ev.time)
	case ev.text == recorder.LogEnd && a.marked:
		if a.on && (len(a.lanes) == 0 || a.working > 0) {
			a.end = ev.time
		}
		a.finishLanes(ev.time)
		a.shut()
		a.closed = true
	}
}

// openWindow begins the window. States that began before count from here.
func (a *pass) openWindow(now int64) {
	a.reset()
	a.began, a.on, a.begin, a.end, a.from = true, true, now, now, now
	for _, l := range a.lanes {
		l.start = max(l.start, now)
		l.own.done, l.own.since, l.own.head = ownTime{}, now, a.head
	}
	a.live.each(func(g *goroutine) {
		g.from, g.stopped, g.charged, g.last = a.shares, 0, a.perOut, 0
		if g.class == classMark {
			g.stopped = markDedicated
		}
		a.adopt(g, 0)
		if g.lane >= 0 && g.status == stWaiting {
			a.laneParks(g)
		}
	})
	if a.gc.marking {
		a.gc.markSince = now
	}
}

// reset forgets what was booked, for a window that begins now.
func (a *pass) reset() {
	a.sums.clear()
	a.waits.clear()
	a.whos.clear()
	a.waitedAt.clear()
	clear(a.queues)
	a.locks.clear()
	a.outside = a.outside[:0]
	a.spare.reset()
	for _, p := range a.all {
		p.since, p.spent = a.now, [numUses]int64{}
	}
	a.samples.init()
	a.gc = gcState{marking: a.gc.marking}
	a.latency = latencies{}
	a.shares, a.stopped, a.perOut = shares{}, 0, 0
	a.idle, a.search, a.busy, a.halted = 0, 0, 0, 0
}

// adopt makes g a child of the lane that its creators lead to.
func (a *pass) adopt(g *goroutine, depth int) {
	if g.owner >= 0 || g.creator < 0 || depth > 16 {
		return
	}
	c := a.live.get(g.creator)
	if c == nil {
		return
	}
	a.adopt(c, depth+1)
	if g.owner = c.owner; g.owner >= 0 && g.class == classOther {
		a.reclass(g, classChild)
	}
}

// finishLanes ends all lanes that still work.
func (a *pass) finishLanes(now int64) {
	a.live.each(func(g *goroutine) {
		if g.lane >= 0 && a.lanes[g.lane].active {
			a.cutState(g, now)
			l := a.lanes[g.lane]
			l.active, l.end = false, now
			a.working--
		}
	})
}

// shut closes the window.
func (a *pass) shut() {
	if !a.on {
		return
	}
	if a.perProc {
		a.closeProcs()
	}
	a.live.each(func(g *goroutine) {
		if g.status == stRunning && g.lane < 0 {
			a.ran(g, a.end)
		}
	})
	a.gc.close(a.end)
	a.on, a.closed = false, true
}
