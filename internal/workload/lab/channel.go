package lab

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// handoff computes on all workers at once, but delivers results in turn: a
// token goes round through channels, and a worker delivers when it holds the
// token. The delivery itself takes nothing. What is lost is the hand-over: each
// costs a wake-up, and as the woken goroutine starts on its waker's P, the
// workers end up taking turns on one core. The twin delivers thousands of
// results for each turn.
type handoff struct {
	noClose
	every int64 // results delivered for each turn
	meet  *meeting[*tokenRing]
}

// tokenRing is one phase's ring. left is touched by the token's holder only.
type tokenRing struct {
	turn []chan struct{}
	left []int64 // operations that each worker has not delivered yet
	wait delay
}

func newTokenRing(spans []span, wait delay) *tokenRing {
	r := &tokenRing{wait: wait}
	for _, s := range spans {
		r.turn = append(r.turn, make(chan struct{}, 1))
		r.left = append(r.left, s.len())
	}
	r.pass(len(spans) - 1)
	return r
}

// pass gives the token to the next worker after w that has something to
// deliver, and to nobody when all is delivered.
func (r *tokenRing) pass(w int) {
	for k := range r.left {
		next := (w + 1 + k) % len(r.left)
		if r.left[next] > 0 {
			r.turn[next] <- struct{}{}
			return
		}
	}
}

// deliver waits for worker w's turn and delivers n results.
func (r *tokenRing) deliver(w int, n int64) {
	<-r.turn[w]
	r.wait.spend()
	r.left[w] -= n
	r.pass(w)
}

func (h *handoff) Work(w int, lo, hi int64) workload.Tally {
	ring := h.meet.meet(w, lo, hi)
	var sum uint64
	var ready int64
	for i := lo; i < hi; i++ {
		sum += burn(uint64(i), 3*micro)
		ready++
		if ready == h.every || i == hi-1 {
			ring.deliver(w, ready)
			ready = 0
		}
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newHandoff(every int64) maker {
	return func(p workload.Params) (workload.Instance, error) {
		d, err := delayOf(p.Values)
		build := func(spans []span) *tokenRing { return newTokenRing(spans, d) }
		return &handoff{every: every, meet: newMeeting(p.Workers, build)}, err
	}
}

// fan draws items from one buffered channel and gives them back to it, as
// programs do that use a channel as a pool or a queue of work. The channel is
// never empty and never full, so nobody waits for an item; the workers meet at
// the channel's own lock, which spins. The twin has a channel for each worker.
type fan struct {
	noClose
	queues []chan uint32 // of numbers of items
	items  []padded[uint64]
}

const (
	fanItems = 64 // for each worker
	fanPerOp = 16
)

func (f *fan) Work(w int, lo, hi int64) workload.Tally {
	queue := f.queues[w%len(f.queues)]
	var sum uint64
	for i := lo; i < hi; i++ {
		v := uint64(i)
		for range fanPerOp {
			k := <-queue
			v = burn(v, micro/20)
			f.items[k].value = v
			queue <- k
		}
		sum += v
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newFan(one bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		f := &fan{items: make([]padded[uint64], fanItems*p.Workers)}
		queues := p.Workers
		if one {
			queues = 1
		}
		each := len(f.items) / queues
		for q := range queues {
			// Twice the room needed: a give-back never waits.
			queue := make(chan uint32, 2*each)
			for k := range each {
				queue <- uint32(q*each + k)
			}
			f.queues = append(f.queues, queue)
		}
		return f, nil
	}
}

// selectDone waits on its own inbox and on a done channel that all workers
// share, as a loop under one context does. select locks every channel it looks
// at, so the shared channel's lock is taken by everybody all the time although
// nothing is ever sent on it. The twin has a done channel for each worker.
type selectDone struct {
	noClose
	inbox []chan uint64
	done  []chan bool
}

const (
	selectsPerOp = 16
	// channelRoom keeps the heads of two channels on different cache lines: the
	// buffer lies behind the head.
	channelRoom = 256
)

func (s *selectDone) Work(w int, lo, hi int64) workload.Tally {
	inbox, done := s.inbox[w], s.done[w]
	var sum uint64
	for i := lo; i < hi; i++ {
		v := uint64(i)
		for range selectsPerOp {
			inbox <- burn(v, micro/20)
			select {
			case v = <-inbox:
			case <-done:
				return workload.Tally{Ops: i - lo, Sum: sum}
			}
		}
		sum += v
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newSelectDone(one bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		s := &selectDone{}
		for w := range p.Workers {
			s.inbox = append(s.inbox, make(chan uint64, channelRoom))
			if one && w > 0 {
				s.done = append(s.done, s.done[0])
				continue
			}
			s.done = append(s.done, make(chan bool, channelRoom))
		}
		return s, nil
	}
}

func channelPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "channel-handoff", Title: "results delivered in turn, one hand-over each",
				Expect: string(cause.LockChannel), OpNS: 2_800, Delay: []string{string(cause.LockChannel)},
			},
			bad: newHandoff(1), fixed: newHandoff(4096), cure: "results delivered in turn, 4096 at a time",
		},
		{
			info: workload.Info{
				Name: "channel-fan", Title: "small items from and back to one buffered channel",
				Expect: string(cause.LockChannel), OpNS: 1_400,
			},
			bad: newFan(true), fixed: newFan(false), cure: "a channel for each worker",
		},
		{
			info: workload.Info{
				Name: "select-shared-done", Title: "select over an own inbox and one shared done channel",
				Expect: string(cause.LockSelect), OpNS: 1_700,
			},
			bad: newSelectDone(true), fixed: newSelectDone(false), cure: "a done channel for each worker",
		},
	}
}
