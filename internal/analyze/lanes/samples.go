package lanes

import (
	"maps"
	"math"
)

// samples counts the CPU samples of the window by who was hit in which state.
type samples struct {
	plain    map[stackID]int32 // lanes, in plain running time
	child    map[stackID]int32 // goroutines of lanes that wait
	children map[stackID]int32 // goroutines of lanes, whether the lane waits or not
	ranged   int               // lanes, inside assist and sweep ranges
	stops    int               // lanes, while they stop the world
	calls    int               // lanes, in system calls
	rest     int               // anybody else
	kernel   int               // of all: the leaf is in the kernel, by a call
	lanesKer int               // of plain

	waiting int32 // lanes that are parked for what others do
	byWho   map[who]*mix

	tail map[stackID]int64 // running lanes, weighted with how many lanes were done
	busy map[stackID]int64 // Ps as lanes: users' goroutines, weighted with how many Ps were free

	queue      tally // ns that goroutines that are no lanes kept lanes waiting, by where they stopped
	handOvers  int64 // ns that lanes were ready after hand-overs with nobody in the way
	nHandOvers int64
}

// mix is what a goroutine's samples say while lanes wait for others: overhead is
// in locks, channels and the scheduler.
type mix struct{ overhead, all int32 }

func (s *samples) init() {
	w := s.waiting
	*s = samples{
		plain: make(map[stackID]int32), child: make(map[stackID]int32), children: make(map[stackID]int32), byWho: make(map[who]*mix),
		tail: make(map[stackID]int64), busy: make(map[stackID]int64), waiting: w,
	}
}

// sample takes a CPU sample. Its goroutine's state at that time says what it is
// evidence of, so that no time is booked by a range and by a sample as well.
func (a *pass) sample(ev *event) {
	if !a.on || ev.time < a.begin {
		return
	}
	id := a.stacks.id(ev.stack)
	if id != 0 && a.stacks.infos[id].kernel {
		a.samples.kernel++
	}
	g := a.live.get(ev.g)
	if ev.g == 0 || g == nil {
		// On a scheduler stack. Where the P runs a goroutine, it is on its behalf.
		g = nil
		if p := a.proc(ev.p); p != nil {
			g = p.g
		}
	}
	if g == nil || !g.class.user() {
		a.samples.rest++
		return
	}
	if a.perProc {
		a.procSample(g, id)
		return
	}
	if a.samples.waiting > 0 && g.status == stRunning {
		a.mixIn(g.who(), id)
	}
	if g.lane < 0 || !a.lanes[g.lane].active {
		a.samples.rest++
		if g.owner >= 0 {
			a.samples.children[id]++
			if a.lanes[g.owner].waitsFor {
				a.samples.child[id]++
			}
		}
		return
	}
	if done := len(a.lanes) - a.working; done > 0 {
		a.samples.tail[id] += int64(done)
	}
	switch {
	case g.status == stSyscall:
		a.samples.calls++
	case g.status != stRunning:
		a.samples.rest++ // on its way out of its P, or in
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

func (a *pass) mixIn(w who, id stackID) {
	m := a.samples.byWho[w]
	if m == nil {
		if len(a.samples.byWho) > 1<<14 {
			return
		}
		m = &mix{}
		a.samples.byWho[w] = m
	}
	m.all++
	switch a.causes.group(a.stacks.running(id)) {
	case "lock", "sched":
		m.overhead++
	}
}

// beyond is what of x, a difference between running time and the lanes' CPU
// time, is more than samples can tell from nothing: two standard errors of that
// CPU time, and a hundredth of it for what they never see, ns.
func (s *samples) beyond(x, used float64) int64 {
	all := float64(s.total())
	if all == 0 {
		return 0
	}
	p := float64(s.lanes()-s.calls-s.stops) / all
	noise := used * (2*math.Sqrt(p*(1-p)/all) + 0.01)
	switch {
	case x > noise:
		return int64(x - noise)
	case x < -noise:
		return int64(x + noise)
	}
	return 0
}

// total is how many samples fell into the window.
func (s *samples) total() int { return s.lanes() + s.rest }

// lanes is how many hit a lane.
func (s *samples) lanes() int {
	n := s.ranged + s.calls + s.stops
	for v := range maps.Values(s.plain) {
		n += int(v)
	}
	return n
}
