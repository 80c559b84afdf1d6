package lanes

// team is the goroutines that a lane started, and theirs.
type team struct {
	running int32
	ready   int32
	done    ownTime // up to the last change
	since   int64
	head    heads // then
}

// ownTime is time of a lane by what its team did, ns.
type ownTime struct {
	ran   int64 // one of them at least was running
	heads heads // none was, and one at least was ready: what it waited for
}

func (t *team) runs(s *ps, n int32) {
	t.done = t.upTo(s)
	t.running += n
	t.since, t.head = s.now, s.head
}

func (t *team) queues(s *ps, n int32) {
	if t.running == 0 {
		t.done = t.upTo(s)
		t.since, t.head = s.now, s.head
	}
	t.ready += n
}

// upTo is the team's time up to now.
func (t *team) upTo(s *ps) ownTime {
	d := t.done
	switch {
	case t.running > 0:
		d.ran += s.now - t.since
	case t.ready > 0:
		for i := range d.heads {
			d.heads[i] += s.head[i] - t.head[i]
		}
	}
	return d
}

// minus is the time between two values.
func (d ownTime) minus(o ownTime) ownTime {
	d.ran -= o.ran
	for i := range d.heads {
		d.heads[i] -= o.heads[i]
	}
	return d
}

// causeOfHead is the cause of a lane's time while it waits for its team and one
// of that is ready.
func (a *pass) causeOfHead(h int) causeID {
	switch h {
	case headIdle:
		return cWakeLatency
	case headSearch:
		return cFind
	case headStop:
		return cSTW
	case headMark:
		return cMark
	}
	return cQueue
}
