package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// result of one worker, on lines of its own.
type result struct {
	value uint64
	end   time.Time
	_     [128]byte
}

// measure splits n operations over so many workers and returns the time from the moment when the last
// of them was ready until the last had ended.
func measure(l loop, workers int, n int64, salt uint64) (wall time.Duration, results []result) {
	defer widen(workers)()
	results = make([]result, workers)
	var ready atomic.Int64
	var start time.Time
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := split(n, workers, w)
		wg.Go(func() {
			r := &results[w]
			if int(ready.Add(1)) == workers {
				start = time.Now()
				ready.Add(1) // releases the others, which then see start
			} else {
				for int(ready.Load()) <= workers {
					runtime.Gosched() // there may be fewer Ps than workers
				}
			}
			r.value = l.share(w, lo, hi, salt)
			r.end = time.Now()
		})
	}
	wg.Wait()
	for i := range results {
		wall = max(wall, results[i].end.Sub(start))
	}
	return wall, results
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
