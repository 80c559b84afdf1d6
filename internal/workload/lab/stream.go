package lab

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// streams sets a long array, a slice of it in each operation. Each worker goes
// through memory of its own that no cache holds, so what limits it is the memory
// itself, which the cores share: nothing in the program is contended. The twin
// sets as many words in an array that stays in the core's own cache.
type streams struct {
	noClose
	areas [][]uint64 // one for each worker
}

const (
	streamWords = 256 << 20 / 8 // of all workers together
	sliceWords  = 32 << 10 / 8  // of an operation
)

func (s *streams) Work(w int, lo, hi int64) workload.Tally {
	area := s.areas[w]
	slices := int64(len(area) / sliceWords)
	var sum uint64
	for i := lo; i < hi; i++ {
		at := i % slices * sliceWords
		sum += set(area[at:at+sliceWords], uint64(i))
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

//go:noinline
func set(words []uint64, v uint64) uint64 {
	for len(words) >= 8 {
		words[0], words[1], words[2], words[3] = v, v, v, v
		words[4], words[5], words[6], words[7] = v, v, v, v
		words = words[8:]
		v++
	}
	return v
}

func newStreams(long bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		words := sliceWords
		if long {
			words = max(streamWords/p.Workers, sliceWords)
		}
		s := &streams{}
		for range p.Workers {
			area := make([]uint64, words)
			set(area, 0) // the first touch belongs to no operation
			s.areas = append(s.areas, area)
		}
		return s, nil
	}
}

func streamPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "memory-bandwidth", Title: "a long array set in memory",
				Expect: string(cause.MemoryBandwidth), OpNS: 3_000,
			},
			bad: newStreams(true), fixed: newStreams(false), cure: "a short array set in the cache", cheap: 1_000,
		},
	}
}
