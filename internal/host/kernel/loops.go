package kernel

import (
	"fmt"
	"math/bits"
	"sync/atomic"
)

// loop is a kernel's measured part. share does the operations [lo, hi) of the total and returns
// a result that depends on every one of them; want is that result in closed form. The salt
// differs from run to run.
type loop interface {
	share(worker int, lo, hi int64, salt uint64) uint64
	want(worker int, lo, hi int64, salt uint64) uint64
	// ops is how many operations are reported for a total of n.
	ops(n int64) int64
	// most is the largest total that can be asked for, 0 for no limit.
	most() int64
}

// lineWords is a cache line in 8-byte words. Apple's lines of 128 bytes make two operations of one miss.
const lineWords = 8

// alu advances four independent sequences: enough for a core to overlap them as it does
// common code's instructions (about 2.5 a cycle), few enough to stay in registers.
// It has no fields: there is no memory that it could touch.
type alu struct{}

func (alu) share(worker int, lo, hi int64, salt uint64) uint64 {
	w, x, y, z := aluSeeds(worker, salt)
	for range hi - lo {
		w = w*lcgA + lcgC
		x = x*lcgA + lcgC
		y = y*lcgA + lcgC
		z = z*lcgA + lcgC
	}
	return w ^ bits.RotateLeft64(x, 1) ^ bits.RotateLeft64(y, 2) ^ bits.RotateLeft64(z, 3)
}

func (alu) want(worker int, lo, hi int64, salt uint64) uint64 {
	n := step{lcgA, lcgC}.power(uint64(hi - lo))
	w, x, y, z := aluSeeds(worker, salt)
	return n.at(w) ^ bits.RotateLeft64(n.at(x), 1) ^ bits.RotateLeft64(n.at(y), 2) ^ bits.RotateLeft64(n.at(z), 3)
}

func (alu) ops(n int64) int64 { return n }
func (alu) most() int64       { return 0 }

func aluSeeds(worker int, salt uint64) (w, x, y, z uint64) {
	s := salt + uint64(worker)*0x9e3779b97f4a7c15
	return s, s ^ 0x5555555555555555, s + 0x123456789, ^s
}

// cache reads one word of each line of a buffer of its worker's own, over and over. Word 0 of line i
// holds i, so that n reads add up to a known sum.
type cache struct{ buffers [][]uint64 }

// cacheBytes is more than first-level data caches (32 to 128 KiB) and less than second-level
// ones (256 KiB and more).
const cacheBytes = 160 << 10

func newCache(workers int) *cache {
	c := &cache{}
	c.grow(workers)
	return c
}

// grow makes buffers for so many workers, outside the measured part.
func (c *cache) grow(workers int) {
	for len(c.buffers) < workers {
		b := make([]uint64, cacheBytes/8)
		for i := range len(b) / lineWords {
			b[i*lineWords] = uint64(i)
		}
		c.buffers = append(c.buffers, b)
	}
}

func (c *cache) share(worker int, lo, hi int64, salt uint64) uint64 {
	b := c.buffers[worker]
	lines := int64(len(b) / lineWords)
	sum := salt
	for n := hi - lo; n > 0; n -= lines {
		part := b[:min(n, lines)*lineWords]
		for i := 0; i < len(part); i += lineWords {
			sum += part[i]
		}
	}
	return sum
}

func (c *cache) want(worker int, lo, hi int64, salt uint64) uint64 {
	lines := uint64(len(c.buffers[worker]) / lineWords)
	n := uint64(hi - lo)
	upTo := func(m uint64) uint64 { return m * (m - 1) / 2 } // m is small: no overflow
	rest := n % lines
	sum := salt + n/lines*upTo(lines)
	if rest > 0 {
		sum += upTo(rest)
	}
	return sum
}

func (c *cache) ops(n int64) int64 { return n }
func (c *cache) most() int64       { return 0 }

