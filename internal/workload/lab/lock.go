package lab

import (
	"sync"
	"sync/atomic"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// ledger is a book under one lock, like a cache or a session table.
type ledger struct {
	mu       sync.Mutex
	accounts [64]uint64
	wait     delay
}

// post does n steps of work under the lock.
func (l *ledger) post(v uint64, n int) uint64 {
	l.mu.Lock()
	v = burn(v, n)
	l.accounts[v%64] += v
	l.wait.spend()
	l.mu.Unlock()
	return v
}

// mutex posts every operation to one ledger and spends four fifths of the
// operation under its lock: the speed-up can be 1/0.8 at most. The twin has a
// ledger for every worker and takes the same number of locks.
type mutex struct {
	noClose
	books []padded[ledger]
	one   bool
}

func (m *mutex) book(w int) *ledger {
	if m.one {
		w = 0
	}
	return &m.books[w].value
}

func (m *mutex) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	book := m.book(w)
	for i := lo; i < hi; i++ {
		sum += book.post(burn(uint64(i), 1*micro), 4*micro)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newBooks(p workload.Params) ([]padded[ledger], error) {
	d, err := delayOf(p.Values)
	if err != nil {
		return nil, err
	}
	books := make([]padded[ledger], p.Workers)
	for i := range books {
		books[i].value.wait = d
	}
	return books, nil
}

func newMutex(one bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		books, err := newBooks(p)
		return &mutex{books: books, one: one}, err
	}
}

// longHolder takes one lock briefly for every operation, and every 64th
// operation tidies up under it for some 400 µs. Most waiting is behind those
// few, not behind the many: the long holder is to blame. The twin tidies up
// outside the lock.
type longHolder struct {
	noClose
	book    *ledger
	outside bool
}

const (
	tidyEvery = 64
	tidySteps = 400 * micro
)

func (h *longHolder) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		sum += h.book.post(burn(uint64(i), 2*micro), micro/5)
		if i%tidyEvery == 0 {
			sum += h.tidy(uint64(i))
		}
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func (h *longHolder) tidy(i uint64) uint64 {
	if h.outside {
		return h.book.post(burn(i, tidySteps), 1)
	}
	return burn(h.book.post(i, tidySteps), 1)
}

func newLongHolder(outside bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		d, err := delayOf(p.Values)
		return &longHolder{book: &ledger{wait: d}, outside: outside}, err
	}
}

// readers looks things up in a small table that hardly ever changes, under the
// read lock. Nobody ever waits, but each RLock and RUnlock writes the lock's
// reader count, and that line travels from core to core. The twin reads an
// immutable snapshot behind an atomic pointer, a line that stays in every cache.
type readers struct {
	noClose
	mu    sync.RWMutex
	table *lookup
	wait  delay
}

type lookup [256]uint64

func newLookup() *lookup {
	var t lookup
	for i := range t {
		t[i] = burn(uint64(i), 3)
	}
	return &t
}

const lookupsPerOp = 64

func (r *readers) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		key := uint64(i)
		for range lookupsPerOp {
			key = burn(key+r.get(key), 8)
		}
		sum += key
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func (r *readers) get(key uint64) uint64 {
	r.mu.RLock()
	v := r.table[key%256]
	r.wait.spend()
	r.mu.RUnlock()
	return v
}

func newReaders(p workload.Params) (workload.Instance, error) {
	d, err := delayOf(p.Values)
	return &readers{table: newLookup(), wait: d}, err
}

type snapshotReaders struct {
	noClose
	table atomic.Pointer[lookup]
	wait  delay
}

func (r *snapshotReaders) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		key := uint64(i)
		for range lookupsPerOp {
			key = burn(key+r.get(key), 8)
		}
		sum += key
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func (r *snapshotReaders) get(key uint64) uint64 {
	v := r.table.Load()[key%256]
	r.wait.spend()
	return v
}

func newSnapshotReaders(p workload.Params) (workload.Instance, error) {
	d, err := delayOf(p.Values)
	r := &snapshotReaders{wait: d}
	r.table.Store(newLookup())
	return r, err
}

func lockPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "mutex", Title: "four fifths of every operation under one sync.Mutex",
				Expect: string(cause.LockMutex), OpNS: 4_500, Delay: []string{string(cause.LockMutex)},
			},
			bad: newMutex(true), fixed: newMutex(false), cure: "one lock for each worker",
		},
		{
			info: workload.Info{
				Name: "mutex-long-holder", Title: "one lock, held briefly by most and long by every 64th operation",
				Expect: string(cause.LockMutex), OpNS: 7_600, Delay: []string{string(cause.LockMutex)},
			},
			bad: newLongHolder(false), fixed: newLongHolder(true), cure: "the long work is done outside the lock",
		},
		{
			info: workload.Info{
				Name: "rwmutex-readers", Title: "readers only, all through one sync.RWMutex",
				Expect: string(cause.LockRWMutex), OpNS: 1_200, Delay: []string{string(cause.LockRWMutex)},
			},
			bad: newReaders, fixed: newSnapshotReaders, cure: "readers load an immutable snapshot",
		},
	}
}
