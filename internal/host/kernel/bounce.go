package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How long Bounce measures, and when it gives up on a partner that does not run.
const (
	bounceFor   = 3 * time.Millisecond
	bounceLimit = 9 * time.Millisecond
)

// Bounce is how long one core takes to see what another has written: the mean time of a hand-over of
// one cache line between two threads, in ns. It takes under 10 ms.
// Some 30 to 300 ns are usual; far more means that another process had one of the CPUs meanwhile. False
// where fewer than two CPUs can be used or the threads never ran at the same time.
//
// The two threads are pinned, where that is possible, to the first and the last usable CPU: two threads that
// were just woken often share one CPU for some ms, which would read as a slow machine.
func Bounce() (ns float64, ok bool) {
	if runtime.NumCPU() < 2 {
		return 0, false
	}
	defer widen(2)()
	first, last := farCPUs()
	word := new(shared)
	var stop atomic.Bool
	var hops uint64
	var wall time.Duration
	var wg sync.WaitGroup
	wg.Go(func() { // answers odd values
		defer pin(last)()
		for turn := uint64(1); ; turn += 2 {
			for spins := 0; word.n.Load() != turn; spins++ {
				if spins&(1<<10-1) == 1<<10-1 && stop.Load() {
					return
				}
			}
			word.n.Store(turn + 1)
		}
	})
	wg.Go(func() {
		defer stop.Store(true)
		defer pin(first)()
		begin := time.Now()
		start := begin
		for turn := uint64(0); ; turn += 2 {
			word.n.Store(turn + 1)
			for spins := 0; word.n.Load() != turn+2; spins++ {
				if spins&(1<<10-1) == 1<<10-1 && time.Since(begin) > bounceLimit {
					hops, wall = turn, time.Since(start)
					return
				}
			}
			switch {
			case turn == 0:
				start = time.Now() // the partner is there
			case turn&127 == 126 && time.Since(start) > bounceFor:
				hops, wall = turn, time.Since(start)
				return
			}
		}
	})
	wg.Wait()
	const enough = 16 // below that the two hardly met
	if hops < enough {
		return 0, false
	}
	return float64(wall.Nanoseconds()) / float64(hops), true
}
