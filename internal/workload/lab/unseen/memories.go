package unseen

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// moves copies large blocks, each worker within memory of its own.
func moves(workers int) body {
	const block = 256 << 10
	areas := make([][]byte, workers)
	for w := range areas {
		areas[w] = make([]byte, max(256<<20/workers, 2*block))
		for at := 0; at < len(areas[w]); at += 4096 {
			areas[w][at] = 1
		}
	}
	return each(func(w int, i int64) uint64 {
		area := areas[w]
		half := len(area) / 2
		at := int(i) * block % (half - block + 1)
		copy(area[half+at:half+at+block], area[at:at+block])
		return grind(uint64(i), 8)
	})
}

// stats are the counts of one shard, kept in a slice like any other record.
type stats struct {
	reads, writes, misses, bytes int64
}

// shards counts into records that lie side by side.
func shards(workers int) body {
	all := make([]stats, workers)
	return each(func(w int, i int64) uint64 {
		v := uint64(i)
		for range 200 {
			v = grind(v, 1)
			record(all, w, v)
		}
		return v
	})
}

//go:noinline
func record(all []stats, w int, v uint64) {
	if v&1 == 0 {
		all[w].reads++
	} else {
		all[w].writes++
	}
	all[w].misses += int64(v >> 62)
	all[w].bytes += int64(v & 0xfff)
}

func memories() []program {
	return []program{
		{workload.Info{Name: "memmove", Title: "large blocks copied in own memory", Expect: string(cause.MemoryBandwidth), OpNS: 25_000}, plain(moves)},
		{workload.Info{Name: "shard-stats", Title: "counts of shards side by side in a slice", Expect: string(cause.MemoryContendedLine), OpNS: 900}, plain(shards)},
	}
}
