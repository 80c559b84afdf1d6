package lanes

// lockQueue is the recent hand-overs at locks whose Lock and Unlock calls are
// known to meet. The trace has no address of a lock; the places that block and
// the places that unblock them, joined, stand for it.
type lockQueue struct {
	ring [64]handOver
	n    int
}

// handOver is one Unlock that let a waiter go.
type handOver struct {
	t       int64
	since   int64 // when that waiter had begun to wait
	culprit stackID
	last    uint64 // the holder's states
}

// handOver notes that by let g go at now.
func (a *pass) handOver(g, by *goroutine, since, now int64, culprit stackID) {
	site := a.stacks.union(a.stacks.infos[g.where].site, a.stacks.infos[culprit].site)
	q := a.queues[site]
	if q == nil {
		if len(a.queues) >= 4096 {
			return
		}
		q = &lockQueue{}
		a.queues[site] = q
	}
	q.ring[q.n%len(q.ring)] = handOver{now, since, culprit, by.last}
	q.n++
}

// cutLockWait cuts a wait at each hand-over to somebody who queued before, and
// charges each piece to the goroutine that ended it: it held the lock until then.
// So one long holder gets what it cost, however many short ones follow it. The
// newest hand-over of the queue is the one that ended this wait.
func (a *pass) cutLockWait(g *goroutine, c causeID, by *goroutine, culprit stackID, begin, now int64) {
	hi, holder, last := now, culprit, by.last
	if q := a.queues[a.stacks.find(a.stacks.infos[g.where].site)]; q != nil {
		for i := q.n - 2; i >= 0 && i > q.n-len(q.ring); i-- {
			h := &q.ring[i%len(q.ring)]
			if h.t <= begin {
				break
			}
			if h.since > g.since || h.t >= hi {
				continue // queued after this one: at another lock of the same code
			}
			a.chargeHolder(g, c, holder, last, h.t, hi)
			hi, holder, last = h.t, h.culprit, h.last
		}
	}
	a.chargeHolder(g, c, holder, last, begin, hi)
}

// chargeHolder books [lo, hi) of a wait for a lock on its holder, and what the
// holder itself waited for another lock on the holder of that one.
func (a *pass) chargeHolder(g *goroutine, c causeID, holder stackID, last uint64, lo, hi int64) {
	end := hi
	for range 16 {
		e := a.journal.at(last)
		if e == nil || end <= lo {
			break
		}
		from, to := max(e.t0, lo), min(e.t1, end)
		if e.doing == didWait && !e.follow && e.culprit != 0 && from < to && a.causes.group(e.cause) == "lock" {
			a.book(e.cause, Waiting, g.where, e.culprit, to-from)
			a.book(c, Waiting, g.where, holder, hi-to)
			hi = from
		}
		end = min(end, from)
		last = e.prev
	}
	a.book(c, Waiting, g.where, holder, hi-lo)
}

// lockSums is what was lost where lanes waited for others.
type lockSums struct {
	numbers numbers // of causes and the waiters' stacks
	sums    []*lockSum
	charged tally // number and culprit's stack
}

// lockSum is what was lost at one place.
type lockSum struct {
	number   int
	cause    causeID
	victim   stackID
	waits    int
	waitNS   int64
	handOver int64
}

// lockSum is the sum for a cause and the stack of those who wait.
func (a *pass) lockSum(c causeID, victim stackID) *lockSum {
	l := &a.locks
	n := l.numbers.of(uint64(c)<<32 | uint64(victim))
	if n == len(l.sums) {
		l.sums = append(l.sums, &lockSum{number: n, cause: c, victim: victim})
	}
	return l.sums[n]
}

func (l *lockSums) blame(s *lockSum, culprit stackID, d int64) {
	if culprit != 0 {
		l.charged.add(uint64(s.number)<<32|uint64(culprit), d)
	}
}

func (l *lockSums) clear() {
	l.numbers.clear()
	l.charged.clear()
	l.sums = nil
}

// top is, by place, the culprit that was charged most, 0 for none.
func (l *lockSums) top() []stackID {
	best, most := make([]stackID, len(l.sums)), make([]int64, len(l.sums))
	for key, ns := range l.charged.all {
		n, id := key>>32, stackID(key&(1<<32-1))
		if best[n] == 0 || ns > most[n] || ns == most[n] && id < best[n] {
			best[n], most[n] = id, ns
		}
	}
	return best
}
