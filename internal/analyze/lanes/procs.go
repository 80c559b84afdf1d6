package lanes

// proc is a P.
type proc struct {
	exists     bool
	running    bool
	sweeping   bool
	sweepStack stackID
	g          *goroutine     // running on it, or in a system call that keeps it
	use        use            // what it is counted under
	since      int64          // begin of the use
	spent      [numUses]int64 // ns by use since the window's begin, where Ps are the lanes
}

// use is what a P is used for at an instant.
type use uint8

const (
	useNone    use = iota // does not exist
	useIdle               // nobody has it; also while the world is stopped
	useSearch             // a thread has it and looks for a goroutine
	useSyscall            // kept by a goroutine of the program during a system call
	useClass              // useClass+class: runs a goroutine of that class
	numUses    = useClass + use(numClasses)
)

func (p *proc) now() use {
	switch {
	case !p.exists:
		return useNone
	case !p.running:
		return useIdle
	case p.g == nil:
		return useSearch
	case p.g.status == stSyscall && p.g.class.user():
		return useSyscall
	}
	return useClass + use(p.g.class)
}

// blame is what a runnable goroutine can be waiting for.
type blame uint8

const (
	onNobody   blame = iota // a P was idle or searching: nothing but the hand-over was in the way
	onGCStop                // the world was stopped, by the collector
	onUserStop              // or by the program
	onMark
	onSweep
	onScavenge
	onFinalizer
	onObserver
	onSystem
	onSyscall // a P was kept in a system call
	onOther   // goroutines of the program that are not lanes
	onLanes   // all Ps held lanes, or goroutines queued before it
	numBlames
)

// shares is, by blame, how much of the time of one runnable goroutine was due
// to it, in ns, summed since the window's begin. The difference of two values
// divides the time between.
type shares [numBlames]float64

// ps is the state of all Ps and the integrals over it.
type ps struct {
	all      []*proc
	count    [numUses]int32
	runnable int32 // goroutines of the program that are ready
	system   int32 // Ps that run goroutines of the runtime
	gcStops  int32
	stops    int32 // stops of the world in progress, for whatever reason
	now      int64
	on       bool  // inside the window
	perProc  bool  // Ps are the lanes
	from     int64 // the window's begin
	spare    spare

	shares  shares
	head    heads
	stopped int64 // ns with the world stopped
	perOut  float64
	idle    int64 // P-ns, while the world runs
	search  int64
	busy    int64
	halted  int64 // P-ns idle while the world was stopped
}

const maxProcs = 1 << 14

// proc is P number n, nil for none or a number no real trace has.
func (s *ps) proc(n int64) *proc {
	if n < 0 || n >= maxProcs {
		return nil
	}
	for int64(len(s.all)) <= n {
		s.all = append(s.all, &proc{})
	}
	return s.all[n]
}

// recount puts p under what it is used for now. advance must have been called.
func (s *ps) recount(p *proc) {
	if p == nil {
		return
	}
	if u := p.now(); u != p.use {
		if s.perProc {
			p.spent[p.use] += s.now - max(p.since, s.from)
			p.since = s.now
		}
		s.count[p.use]--
		s.count[u]++
		if p.use >= useClass+use(classMark) {
			s.system--
		}
		if u >= useClass+use(classMark) {
			s.system++
		}
		p.use = u
	}
}

// advance integrates up to t over the present state.
func (s *ps) advance(t int64) {
	dt := t - s.now
	if dt <= 0 {
		return
	}
	s.now = t
	if !s.on {
		return
	}
	idle, search := s.count[useIdle], s.count[useSearch]
	if s.perProc {
		s.spare.advance(s, dt)
	}
	s.head[s.heading()] += dt
	if s.stops > 0 {
		s.stopped += dt
		s.halted += dt * int64(idle)
		s.search += dt * int64(search)
		if s.runnable > 0 {
			if s.gcStops > 0 {
				s.shares[onGCStop] += float64(dt)
			} else {
				s.shares[onUserStop] += float64(dt)
			}
		}
		return
	}
	s.idle += dt * int64(idle)
	s.search += dt * int64(search)
	if s.runnable > 0 {
		free := idle + search
		if free >= s.runnable {
			s.shares[onNobody] += float64(dt)
			return
		}
		s.queue(float64(dt), free)
	}
}

// heads is how long the first in the queue would have waited for what, in ns,
// summed since the window's begin. Unlike shares it is not divided among the
// ready goroutines.
type heads [numHeads]int64

const (
	headIdle   = iota // for an idle P to be woken
	headSearch        // for a thread that is looking for work to find it
	headStop          // the world was stopped
	headMark          // all Ps had something to run, the runtime's own among it
	headHeld          // all Ps had something of the program's to run
	numHeads
)

func (s *ps) heading() int {
	switch {
	case s.stops > 0:
		return headStop
	case s.count[useIdle] > 0:
		return headIdle
	case s.count[useSearch] > 0:
		return headSearch
	case s.count[useClass+use(classMark)]+s.count[useClass+use(classIdleMark)]+s.count[useClass+use(classSweep)] > 0:
		return headMark
	}
	return headHeld
}

// queue divides dt among those who hold the Ps. Free Ps would serve some of the
// ready goroutines, and each P that something else than a lane holds would serve
// one more; only the rest wait for lanes. All ready goroutines share alike.
func (s *ps) queue(dt float64, free int32) {
	each := dt / float64(s.runnable) // a ready goroutine's share for each of those that are in the way
	if free > 0 {
		s.shares[onNobody] += each * float64(free)
	}
	rest := s.runnable - free
	program := s.count[useClass+use(classOther)] + s.count[useClass+use(classChild)]
	calls, system := s.count[useSyscall], s.system
	if out := program + calls + system; out > 0 {
		charged := min(rest, out)
		per := float64(charged) / float64(out)
		s.perOut += dt * per
		s.shares[onOther] += each * per * float64(program)
		if calls > 0 {
			s.shares[onSyscall] += each * per * float64(calls)
		}
		if system > 0 {
			for c := classMark; c < numClasses; c++ {
				s.shares[blameOf[c]] += each * per * float64(s.count[useClass+use(c)])
			}
		}
		rest -= charged
	}
	s.shares[onLanes] += each * float64(rest)
}

var blameOf = [numClasses]blame{
	classOther: onOther, classLane: onLanes, classChild: onOther, classMark: onMark, classIdleMark: onMark, classSweep: onSweep,
	classScavenge: onScavenge, classFinalize: onFinalizer, classObserver: onObserver, classSystem: onSystem,
}

// causeOf is the cause of time charged to a blame that has one of its own.
var causeOf = [numBlames]causeID{
	onNobody: cWakeLatency, onGCStop: cSTW, onUserStop: cSTW, onMark: cMark, onSweep: cSweep, onScavenge: cScavenge, onFinalizer: cFinalizer,
	onObserver: cProfiling, onSystem: cPreempt, onSyscall: cSyscall, onOther: cQueue, onLanes: cQueue,
}
