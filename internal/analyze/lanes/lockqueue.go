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

// lockKey is a place where lanes waited for others.
type lockKey struct {
	cause  causeID
	victim stackID
}

// lockSum is what was lost there.
type lockSum struct {
	waits    int
	waitNS   int64
	handOver int64
	culprits map[stackID]int64
}

func (a *pass) lockSum(c causeID, victim stackID) *lockSum {
	k := lockKey{c, victim}
	s := a.locks[k]
	if s == nil {
		s = &lockSum{culprits: make(map[stackID]int64)}
		a.locks[k] = s
	}
	return s
}

func (s *lockSum) blame(culprit stackID, d int64) {
	if culprit != 0 {
		s.culprits[culprit] += d
	}
}
