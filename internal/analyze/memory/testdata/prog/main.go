// Command prog has one small function for each way in which cores slow each
// other down. Tests look at its instructions, and may run it.
package main

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

type slot struct{ n int64 }

type padded struct {
	n int64
	_ [120]byte
}

var (
	shared  atomic.Int64
	word    int32
	slots   [64]slot
	pads    [64]padded
	guarded int64
	streams [64][]int64
	copies  [64][2][]byte
	sinks   [64]padded
)

//go:noinline
func atomicAdd(n int) {
	for i := 0; i < n; i++ {
		shared.Add(1) // LINE atomicAdd
	}
}

//go:noinline
func atomicCAS(n int) {
	for i := 0; i < n; i++ {
		for {
			old := shared.Load()
			if shared.CompareAndSwap(old, old*3+1) { // LINE atomicCAS
				break
			}
		}
	}
}

//go:noinline
func falseSharing(w, n int) {
	s := &slots[w]
	for i := 0; i < n; i++ {
		s.n += int64(i) ^ s.n // LINE falseSharing
	}
}

//go:noinline
func notShared(w, n int) {
	s := &pads[w]
	for i := 0; i < n; i++ {
		s.n += int64(i) ^ s.n
	}
}

//go:noinline
func bumpOnce(s *slot) {
	s.n = s.n*5 + 1 // LINE bumpOnce
}

//go:noinline
func spinLock(n int) {
	for i := 0; i < n; i++ {
		for !atomic.CompareAndSwapInt32(&word, 0, 1) { // LINE spinLock
		}
		guarded++
		atomic.StoreInt32(&word, 0)
	}
}

//go:noinline
func spinYield(n int) {
	for i := 0; i < n; i++ {
		for !atomic.CompareAndSwapInt32(&word, 0, 1) { // LINE spinYield
			runtime.Gosched()
		}
		guarded++
		atomic.StoreInt32(&word, 0)
	}
}

//go:noinline
func spinLoad() {
	for atomic.LoadInt32(&word) != 0 { // LINE spinLoad
	}
}

//go:noinline
func stream(w int) (sum int64) {
	for _, x := range streams[w] {
		sum += x // LINE stream
	}
	return sum
}

type node struct {
	next *node
	v    int64
}

//go:noinline
func chase(p *node) (sum int64) {
	for ; p != nil; p = p.next {
		sum += p.v // LINE chase
	}
	return sum
}

//go:noinline
func copying(w, n int) {
	c := &copies[w]
	for i := 0; i < n; i++ {
		copy(c[0], c[1]) // LINE copying
	}
}

//go:noinline
func arithmetic(n int) (x uint64) {
	x = 88172645463325252
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

type counter[T any] struct {
	n   atomic.Uint32
	val T
}

//go:noinline
func generic[T any](c *counter[T], n int) {
	for i := 0; i < n; i++ {
		c.n.Add(1) // LINE generic
	}
}

// work does n operations of a kind as worker w.
func work(kind string, w, n int) {
	switch kind {
	case "atomicAdd":
		atomicAdd(n)
	case "atomicCAS":
		atomicCAS(n)
	case "falseSharing":
		falseSharing(w, n)
	case "notShared":
		notShared(w, n)
	case "spinLock":
		spinLock(n)
	case "spinYield":
		spinYield(n)
	case "spinLoad":
		spinLoad()
	case "stream":
		for range n {
			sinks[w].n += stream(w)
		}
	case "chase":
		sinks[w].n += chase(&node{v: int64(n)})
	case "copying":
		copying(w, n)
	case "arithmetic":
		sinks[w].n += int64(arithmetic(n))
	case "generic":
		generic(new(counter[string]), n)
	case "bumpOnce":
		for range n {
			bumpOnce(&slots[w])
		}
	}
}

func main() {
	if len(os.Args) != 4 {
		println("want a kind, workers, and operations in all")
		os.Exit(2)
	}
	workers, err := strconv.Atoi(os.Args[2])
	if err != nil || workers < 1 || workers > len(slots) {
		println("bad number of workers")
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		println("bad number of operations")
		os.Exit(2)
	}
	for w := range workers {
		streams[w] = make([]int64, 1<<20)
		copies[w] = [2][]byte{make([]byte, 4<<20), make([]byte, 4<<20)}
	}
	stop := profile()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work(os.Args[1], w, n/workers)
		}()
	}
	wg.Wait()
	stop()
}
