package lanes

// Activity is what a lane or a P did for a while, as far as the trace's states
// and ranges tell; CPU samples have no part in it.
type Activity uint8

// The activities of lanes and Ps.
const (
	Absent    Activity = iota // a lane before it began or after its end; a P that does not exist
	Running                   // code of the program
	Assisting                 // marks, to pay for allocations
	Sweeping                  // sweeps, before it may allocate; of a P also the background sweeper
	Stopping                  // asked for a stop-the-world that is in progress
	Ready                     // ready, no P
	Halted                    // ready, or a P without anything to run, while the world is stopped
	InLock                    // parked for a lock
	InChannel                 // parked for a channel, select, condition or wait group
	InGC                      // parked for the collector
	InNetwork                 // parked for the network
	Idle                      // parked for the clock, or for what the trace does not tell
	InSyscall                 // in a system call or cgo, with or without its P
	Marking                   // of Ps only: runs a mark worker
	Free                      // of Ps only: nobody has it
	Searching                 // of Ps only: a thread has it and looks for a goroutine
	Runtime                   // of Ps only: runs another goroutine of the runtime
	NumActivities
)

// Track says what a Span is of.
type Track uint8

// The tracks.
const (
	LaneTrack Track = iota // N is the lane
	ProcTrack              // N is the P
	MarkTrack              // concurrent marking was on; N is 0
)

// Span is a stretch in which a lane, a P or the collector did one thing, in ns on
// the trace's clock. The spans of one track and N are in order and disjoint, and
// may lie outside of the window.
type Span struct {
	Track    Track
	N        int
	Activity Activity // Running while marking is on, for MarkTrack
	From, To int64
}

// watch turns the states of a pass into spans for Input.Watch.
type watch struct {
	tell  func(Span)
	lanes []shown
	procs []shown
	mark  shown
}

// shown is what was last seen of one track, and since when.
type shown struct {
	what  Activity
	since int64
}

func (w *watch) set(s *shown, t Track, n int, what Activity, now int64) {
	if s.what == what {
		return
	}
	if s.what != Absent && now > s.since {
		w.tell(Span{t, n, s.what, s.since, now})
	}
	s.what, s.since = what, now
}

func (w *watch) lane(n int32, what Activity, now int64) {
	for len(w.lanes) <= int(n) {
		w.lanes = append(w.lanes, shown{})
	}
	w.set(&w.lanes[n], LaneTrack, int(n), what, now)
}

// see looks at what an event can have changed.
func (w *watch) see(a *pass, ev *event) {
	switch ev.kind {
	case evGo, evGoLabel:
		w.goroutine(a, a.live.get(ev.res))
	case evRangeBegin, evRangeActive, evRangeEnd:
		switch ev.rng {
		case rngAssist:
			w.goroutine(a, a.live.get(ev.res))
		case rngSweep:
			if p := a.proc(ev.res); p != nil {
				w.goroutine(a, p.g)
			}
		case rngStop:
			a.live.each(func(g *goroutine) { w.goroutine(a, g) })
		case rngMark:
			on := Absent
			if a.gc.marking {
				on = Running
			}
			w.set(&w.mark, MarkTrack, 0, on, ev.time)
		}
	case evRegionBegin, evRegionEnd:
		w.goroutine(a, a.live.get(ev.g))
	case evProc:
	default:
		return
	}
	for len(w.procs) < len(a.all) {
		w.procs = append(w.procs, shown{})
	}
	for i, p := range a.all {
		w.set(&w.procs[i], ProcTrack, i, a.usedFor(p), ev.time)
	}
}

func (w *watch) goroutine(a *pass, g *goroutine) {
	if g != nil && g.lane >= 0 {
		w.lane(g.lane, a.doing(g), a.now)
	}
}

// end tells what lasts at the end of what was read.
func (w *watch) end(now int64) {
	for i := range w.lanes {
		w.set(&w.lanes[i], LaneTrack, i, Absent, now)
	}
	for i := range w.procs {
		w.set(&w.procs[i], ProcTrack, i, Absent, now)
	}
	w.set(&w.mark, MarkTrack, 0, Absent, now)
}

var activityOf = [...]Activity{modePlain: Running, modeStop: Stopping, modeAssist: Assisting, modeSweep: Sweeping}

// doing is what a goroutine does now.
func (a *pass) doing(g *goroutine) Activity {
	switch g.status {
	case stRunning:
		return activityOf[g.mode]
	case stRunnable:
		if a.stops > 0 {
			return Halted
		}
		return Ready
	case stSyscall:
		return InSyscall
	case stWaiting:
		c := a.stacks.waiting(g.where, g.why)
		switch {
		case c == cChannel, c == cSelect, c == cCond, c == cWaitGroup:
			return InChannel
		case c == cNetwork:
			return InNetwork
		case a.causes.group(c) == "lock":
			return InLock
		case a.causes.group(c) == "gc":
			return InGC
		}
		return Idle
	}
	return Absent
}

// usedFor is what a P is used for now.
func (a *pass) usedFor(p *proc) Activity {
	switch p.use {
	case useNone:
		return Absent
	case useIdle:
		if a.stops > 0 {
			return Halted
		}
		return Free
	case useSearch:
		return Searching
	case useSyscall:
		return InSyscall
	}
	switch c := class(p.use - useClass); {
	case c == classMark, c == classIdleMark:
		return Marking
	case c == classSweep:
		return Sweeping
	case !c.user():
		return Runtime
	case p.g != nil:
		return activityOf[p.g.mode]
	}
	return Running
}
