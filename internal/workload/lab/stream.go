package lab

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// streams adds up a long array, a slice of it in each operation. The workers'
// slices follow each other through memory that no cache holds, so what limits
// them is the memory itself, and the cores share it. The twin does as many
// additions on a slice that stays in the core's own cache.
type streams struct {
	noClose
	words []uint64
	slice int // words of an operation
}

const (
	streamWords = 64 << 20 / 8
	sliceWords  = 32 << 10 / 8
)

func (s *streams) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	slices := int64(len(s.words) / s.slice)
	for i := lo; i < hi; i++ {
		at := int(i%slices) * s.slice
		sum += addUp(s.words[at:at+s.slice]) + uint64(i)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

//go:noinline
func addUp(words []uint64) uint64 {
	var a, b, c, d uint64
	for len(words) >= 8 {
		a += words[0] + words[4]
		b += words[1] + words[5]
		c += words[2] + words[6]
		d += words[3] + words[7]
		words = words[8:]
	}
	return a + b + c + d
}

func newStreams(words int) maker {
	return func(p workload.Params) (workload.Instance, error) {
		s := &streams{words: make([]uint64, words), slice: sliceWords}
		for i := range s.words {
			s.words[i] = 1
		}
		return s, nil
	}
}

func streamPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "memory-bandwidth", Title: "a long array read from memory",
				Expect: string(cause.MemoryBandwidth), OpNS: 3_000,
			},
			bad: newStreams(streamWords), fixed: newStreams(sliceWords), cure: "a short array read from the cache",
		},
	}
}
