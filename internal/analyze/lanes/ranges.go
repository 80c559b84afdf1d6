package lanes

import "strings"

// modeOf is what a goroutine that runs now does.
func (a *pass) modeOf(g *goroutine) mode {
	switch {
	case g.stopper:
		return modeStop
	case g.assist:
		return modeAssist
	case g.p != nil && g.p.sweeping:
		return modeSweep
	}
	return modePlain
}

// flush books running time up to now and lets the mode be what it is now.
func (a *pass) flush(g *goroutine, now int64) {
	if g.status != stRunning {
		return
	}
	if a.on && (g.lane >= 0 || a.perProc && g.class.user()) {
		d := now - max(g.cut, a.begin)
		if d > 0 {
			if g.lane >= 0 {
				a.lanes[g.lane].modes[g.mode] += d
			} else {
				a.spare.modes[g.mode] += d
			}
			switch g.mode {
			case modeStop:
				a.book(cSTW, OnCPU, g.inRange, 0, d)
			case modeAssist:
				a.book(cAssist, OnCPU, g.inRange, 0, d)
				a.gc.assistNS += d
			case modeSweep:
				id := stackID(0)
				if g.p != nil {
					id = g.p.sweepStack
				}
				a.book(cSweep, OnCPU, id, 0, d)
				a.gc.sweep += d
			}
		}
	}
	g.cut = now
	g.mode = a.modeOf(g)
}

func (a *pass) rangeEvent(ev *event) {
	on := ev.kind != evRangeEnd
	switch ev.rng {
	case rngMark:
		a.gc.mark(a, on, ev.time)
	case rngStop:
		a.stop(ev, on)
	case rngAssist:
		g := a.live.get(ev.res)
		if g == nil || g.assist == on {
			return
		}
		a.flushAt(g, ev.time, func() { g.assist = on })
		if on {
			g.inRange = a.stacks.rangeID(ev.stack)
			if a.on && g.class.user() && ev.kind == evRangeBegin {
				a.gc.assists++
			}
		}
	case rngSweep:
		p := a.proc(ev.res)
		if p == nil || p.sweeping == on {
			return
		}
		if on {
			p.sweepStack = a.stacks.rangeID(ev.stack)
		}
		if p.g == nil {
			p.sweeping = on
			return
		}
		a.flushAt(p.g, ev.time, func() { p.sweeping = on })
	}
}

// flushAt books g's time in its old mode, then lets change alter it.
func (a *pass) flushAt(g *goroutine, now int64, change func()) {
	if g.status != stRunning {
		change()
		return
	}
	a.flush(g, now)
	change()
	g.mode = a.modeOf(g)
}

// stop begins or ends a stop-the-world. Its range is on the goroutine that
// asked for it.
func (a *pass) stop(ev *event, on bool) {
	g := a.live.get(ev.res)
	if g != nil {
		if g.stopper == on {
			return
		}
		a.flushAt(g, ev.time, func() { g.stopper = on })
	}
	gc := strings.HasPrefix(ev.name, "GC ")
	if !on {
		if a.stops > 0 {
			a.stops--
			if gc && a.gcStops > 0 {
				a.gcStops--
				a.gc.paused(ev.time, a.begin, a.on)
			}
		}
		return
	}
	id := a.stacks.rangeID(ev.stack)
	if g != nil {
		g.inRange = id
	}
	a.stops++
	if gc {
		a.gcStops++
		a.gc.pauseSince = ev.time
	} else {
		a.stopStack = id
	}
}

const (
	markDedicated  = 1 // kept in goroutine.stopped of a mark worker
	markFractional = 2
)

// gcState is what the collector does.
type gcState struct {
	cycles     int
	marking    bool
	markSince  int64
	markNS     int64
	pauses     int
	pauseSince int64
	pauseNS    int64
	worst      int64
	assists    int
	assistNS   int64
	dedicated  int64
	fractional int64
	idle       int64
	sweep      int64
}

func (s *gcState) mark(a *pass, on bool, now int64) {
	if s.marking == on {
		return
	}
	s.marking = on
	if on {
		s.markSince = now
		if a.on {
			s.cycles++
		}
	} else if a.on {
		s.markNS += now - max(s.markSince, a.begin)
	}
}

func (s *gcState) close(end int64) {
	if s.marking {
		s.markNS += max(0, end-s.markSince)
	}
}

func (s *gcState) paused(now, begin int64, on bool) {
	if !on {
		return
	}
	d := now - max(s.pauseSince, begin)
	s.pauses++
	s.pauseNS += d
	s.worst = max(s.worst, d)
}

// marked adds the running time of a mark worker.
func (s *gcState) marked(g *goroutine, d int64) {
	if g.stopped == markFractional {
		s.fractional += d
	} else {
		s.dedicated += d
	}
}
