package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// worker's words, on lines of its own.
type slot struct {
	answer atomic.Uint32
	value  uint64
	end    time.Time
	_      [128]byte
}

// measure splits n operations over so many workers and returns the time from the moment when all of
// them were running until the last had ended, and what each computed.
func measure(l loop, workers int, n int64, salt uint64) (wall time.Duration, values []uint64) {
	defer widen(workers)()
	b := &barrier{slots: make([]slot, workers), apart: workers <= min(runtime.GOMAXPROCS(0), runtime.NumCPU())}
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := split(n, workers, w)
		wg.Go(func() {
			b.join(w)
			s := &b.slots[w]
			s.value = l.share(w, lo, hi, salt)
			s.end = time.Now()
		})
	}
	wg.Wait()
	for i := range b.slots {
		wall = max(wall, b.slots[i].end.Sub(b.start))
		values = append(values, b.slots[i].value)
	}
	return wall, values
}

// barrier opens when all workers are there and, where each can have a CPU, running at the same moment. A
// thread often wakes up on its waker's CPU and stays there for some ms, which would be a good part of a run.
type barrier struct {
	slots   []slot
	apart   bool // each worker can have a CPU of its own
	arrived atomic.Int64
	round   atomic.Uint32
	start   time.Time // set before the barrier opens
}

const (
	barrierOpen  = ^uint32(0)
	together     = 50 * time.Microsecond // in which all must have answered
	patience     = 20 * time.Millisecond // after which they may start as they are
	spinsPerLook = 1 << 10
)

func (b *barrier) join(w int) {
	if int(b.arrived.Add(1)) == len(b.slots) {
		if b.apart {
			b.gather(w)
		}
		b.start = time.Now()
		b.round.Store(barrierOpen)
		return
	}
	for spins := 1; ; spins++ {
		round := b.round.Load()
		if round == barrierOpen {
			return
		}
		b.slots[w].answer.Store(round)
		// Before all have arrived, and where there are fewer Ps than workers, others need this P.
		if round == 0 && spins%spinsPerLook == 0 {
			runtime.Gosched()
		}
	}
}

// gather calls rounds until one in which all workers answer at once: they are running, each on a CPU.
func (b *barrier) gather(self int) {
	end := time.Now().Add(patience)
	for round := uint32(1); ; round++ {
		begin := time.Now()
		b.round.Store(round)
		for w := range b.slots {
			for spins := 1; w != self && b.slots[w].answer.Load() != round; spins++ {
				if spins%spinsPerLook == 0 && time.Now().After(end) {
					return
				}
			}
		}
		if now := time.Now(); now.Sub(begin) < together || now.After(end) {
			return
		}
	}
}

// split is worker w's part of n, as even as can be.
func split(n int64, workers, w int) (lo, hi int64) {
	// n*w could overflow for the ALU's totals on many workers.
	q, r := n/int64(workers), n%int64(workers)
	at := func(w int64) int64 { return q*w + min(w, r) }
	return at(int64(w)), at(int64(w) + 1)
}

// widen makes sure that so many goroutines can run at once, as far as there are CPUs: a GOMAXPROCS from the
// environment would otherwise look like the machine's ceiling. It returns what undoes it.
func widen(workers int) (undo func()) {
	want := min(workers, runtime.NumCPU())
	have := runtime.GOMAXPROCS(0)
	if have >= want {
		return func() {}
	}
	runtime.GOMAXPROCS(want)
	return func() { runtime.GOMAXPROCS(have) }
}
