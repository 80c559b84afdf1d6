package lab

import "sync"

// span is one worker's range of operations, [lo, hi).
type span struct{ lo, hi int64 }

func (s span) len() int64 { return s.hi - s.lo }

// part cuts s into n pieces that differ by one operation at most and returns
// piece k.
func (s span) part(k, n int64) span {
	return span{s.lo + s.len()*k/n, s.lo + s.len()*(k+1)/n}
}

// union is the operations of several spans, one after the other: in the warm-up
// the workers' spans do not touch.
type union []span

func unionOf(spans []span) union { return append(union(nil), spans...) }

func (u union) len() int64 {
	var n int64
	for _, s := range u {
		n += s.len()
	}
	return n
}

// each calls f with every step-th operation, from the first-th on.
func (u union) each(first, step int64, f func(i int64)) {
	skip := first
	for _, s := range u {
		for ; skip < s.len(); skip += step {
			f(s.lo + skip)
		}
		skip -= s.len()
	}
}

// meeting builds the state that belongs to one phase, the warm-up or the
// window. Each worker calls meet once a phase; the last to come builds.
type meeting[S any] struct {
	build func([]span) S

	mu      sync.Mutex
	arrived int
	spans   []span
	now     *met[S]
}

type met[S any] struct {
	ready chan struct{}
	state S
}

func newMeeting[S any](workers int, build func([]span) S) *meeting[S] {
	return &meeting[S]{build: build, spans: make([]span, workers)}
}

// meet waits until all workers of the phase are here. It costs one wake-up a
// phase.
func (m *meeting[S]) meet(w int, lo, hi int64) S {
	m.mu.Lock()
	if m.now == nil {
		m.now = &met[S]{ready: make(chan struct{})}
	}
	now := m.now
	m.spans[w] = span{lo, hi}
	m.arrived++
	if m.arrived == len(m.spans) {
		now.state = m.build(m.spans)
		m.arrived, m.now = 0, nil
		close(now.ready)
	}
	m.mu.Unlock()
	<-now.ready
	return now.state
}

// barrier holds workers back until all of them have come, again and again.
type barrier struct {
	mu      sync.Mutex
	open    sync.Cond
	workers int
	arrived int
	round   int
}

func newBarrier(workers int) *barrier {
	b := &barrier{workers: workers}
	b.open.L = &b.mu
	return b
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	round := b.round
	b.arrived++
	if b.arrived == b.workers {
		b.arrived = 0
		b.round++
		b.open.Broadcast()
		return
	}
	for round == b.round {
		b.open.Wait()
	}
}
