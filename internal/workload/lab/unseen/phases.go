package unseen

import (
	"sync"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// turns commits results in the order of a shared turn counter: all wait on one
// sync.Cond, and every commit wakes everybody.
type turns struct {
	mu    sync.Mutex
	moved sync.Cond
	next  int
	left  []int64
}

func (t *turns) commit(w int) {
	t.mu.Lock()
	for t.next != w {
		t.moved.Wait()
	}
	t.left[w]--
	for range t.left {
		t.next = (t.next + 1) % len(t.left)
		if t.left[t.next] > 0 {
			break
		}
	}
	t.mu.Unlock()
	t.moved.Broadcast()
}

func condTurns(p workload.Params) (body, func() error, error) {
	g := gather(p.Workers, func(of []call[*turns]) *turns {
		t := &turns{left: make([]int64, len(of))}
		t.moved.L = &t.mu
		for _, c := range of {
			t.left[c.w] = c.hi - c.lo
		}
		for t.next < len(of)-1 && t.left[t.next] == 0 {
			t.next++
		}
		return t
	})
	work := func(w int, lo, hi int64) workload.Tally {
		shared := g.enter(w, lo, hi)
		return each(func(w int, i int64) uint64 {
			v := grind(uint64(i), 2500)
			shared.commit(w)
			return v
		})(w, lo, hi)
	}
	return work, g.end, nil
}

// stages is a computation in stages: worker 0 lays out a stage on its own, then
// all fill it in. The others wait for a WaitGroup.
type stages struct {
	laid, filled []sync.WaitGroup
	total        int64  // operations of the phase
	sink         uint64 // keeps the layout from being optimised away; only worker 0 writes it
}

const stageCount = 12

func waitStages(p workload.Params) (body, func() error, error) {
	g := gather(p.Workers, func(of []call[*stages]) *stages {
		s := &stages{make([]sync.WaitGroup, stageCount), make([]sync.WaitGroup, stageCount), count(of), 0}
		for k := range stageCount {
			s.laid[k].Add(1)
			s.filled[k].Add(len(of))
		}
		return s
	})
	work := func(w int, lo, hi int64) workload.Tally {
		s := g.enter(w, lo, hi)
		t := workload.Tally{Ops: hi - lo}
		for k := range int64(stageCount) {
			if w == 0 {
				// The layout of a stage takes half as long as filling it in. It has
				// no part in the sum: it depends on the phase, not on operations.
				for range s.total / stageCount {
					s.sink += grind(uint64(k), 1500)
				}
				s.laid[k].Done()
			}
			s.laid[k].Wait()
			for i := lo + (hi-lo)*k/stageCount; i < lo+(hi-lo)*(k+1)/stageCount; i++ {
				t.Sum += grind(uint64(i), 3000)
			}
			s.filled[k].Done()
			s.filled[k].Wait()
		}
		return t
	}
	return work, g.end, nil
}

// lazy builds a table on first use, inside the window, behind a sync.Once; what
// comes first waits for it in all workers.
type lazy struct {
	once  sync.Once
	table uint64
	total int64 // operations of the phase
}

func onceInit(p workload.Params) (body, func() error, error) {
	g := gather(p.Workers, func(of []call[*lazy]) *lazy { return &lazy{total: count(of)} })
	work := func(w int, lo, hi int64) workload.Tally {
		l := g.enter(w, lo, hi)
		return each(func(_ int, i int64) uint64 {
			l.once.Do(func() {
				for range l.total {
					l.table = grind(l.table, 3000)
				}
			})
			return grind(uint64(i), 3000)
		})(w, lo, hi)
	}
	return work, g.end, nil
}

// fanIn sends every result to one collector over an unbuffered channel.
func fanIn(workload.Params) (body, func() error, error) {
	results := make(chan uint64)
	ended := make(chan uint64, 1)
	go func() {
		var all uint64
		for v := range results {
			all += v
		}
		ended <- all
	}()
	work := each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 700)
		results <- v
		return v
	})
	return work, func() error { close(results); <-ended; return nil }, nil
}

// oneShot has an operation that takes a third of all the work, in the middle of
// the last worker's range.
func oneShot(p workload.Params) (body, func() error, error) {
	total := max(p.Total, p.Ops)
	return each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 3000)
		if i == total*3/4 {
			for range total / 2 {
				v = grind(v, 3000)
			}
		}
		return v
	}), nil, nil
}

// group runs an operation's parts as an errgroup does: a goroutine for each, a
// semaphore for their number, a channel for the first error.
func group(int) body {
	return each(func(_ int, i int64) uint64 {
		var done sync.WaitGroup
		var results [6]far[uint64]
		slots := make(chan struct{}, 4)
		failed := make(chan error, 1)
		for k := range results {
			slots <- struct{}{}
			done.Go(func() {
				defer func() { <-slots }()
				results[k].v = grind(uint64(i)+uint64(k)<<32, 30)
			})
		}
		done.Wait()
		select {
		case <-failed:
		default:
		}
		var sum uint64
		for k := range results {
			sum += results[k].v
		}
		return sum
	})
}

func phases() []program {
	return []program{
		{workload.Info{Name: "cond-broadcast", Title: "commits in turn, one sync.Cond wakes all", Expect: string(cause.LockCond), OpNS: 3_500}, condTurns},
		{workload.Info{Name: "waitgroup-stages", Title: "one worker lays out what all fill in", Expect: string(cause.BalanceSerial), OpNS: 6_000}, waitStages},
		// The wait is in Once's mutex, its holder computes all the while: either
		// name points to the same line.
		{workload.Info{Name: "once-init", Title: "a slow sync.Once in the way of the first operations", Expect: "balance/serial|lock/mutex", OpNS: 8_000}, onceInit},
		{workload.Info{Name: "fan-in", Title: "results over one unbuffered channel", Expect: string(cause.LockChannel), OpNS: 1_500}, fanIn},
		{workload.Info{Name: "one-long-operation", Title: "one operation is a third of the work", Expect: string(cause.BalanceTail), OpNS: 6_000}, oneShot},
		{workload.Info{Name: "group-per-op", Title: "goroutines, a semaphore and a channel for every operation", Expect: "sched", OpNS: 6_000, ProcsThreads: true}, plain(group)},
	}
}