// stream computes a[i] = b[i] + s*c[i], with b[i] = i and c[i] = 2i+1; the workers have each a
// contiguous part of the arrays. One operation is one line of each of the three.
type stream struct {
	a, b, c []uint64
	passes  int64
}

func newStream(bytes int64) *stream {
	n := int(bytes/3/8/lineWords) * lineWords
	s := &stream{a: make([]uint64, n), b: make([]uint64, n), c: make([]uint64, n), passes: 1}
	for i := range n {
		s.a[i], s.b[i], s.c[i] = 0, uint64(i), uint64(2*i+1)
	}
	return s
}

func (s *stream) share(_ int, lo, hi int64, salt uint64) uint64 {
	a := s.a[lo*lineWords : hi*lineWords]
	b := s.b[lo*lineWords : hi*lineWords]
	c := s.c[lo*lineWords : hi*lineWords]
	if len(a) == 0 {
		return 0
	}
	for p := range s.passes {
		f := salt + uint64(p)
		for i := range a {
			a[i] = b[i] + f*c[i]
		}
	}
	// Three of the words that were stored; a pass that was left out would leave older ones.
	return a[0] ^ a[len(a)/2] ^ a[len(a)-1]
}

func (s *stream) want(_ int, lo, hi int64, salt uint64) uint64 {
	n := uint64(hi-lo) * lineWords
	if n == 0 {
		return 0
	}
	f := salt + uint64(s.passes-1)
	at := func(i uint64) uint64 {
		i += uint64(lo) * lineWords
		return i + f*(2*i+1)
	}
	return at(0) ^ at(n/2) ^ at(n-1)
}

func (s *stream) ops(n int64) int64 { return n * s.passes }
func (s *stream) most() int64       { return int64(len(s.a) / lineWords) }

// random follows a cycle through all lines of an array: line i holds the next line's number, which the
// next load needs as its address. Operations [lo, hi) are the walk from its lo-th line to its hi-th.
type random struct{ next []uint64 }

// newRandom makes the cycle over the largest power of two of lines that fits.
func newRandom(bytes int64) *random {
	lines := uint64(1) << (bits.Len64(uint64(max(bytes, 1<<16))/(8*lineWords)) - 1)
	r := &random{make([]uint64, lines*lineWords)}
	for i := range lines {
		r.next[i*lineWords] = (i*lcgA + lcgC) & (lines - 1)
	}
	return r
}

func (r *random) share(_ int, lo, hi int64, salt uint64) uint64 {
	at := r.place(lo, salt)
	for range hi - lo {
		at = r.next[at*lineWords]
	}
	return at
}

func (r *random) want(_ int, _, hi int64, salt uint64) uint64 { return r.place(hi, salt) }

// place is the n-th line of the walk that starts at the salt's.
func (r *random) place(n int64, salt uint64) uint64 {
	mask := uint64(len(r.next)/lineWords - 1)
	return step{lcgA, lcgC}.power(uint64(n)).at(salt) & mask
}

func (r *random) ops(n int64) int64 { return n }
func (r *random) most() int64       { return 0 }

// shared is one word on a line of its own.
type shared struct {
	_ [128]byte
	n atomic.Uint64
	_ [128]byte
}

// contended adds to one word from all workers. The word's growth over a run is checked by the session.
type contended struct{ word *shared }

func (c contended) share(_ int, lo, hi int64, _ uint64) uint64 {
	word := &c.word.n
	for range hi - lo {
		word.Add(1)
	}
	return uint64(hi - lo)
}

func (c contended) want(_ int, lo, hi int64, _ uint64) uint64 { return uint64(hi - lo) }
func (c contended) ops(n int64) int64                         { return n }
func (c contended) most() int64                               { return 0 }

// errWrong is a run whose loop did not compute what it must: its time means nothing.
func errWrong(name string, worker int, got, want uint64) error {
	return fmt.Errorf("calibration kernel %s: worker %d computed %#x instead of %#x", name, worker, got, want)
}
