package lab

import (
	"sync/atomic"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// counting adds to one atomic counter at every step of an operation. Each add
// must own the counter's cache line, so the line travels between the cores and
// the adds wait for it. The twin adds once per operation.
type counting struct {
	noClose
	total  padded[atomic.Int64]
	atOnce bool
}

const addsPerOp = 64

func (c *counting) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		if c.atOnce {
			sum += c.once(uint64(i))
		} else {
			sum += c.each(uint64(i))
		}
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func (c *counting) each(v uint64) uint64 {
	for range addsPerOp {
		v = burn(v, 8)
		c.total.value.Add(1)
	}
	return v
}

func (c *counting) once(v uint64) uint64 {
	var n int64
	for range addsPerOp {
		v = burn(v, 8)
		n++
	}
	c.total.value.Add(n)
	return v
}

func newCounting(atOnce bool) maker {
	return func(workload.Params) (workload.Instance, error) { return &counting{atOnce: atOnce}, nil }
}

// tally is what one worker counts: plain words, never shared. It is half a
// cache line long, so that the allocator's alignment cannot part two of them.
type tally struct{ hits, even, bytes, last uint64 }

// note is not inlined so that the words live in memory, as they do in code
// that is not written as a benchmark.
//
//go:noinline
func (t *tally) note(v uint64) {
	t.hits++
	t.even += v & 1
	t.bytes += v & 0xff
	t.last = v
}

// tallies gives each worker its own tally, but puts the tallies side by side in
// one slice: no word is shared, and the cache line is. The twin keeps two lines
// between them.
type tallies struct {
	noClose
	of []*tally
}

const notesPerOp = 256

func (t *tallies) Work(w int, lo, hi int64) workload.Tally {
	mine := t.of[w]
	var sum uint64
	for i := lo; i < hi; i++ {
		v := uint64(i)
		for range notesPerOp {
			v = v*0x9e3779b97f4a7c15 + 1
			mine.note(v >> 32)
		}
		sum += v
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newTallies(apart bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		t := &tallies{of: make([]*tally, p.Workers)}
		together := make([]tally, p.Workers)
		for w := range t.of {
			t.of[w] = &together[w]
			if apart {
				t.of[w] = &new(padded[tally]).value
			}
		}
		return t, nil
	}
}

func linePairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "atomic-counter", Title: "one atomic counter, added to at every step",
				Expect: string(cause.MemoryContendedLine), OpNS: 850,
			},
			bad: newCounting(false), fixed: newCounting(true), cure: "the counter is added to once per operation",
		},
		{
			info: workload.Info{
				Name: "false-sharing", Title: "own counters that lie on one cache line",
				Expect: string(cause.MemoryContendedLine), OpNS: 600,
			},
			bad: newTallies(false), fixed: newTallies(true), cure: "own counters on lines of their own",
		},
	}
}
