package lanes

import (
	"context"
	"errors"
	"slices"
	"testing"

	"golang.org/x/exp/trace"
	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

var paths = []string{
	"", work, "main.other<main.work", lockA, unlockA, unlockB, recvA, recvB, sendA, sendB, "runtime.selectgo<main.sel", "sync.(*Cond).Wait<main.c",
	"sync.(*Cond).Broadcast<main.c", "sync.(*WaitGroup).Wait<main.w", "runtime.mallocgc<main.alloc", "runtime.gcBgMarkWorker", "runtime.bgsweep",
	"testing.(*B).RunParallel.func1", "time.Sleep<main.s", "syscall.write<main.write", "main._Cfunc_c<main.call", "runtime.futex<main.f",
}

// chaos draws any events at all, in order of time: no real trace is like this,
// and the sums must hold nevertheless.
func chaos(t *rapid.T) *script {
	lanes := rapid.IntRange(0, 4).Draw(t, "lanes")
	s := newScript(lanes, rapid.IntRange(1, 4).Draw(t, "procs"))
	if rapid.Bool().Draw(t, "unmarked") {
		s.list = slices.DeleteFunc(s.list, func(e event) bool { return e.kind == evLog || e.kind == evRegionBegin })
	}
	goid := rapid.Custom(func(t *rapid.T) int64 {
		if rapid.Bool().Draw(t, "lane") {
			return int64(100 + rapid.IntRange(0, 4).Draw(t, "i"))
		}
		return int64(rapid.IntRange(-1, 8).Draw(t, "g"))
	})
	for range rapid.IntRange(1, 120).Draw(t, "n") {
		s.t += int64(rapid.IntRange(0, 20).Draw(t, "dt"))
		s.add(event{
			kind: kind(rapid.IntRange(0, int(evLog)).Draw(t, "kind")), from: uint8(rapid.IntRange(0, 6).Draw(t, "from")), to: uint8(rapid.IntRange(0, 6).Draw(t, "to")),
			reason: reason(rapid.IntRange(0, int(numReasons)-1).Draw(t, "why")), rng: rng(rapid.IntRange(0, int(rngStop)).Draw(t, "rng")),
			metric: metric(rapid.IntRange(0, 2).Draw(t, "metric")), value: rapid.Uint64().Draw(t, "value"),
			g: goid.Draw(t, "ctx"), p: int64(rapid.IntRange(-1, 4).Draw(t, "p")), res: goid.Draw(t, "res"),
			name:  rapid.SampledFrom([]string{"", "GC (dedicated)", "GC (idle)", "GC sweep termination", "read mem stats", recorder.RegionLane, recorder.LogCategory}).Draw(t, "name"),
			text:  rapid.SampledFrom([]string{"", recorder.LogBegin, recorder.LogEnd}).Draw(t, "text"),
			stack: s.stack(rapid.SampledFrom(paths).Draw(t, "stack")), tstack: s.stack(rapid.SampledFrom(paths).Draw(t, "tstack")),
		})
	}
	return s
}

func TestSumsHoldForAnyStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := chaos(t)
		in := Input{}
		if rapid.Bool().Draw(t, "figures") {
			in.Result = figures(t)
		}
		a, err := account(context.Background(), s, in)
		if errors.Is(err, ErrNoWindow) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sumsHold(t, a)
	})
}

func figures(t *rapid.T) *recorder.Result {
	n := rapid.Int64Range(-10, 3000)
	return &recorder.Result{
		Procs: rapid.IntRange(0, 8).Draw(t, "procs"), NumCPU: rapid.IntRange(0, 8).Draw(t, "cpus"),
		BeginNS: n.Draw(t, "begin"), EndNS: n.Draw(t, "end"),
		Usage:   &recorder.Usage{UserNS: n.Draw(t, "user"), SysNS: n.Draw(t, "sys"), MinFlt: n.Draw(t, "faults")},
		Threads: &recorder.Threads{WaitNS: n.Draw(t, "queued")},
	}
}

func sumsHold(t *rapid.T, a *Account) {
	var sum int64
	for _, p := range a.Parts {
		if p.NS <= 0 {
			t.Errorf("a part of %d ns: %s %s", p.NS, p.Cause, p.State)
		}
		sum += p.NS
	}
	if sum != a.SlotNS {
		t.Errorf("parts add up to %d, slot time is %d: %v", sum, a.SlotNS, rows(a))
	}
	for _, l := range a.Lanes {
		var sum int64
		for st, ns := range l.ByState {
			if ns < 0 {
				t.Errorf("goroutine %d: %d ns %s", l.Goroutine, ns, State(st))
			}
			sum += ns
		}
		if sum != a.WallNS {
			t.Errorf("goroutine %d: states %v add up to %d of %d", l.Goroutine, l.ByState, sum, a.WallNS)
		}
	}
}

