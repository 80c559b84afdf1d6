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
func Bounce() (ns float64, ok bool) {
	if runtime.NumCPU() < 2 {
		return 0, false
	}
	defer widen(2)()
	word := new(shared)
	const stopped = 1 << 62
	var hops uint64
	var wall time.Duration
	var wg sync.WaitGroup
	var here atomic.Bool // the partner is running
	wg.Go(func() {
		here.Store(true)
		for turn := uint64(1); ; turn += 2 { // answers odd values
			for spins := 0; ; spins++ {
				v := word.n.Load()
				if v >= stopped {
					return
				}
				if v == turn {
					break
				}
				if spins&(1<<12-1) == 1<<12-1 {
					runtime.Gosched() // where the two got the same P after all
				}
			}
			word.n.Store(turn + 1)
		}
	})
	wg.Go(func() {
		defer func() { word.n.Store(stopped) }()
		begin := time.Now()
		for !here.Load() && time.Since(begin) < bounceLimit {
			runtime.Gosched()
		}
		start := time.Now()
		for turn := uint64(0); ; turn += 2 {
			word.n.Store(turn + 1)
			for spins := 0; word.n.Load() != turn+2; spins++ {
				if spins&(1<<10-1) == 1<<10-1 {
					if time.Since(begin) > bounceLimit {
						hops, wall = turn, time.Since(start)
						return
					}
					runtime.Gosched()
				}
			}
			if turn&127 == 126 && time.Since(start) > bounceFor {
				hops, wall = turn+2, time.Since(start)
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
