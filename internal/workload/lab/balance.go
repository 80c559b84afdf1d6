package lab

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// rounds works in rounds of a parallel part and a merge of what it gave. One
// worker merges for all while the others wait at the barrier; the merge is half
// of the work. In the twin each worker merges its own share, and meets the
// others at the same barriers.
type rounds struct {
	noClose
	alone bool // one worker merges for all
	meet  *meeting[*roundPlan]
}

type roundPlan struct {
	barrier *barrier
	spans   []span
	rounds  int64
}

const (
	roundOps   = 8000 // operations of a round, some 40 ms of work
	computeOf  = 3 * micro
	mergeSteps = 3 * micro
)

func newRounds(alone bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		build := func(spans []span) *roundPlan {
			own := unionOf(spans)
			return &roundPlan{
				barrier: newBarrier(len(spans)),
				spans:   own,
				rounds:  max(1, own.len()/roundOps),
			}
		}
		return &rounds{alone: alone, meet: newMeeting(p.Workers, build)}, nil
	}
}

func (r *rounds) Work(w int, lo, hi int64) workload.Tally {
	plan := r.meet.meet(w, lo, hi)
	mine := plan.spans[w]
	var sum uint64
	for k := range plan.rounds {
		now := mine.part(k, plan.rounds)
		for i := now.lo; i < now.hi; i++ {
			sum += burn(uint64(i), computeOf)
		}
		plan.barrier.wait()
		switch {
		case !r.alone:
			sum += mergeSerial(now)
		case w == 0:
			for _, s := range plan.spans {
				sum += mergeSerial(s.part(k, plan.rounds))
			}
		}
		plan.barrier.wait()
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

// mergeSerial merges the results of a range of operations.
func mergeSerial(s span) uint64 {
	var sum uint64
	for i := s.lo; i < s.hi; i++ {
		sum += burn(^uint64(i), mergeSteps)
	}
	return sum
}

// skewed has operations that cost more the later they come, from an eighth of
// the average to twenty-two eighths. The workers' ranges are one piece each, so the
// last worker has most of the work and the others are done early. The twin deals
// the operations out like cards.
type skewed struct {
	noClose
	total int64
	deal  bool
	meet  *meeting[union]
}

func newSkewed(deal bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		total := p.Total
		if total == 0 {
			total = p.Ops
		}
		return &skewed{total: max(total, 1), deal: deal, meet: newMeeting(p.Workers, unionOf)}, nil
	}
}

func (s *skewed) Work(w int, lo, hi int64) workload.Tally {
	all, first, step := union{{lo, hi}}, int64(0), int64(1)
	if s.deal {
		all = s.meet.meet(w, lo, hi)
		first, step = int64(w), int64(len(all))
	}
	var t workload.Tally
	all.each(first, step, func(i int64) {
		t.Sum += s.op(i)
		t.Ops++
	})
	return t
}

func (s *skewed) op(i int64) uint64 {
	const eighth = 5.0 * micro / 8
	at := float64(min(i, s.total)) / float64(s.total) // 0 to 1
	return burn(uint64(i), int(eighth+21*eighth*at*at))
}

// feed has one goroutine that makes the items, twice as slowly as one worker
// can use them. One worker and the maker already keep two cores busy part of the
// time; more workers only wait. The items come in batches of a millisecond of
// work, so that the channel itself costs nothing. In the twin the workers make
// their items themselves.
type feed struct {
	meet    *meeting[chan []uint64]
	asked   chan request
	stopped sync.WaitGroup
}

type request struct {
	all union
	to  chan []uint64
}

const (
	feedBatch = 64
	makeSteps = 12 * micro
	useSteps  = 6 * micro
)

// newFeed starts the maker outside the workers: it is no worker's child.
func newFeed(p workload.Params) (workload.Instance, error) {
	f := &feed{asked: make(chan request)}
	f.meet = newMeeting(p.Workers, func(spans []span) chan []uint64 {
		to := make(chan []uint64, 2*len(spans))
		f.asked <- request{unionOf(spans), to}
		return to
	})
	f.stopped.Go(func() {
		for r := range f.asked {
			makeItems(r)
		}
	})
	return f, nil
}

func makeItems(r request) {
	defer close(r.to)
	for _, s := range r.all {
		for lo := s.lo; lo < s.hi; lo += feedBatch {
			batch := make([]uint64, min(feedBatch, s.hi-lo))
			for k := range batch {
				batch[k] = makeItem(lo + int64(k))
			}
			r.to <- batch
		}
	}
}

func makeItem(i int64) uint64       { return burn(uint64(i), makeSteps) }
func useItem(item uint64) uint64    { return burn(item, useSteps) }
func (f *feed) Close() error        { close(f.asked); f.stopped.Wait(); return nil }
func (selfFed) Close() error        { return nil }
func newSelfFed() workload.Instance { return selfFed{} }

func (f *feed) Work(w int, lo, hi int64) workload.Tally {
	var t workload.Tally
	for batch := range f.meet.meet(w, lo, hi) {
		for _, item := range batch {
			t.Sum += useItem(item)
			t.Ops++
		}
	}
	return t
}

type selfFed struct{}

func (selfFed) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		sum += useItem(makeItem(i))
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

// napping tries a section that is in use and sleeps when it is, as code does
// that polls. The section is half of the work, and a sleep is many times
// longer than the section stays taken. In the twin each worker has a section of
// its own.
type napping struct {
	noClose
	taken []padded[atomic.Bool]
	one   bool
}

const (
	nap       = time.Millisecond
	napEvery  = 16 // operations in one visit of the section
	napInside = 5 * micro
)

func (n *napping) Work(w int, lo, hi int64) workload.Tally {
	if n.one {
		w = 0
	}
	taken := &n.taken[w].value
	var sum uint64
	for i := lo; i < hi; i += napEvery {
		end := min(i+napEvery, hi)
		for k := i; k < end; k++ {
			sum += burn(uint64(k), napInside)
		}
		for !taken.CompareAndSwap(false, true) {
			time.Sleep(nap)
		}
		for k := i; k < end; k++ {
			sum += burn(^uint64(k), napInside)
		}
		taken.Store(false)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newNapping(one bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		return &napping{taken: make([]padded[atomic.Bool], p.Workers), one: one}, nil
	}
}

func balancePairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "serial-phase", Title: "rounds whose second half one worker does for all",
				Expect: string(cause.BalanceSerial), OpNS: 5_200,
			},
			bad: newRounds(true), fixed: newRounds(false), cure: "each worker does its share of the second half",
		},
		{
			info: workload.Info{
				Name: "tail", Title: "operations that cost more the later they come, cut into equal counts",
				Expect: string(cause.BalanceTail), OpNS: 4_400,
			},
			bad: newSkewed(false), fixed: newSkewed(true), cure: "the operations are dealt out one by one",
		},
		{
			info: workload.Info{
				Name: "producer", Title: "one goroutine makes what all workers use",
				Expect: string(cause.BalanceSerial), OpNS: 11_000,
			},
			bad:   newFeed,
			fixed: func(workload.Params) (workload.Instance, error) { return newSelfFed(), nil },
			cure:  "each worker makes what it uses", cheap: 16_500,
		},
		{
			info: workload.Info{
				Name: "sleep-wait", Title: "a section in use is waited for with time.Sleep",
				Expect: string(cause.IOSleep), OpNS: 8_900,
			},
			bad: newNapping(true), fixed: newNapping(false), cure: "a section for each worker",
		},
	}
}
