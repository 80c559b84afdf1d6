package lab

import (
	"sync"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// small builds short texts piece by piece, and every piece is an allocation
// without pointers that is garbage at once. The twin builds them in a buffer of
// the worker's own.
type small struct {
	noClose
	scratch []padded[[]byte] // one for each worker, nil where every piece is allocated
}

const (
	piecesPerOp = 32
	pieceBytes  = 96
)

// piece writes bytes that depend on v and returns a value that depends on them.
func piece(b []byte, v uint64) uint64 {
	for i := 0; i < len(b); i += 8 {
		b[i] = byte(v >> (i & 31))
	}
	return burn(v+uint64(b[0])+uint64(b[8])<<8, 4)
}

//go:noinline
func newPiece() []byte { return make([]byte, pieceBytes) }

func (s *small) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		v := uint64(i)
		for range piecesPerOp {
			b := []byte(nil)
			if s.scratch == nil {
				b = newPiece()
			} else {
				b = s.scratch[w].value
			}
			v = piece(b, v)
		}
		sum += v
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newSmall(reuse bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		s := &small{}
		if reuse {
			s.scratch = make([]padded[[]byte], p.Workers)
			for w := range s.scratch {
				s.scratch[w].value = apart(pieceBytes)
			}
		}
		return s, nil
	}
}

// large fills one large buffer an operation.
type large struct {
	noClose
	buffers buffers
	bytes   int
}

// buffers is where an operation's buffer comes from and goes to.
type buffers interface {
	get(w, n int) []byte
	put(w int, b []byte)
}

func (l *large) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		b := l.buffers.get(w, l.bytes)
		sum += touch(b, uint64(i))
		l.buffers.put(w, b)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

// touch writes a byte of every cache line of b and returns a value that depends
// on v only.
func touch(b []byte, v uint64) uint64 {
	for at := 0; at < len(b); at += 64 {
		v = burn(v, 4)
		b[at] = byte(v)
	}
	return v
}

// fill writes a byte of every cache line of b.
func fill(b []byte, with byte) {
	for i := 0; i < len(b); i += 64 {
		b[i] = with
	}
}

// freshBuffers allocates each buffer and forgets it.
type freshBuffers struct{}

func (freshBuffers) get(_, n int) []byte { return make([]byte, n) }
func (freshBuffers) put(int, []byte)     {}

// ownBuffers keeps one buffer for each worker.
type ownBuffers []padded[[]byte]

func (o ownBuffers) get(w, n int) []byte {
	if cap(o[w].value) < n {
		o[w].value = make([]byte, n)
	}
	return o[w].value[:n]
}
func (ownBuffers) put(int, []byte) {}

// missBuffers has a pool and misses it: what is put back is a slice that was
// cut down to what was used, so that the next user finds it too small and
// allocates again.
type missBuffers struct{ pool *sync.Pool }

func (m missBuffers) get(_, n int) []byte {
	b := *m.pool.Get().(*[]byte)
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n]
}

func (m missBuffers) put(_ int, b []byte) {
	used := b[: len(b)/2 : len(b)/2]
	m.pool.Put(&used)
}

// hitBuffers is the same pool with the whole buffer put back.
type hitBuffers struct{ pool *sync.Pool }

func (h hitBuffers) get(w, n int) []byte { return missBuffers(h).get(w, n) }

func (h hitBuffers) put(_ int, b []byte) {
	b = b[:0]
	h.pool.Put(&b)
}

func emptyPool() *sync.Pool { return &sync.Pool{New: func() any { return new([]byte) }} }

func newLarge(bytes int, of func(workers int) buffers) maker {
	return func(p workload.Params) (workload.Instance, error) {
		return &large{buffers: of(p.Workers), bytes: bytes}, nil
	}
}

// allocPairs expects "gc|alloc": what an allocation costs past its fast path
// falls on one side or the other by the pacing of the collector. More headroom
// (GOGC=400, 1600) takes collections away and brings first touches of fresh
// pages, and the sum of both stays far above the twin's. GOMAXPROCS = T, because
// with a second P the collector already costs one worker most of this.
func allocPairs() []pair {
	const (
		largeBytes = 256 << 10
		poolBytes  = 24 << 10
	)
	return []pair{
		{
			info: workload.Info{
				Name: "alloc-small", Title: "small pointer-free objects, garbage at once",
				Expect: "gc|alloc", OpNS: 3_500, ProcsThreads: true,
			},
			bad: newSmall(false), fixed: newSmall(true), cure: "one buffer reused by each worker", cheap: 1_000,
		},
		{
			info: workload.Info{
				Name: "alloc-large", Title: "one buffer of 256 KiB for each operation",
				Expect: "gc|alloc", OpNS: 60_000, ProcsThreads: true,
			},
			bad:   newLarge(largeBytes, func(int) buffers { return freshBuffers{} }),
			fixed: newLarge(largeBytes, func(n int) buffers { return make(ownBuffers, n) }),
			cure:  "one buffer of 256 KiB reused by each worker", cheap: 28_000,
		},
		{
			info: workload.Info{
				Name: "pool-miss", Title: "a sync.Pool whose buffers come back too small to be used again",
				Expect: "gc|alloc", OpNS: 8_000, ProcsThreads: true,
			},
			bad:   newLarge(poolBytes, func(int) buffers { return missBuffers{emptyPool()} }),
			fixed: newLarge(poolBytes, func(int) buffers { return hitBuffers{emptyPool()} }),
			cure:  "the whole buffer goes back to the sync.Pool", cheap: 2_800,
		},
	}
}
