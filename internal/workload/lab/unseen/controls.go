package unseen

import (
	"hash/crc32"
	"os"
	"slices"
	"sync"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// The controls look like trouble and scale.

// checksums hashes a text that all workers read.
func checksums(int) body {
	text := make([]byte, 8<<10)
	table := crc32.MakeTable(crc32.Castagnoli)
	return each(func(_ int, i int64) uint64 {
		return uint64(crc32.Update(uint32(i), table, text)) + grind(uint64(i), 1000)
	})
}

// pids asks the system for something that takes no lock.
func pids(int) body {
	return each(func(_ int, i int64) uint64 {
		for range 16 {
			os.Getpid()
		}
		return grind(uint64(i), 300)
	})
}

// sorts sorts a slice of the worker's own.
func sorts(workers int) body {
	own := make([][]uint64, workers)
	for w := range own {
		own[w] = make([]uint64, 512)
	}
	return each(func(w int, i int64) uint64 {
		v := uint64(i)
		for k := range own[w] {
			v = grind(v, 1)
			own[w][k] = v
		}
		slices.Sort(own[w])
		return own[w][0]
	})
}

// locksOfOwn takes a lock in every step, but never one that another takes.
func locksOfOwn(workers int) body {
	own := make([]far[sync.RWMutex], workers)
	return each(func(w int, i int64) uint64 {
		v := uint64(i)
		for range 32 {
			own[w].v.Lock()
			v = grind(v, 30)
			own[w].v.Unlock()
		}
		return v
	})
}

// chase follows a random cycle through memory of the worker's own that its
// private caches hold.
func chase(workers int) body {
	const cells = 16 << 10
	own := make([][]uint32, workers)
	for w := range own {
		order := make([]uint32, cells)
		for k := range order {
			order[k] = uint32(k)
		}
		v := uint64(1)
		for k := cells - 1; k > 0; k-- { // Sattolo's shuffle: one cycle
			v = grind(v, 1)
			j := v % uint64(k)
			order[k], order[j] = order[j], order[k]
		}
		own[w] = order
	}
	return each(func(w int, i int64) uint64 {
		at := uint32(i) % cells
		for range 512 {
			at = own[w][at]
		}
		return uint64(at)
	})
}

func controls() []program {
	info := func(name, title string, ns int64) workload.Info {
		return workload.Info{Name: name, Title: title, Expect: "none", OpNS: ns}
	}
	return []program{
		{info("checksum", "hashing of shared read-only data", 1_800), plain(checksums)},
		{info("getpid", "system calls that take no lock", 3_500), plain(pids)},
		{info("own-sort", "sorting of own slices", 18_000), plain(sorts)},
		{info("own-locks", "locks that nobody else takes", 1_500), plain(locksOfOwn)},
		{info("own-chase", "random reads of own cached memory", 2_500), plain(chase)},
	}
}