// simulate plays a small scheduler: lanes compute, lock, yield, call and wait
// for each other as the seed says, on as few Ps as there are. The stream is one
// that a real program could leave.
func simulate(t *rapid.T, lanes, procs int, order []int64) *script {
	s := newScript(lanes, procs)
	// newScript names the lanes 100, 101, …: give them the names of order.
	rename := func(g int64) int64 {
		if g >= 100 && g < int64(100+lanes) {
			return order[g-100]
		}
		return g
	}
	free := []int64{}
	ready := []int64{}
	for p := lanes; p < procs; p++ {
		free = append(free, int64(p))
	}
	for i := procs; i < lanes; i++ {
		ready = append(ready, int64(100+i))
	}
	var parked []int64
	steps := rapid.IntRange(5, 60).Draw(t, "steps")
	for range steps {
		s.t += int64(rapid.IntRange(1, 50).Draw(t, "dt"))
		if len(ready) > 0 && len(free) > 0 {
			s.procStart(free[0])
			s.run(ready[0], free[0])
			ready, free = ready[1:], free[1:]
			continue
		}
		var running []int64
		for g := range int64(lanes) {
			if _, ok := s.on[100+g]; ok {
				running = append(running, 100+g)
			}
		}
		if len(running) == 0 {
			if len(parked) > 0 {
				s.wake(parked[0], -1, "")
				ready, parked = append(ready, parked[0]), parked[1:]
			}
			continue
		}
		g := running[rapid.IntRange(0, len(running)-1).Draw(t, "who")]
		p := s.on[g]
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			s.sample(g, work)
		case 1:
			s.block(g, reasonSync, lockA)
			s.procStop(p)
			parked, free = append(parked, g), append(free, p)
		case 2:
			s.block(g, reasonChanRecv, recvA)
			s.procStop(p)
			parked, free = append(parked, g), append(free, p)
		case 3:
			if len(parked) > 0 {
				s.wake(parked[0], g, unlockB)
				ready, parked = append(ready, parked[0]), parked[1:]
			}
		case 4:
			s.stop(g, reasonPreempted, work)
			ready = append(ready, g)
			s.procStop(p)
			free = append(free, p)
		}
	}
	s.t += 10
	for g := range int64(lanes) {
		s.finish(100 + g)
	}
	for i := range s.list {
		e := &s.list[i]
		e.g = rename(e.g)
		if e.kind == evGo {
			e.res = rename(e.res)
		}
	}
	return s
}

func TestPermutingLanesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes, procs := rapid.IntRange(1, 5).Draw(t, "lanes"), rapid.IntRange(1, 4).Draw(t, "procs")
		order := make([]int64, lanes)
		for i := range order {
			order[i] = int64(100 + i)
		}
		s := simulate(t, lanes, procs, order)
		perm := rapid.Permutation(order).Draw(t, "perm")
		other := &script{err: nil, list: slices.Clone(s.list)}
		for i := range other.list {
			e := &other.list[i]
			if e.g >= 100 {
				e.g = perm[e.g-100]
			}
			if e.kind == evGo && e.res >= 100 {
				e.res = perm[e.res-100]
			}
		}
		// The regions may begin in any order, too.
		var regions []event
		other.list = slices.DeleteFunc(other.list, func(e event) bool {
			if e.kind == evRegionBegin {
				regions = append(regions, e)
			}
			return e.kind == evRegionBegin
		})
		slices.Reverse(regions)
		begin := slices.IndexFunc(other.list, func(e event) bool { return e.kind == evLog })
		other.list = slices.Insert(other.list, begin, regions...)
		if !slices.ContainsFunc(s.list, func(e event) bool { return e.kind == evGo && e.to == uint8(trace.GoRunning) }) {
			t.Skip()
		}
		a, err := account(context.Background(), s, Input{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := account(context.Background(), other, Input{})
		if err != nil {
			t.Fatal(err)
		}
		sumsHold(t, a)
		sumsHold(t, b)
		if x, y := rows(a), rows(b); !slices.Equal(x, y) {
			t.Errorf("rows differ:\n%v\n%v", x, y)
		}
	})
}
