package unseen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// spinLock is a lock as people write it who distrust sync.
type spinLock struct{ state far[atomic.Uint32] }

func (l *spinLock) lock() {
	for !l.state.v.CompareAndSwap(0, 1) {
	}
}
func (l *spinLock) unlock() { l.state.v.Store(0) }

// spinning does two thirds of its work under a spin lock.
func spinning(int) body {
	var l spinLock
	shared := uint64(0)
	return each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 1500)
		l.lock()
		v = grind(v, 3000)
		shared += v
		l.unlock()
		return v
	})
}

// writers updates a guarded map in one operation of two, in place of reading it.
func writers(int) body {
	var mu sync.RWMutex
	stock := map[uint64]uint64{}
	return each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 1000)
		key := v % 512
		if i%2 == 0 {
			mu.Lock()
			v = grind(v, 5000)
			stock[key] = v
			mu.Unlock()
			return v
		}
		mu.RLock()
		_ = stock[key]
		v = grind(v, 500)
		mu.RUnlock()
		return v
	})
}

// oneRand draws from one math/rand source behind a mutex.
func oneRand(int) body {
	var mu sync.Mutex
	source := rand.New(rand.NewSource(1))
	return each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for range 32 {
			mu.Lock()
			source.Float64()
			source.Float64()
			source.Float64()
			source.Float64()
			mu.Unlock()
			v = grind(v, 10)
		}
		return v
	})
}

// report formats into one buffered writer under its lock.
func report(int) body {
	var mu sync.Mutex
	out := bufio.NewWriterSize(io.Discard, 1<<12)
	return each(func(w int, i int64) uint64 {
		v := grind(uint64(i), 200)
		mu.Lock()
		for k := range 4 {
			fmt.Fprintf(out, "worker=%d op=%d part=%d value=%x ratio=%.6f\n", w, i, k, v, float64(v>>11)/(1<<53))
		}
		mu.Unlock()
		return v
	})
}

// mapStores stores into few keys of one sync.Map.
func mapStores(int) body {
	var m sync.Map
	keys := [4]any{"a", "b", "c", "d"}
	values := [256]any{}
	for k := range values {
		values[k] = k
	}
	return each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for range 16 {
			v = grind(v, 10)
			m.Store(keys[v%4], values[v>>8%256])
		}
		return v
	})
}

// contexts derives a cancellable context from one parent in every step.
func contexts(workload.Params) (body, func() error, error) {
	parent, cancel := context.WithCancel(context.Background())
	work := each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for range 8 {
			_, done := context.WithCancel(parent)
			v = grind(v, 20)
			done()
		}
		return v
	})
	return work, func() error { cancel(); return nil }, nil
}

// timers pushes one shared timer back in every step, as an idle timeout does.
func timers(workload.Params) (body, func() error, error) {
	timer := time.AfterFunc(time.Hour, func() {})
	work := each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for k := range 16 {
			v = grind(v, 20)
			timer.Reset(time.Hour + time.Duration(k)*time.Second)
		}
		return v
	})
	return work, func() error { timer.Stop(); return nil }, nil
}

// maximum keeps the largest value seen in one word that everybody reads, and
// most try to replace, with compare-and-swap.
func maximum(int) body {
	var best far[atomic.Uint64]
	return each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for range 32 {
			v = grind(v, 15)
			for {
				old := best.v.Load()
				if best.v.CompareAndSwap(old, max(old, v)) {
					break
				}
			}
		}
		return v
	})
}

// asks takes a goroutine profile now and then, which stops the world.
func asks(int) body {
	return each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 8000)
		if i%16 == 0 {
			var records [8]runtime.StackRecord
			runtime.GoroutineProfile(records[:])
		}
		return v
	})
}

func syncs() []program {
	info := func(name, title string, expect cause.ID, ns int64) workload.Info {
		return workload.Info{Name: name, Title: title, Expect: string(expect), OpNS: ns}
	}
	asking := info("goroutine-profile", "runtime.GoroutineProfile every 16th operation", cause.GCSTW, 9_000)
	asking.ProcsThreads = true
	return []program{
		{info("spinlock", "two thirds of the work under a compare-and-swap loop", cause.LockSpin, 7_000), plain(spinning)},
		{info("rwmutex-writers", "every second operation writes under an RWMutex", cause.LockRWMutex, 6_000), plain(writers)},
		{info("rand-mutex", "one random source behind a mutex", cause.LockMutex, 2_000), plain(oneRand)},
		{info("bufio-log", "lines formatted under the lock of one bufio.Writer", cause.LockMutex, 3_000), plain(report)},
		{info("syncmap-store", "stores to four keys of one sync.Map", cause.LockMap, 2_500), plain(mapStores)},
		{info("context-tree", "contexts derived from one parent", cause.LockMutex, 3_000), contexts},
		{info("timer-reset", "one timer that everybody pushes back", "sched/timers|lock/runtime", 3_000), timers},
		{info("cas-maximum", "one word replaced by compare-and-swap", cause.MemoryContendedLine, 1_500), plain(maximum)},
		{asking, plain(asks)},
	}
}
