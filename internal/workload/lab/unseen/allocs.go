package unseen

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// maps grows a map from empty in every operation.
func maps(int) body {
	return each(func(_ int, i int64) uint64 {
		m := map[uint64]string{}
		v := uint64(i)
		for range 96 {
			v = grind(v, 2)
			m[v] = "x"
		}
		return v
	})
}

// concat builds a text with +=, which copies it for every piece.
func concat(int) body {
	return each(func(_ int, i int64) uint64 {
		s := ""
		v := uint64(i)
		for range 32 {
			v = grind(v, 2)
			s += "0123456789abcdef0123456789abcdef"[:8+v%24]
		}
		return v + uint64(len(s))
	})
}

// sprintf formats what nobody keeps.
func sprintf(int) body {
	return each(func(_ int, i int64) uint64 {
		n := 0
		for k := range 16 {
			n += len(strings.ToUpper(fmt.Sprintf("item %d of %d: %v", k, i, []int{k, k + 1})))
		}
		return uint64(n)
	})
}

// finalized gives every object a finalizer.
func finalized(int) body {
	type handle struct {
		fd  uint64
		buf *[64]byte
	}
	return each(func(_ int, i int64) uint64 {
		v := uint64(i)
		for range 4 {
			v = grind(v, 20)
			h := &handle{fd: v, buf: new([64]byte)}
			runtime.SetFinalizer(h, func(h *handle) { h.buf = nil })
		}
		return v
	})
}

// deep recurses on a fresh goroutine, whose stack grows from the smallest size
// by copying.
func deep(int) body {
	return each(func(_ int, i int64) uint64 {
		answer := make(chan uint64, 1)
		go func() { answer <- descend(uint64(i), 120) }()
		return <-answer
	})
}

//go:noinline
func descend(v uint64, depth int) uint64 {
	var frame [32]uint64
	frame[v%32] = v
	if depth == 0 {
		return grind(v, 2)
	}
	return descend(v+frame[(v+1)%32]+1, depth-1) + frame[v%32]&1
}

// cache keeps a large map of pointers alive and replaces entries.
func cache(workers int) body {
	type entry struct {
		key  string
		next *entry
	}
	shards := make([]far[map[uint64]*entry], workers)
	for w := range shards {
		shards[w].v = map[uint64]*entry{}
	}
	const entries = 600_000
	for k := range uint64(entries) {
		shards[k%uint64(workers)].v[k/uint64(workers)] = &entry{key: "entry"}
	}
	each1 := uint64(entries / workers)
	return each(func(w int, i int64) uint64 {
		m := shards[w].v
		v := uint64(i)
		for range 8 {
			v = grind(v, 20)
			m[v%each1] = &entry{key: string([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}), next: &entry{}}
		}
		return v
	})
}

func allocs() []program {
	info := func(name, title, expect string, ns int64) workload.Info {
		return workload.Info{Name: name, Title: title, Expect: expect, OpNS: ns, ProcsThreads: true}
	}
	mark := info("pointer-cache", "a large map of pointers whose entries are replaced", "gc", 3_000)
	mark.ProcsThreads = false
	return []program{
		{info("map-growth", "maps grown from empty", "gc|alloc", 6_000), plain(maps)},
		{info("string-concat", "texts built with +=", "gc|alloc", 3_500), plain(concat)},
		{info("sprintf", "fmt.Sprintf that nobody keeps", "gc|alloc", 6_000), plain(sprintf)},
		{info("finalizers", "an object with a finalizer in every step", "gc|alloc", 4_000), plain(finalized)},
		{info("stack-growth", "deep recursion on a fresh goroutine", "alloc/stack-growth|sched|lock/runtime", 8_000), plain(deep)},
		{mark, plain(cache)},
	}
}
