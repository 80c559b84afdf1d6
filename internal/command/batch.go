package command

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// marks watches a program's lines for those that begin and end its window.
type marks struct {
	begin, end *regexp.Regexp // nil where the program's own begin and end count

	mu             sync.Mutex
	began, ended   chan struct{} // closed when the line was read
	hasBegun, over bool
	beginAt, endAt time.Time
}

func newMarks(begin, end *regexp.Regexp) *marks {
	return &marks{begin: begin, end: end, hasBegun: begin == nil, began: make(chan struct{}), ended: make(chan struct{})}
}

// line takes a line of either output. The first that matches counts.
func (m *marks) line(text []byte, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.hasBegun:
		if m.begin.Match(text) {
			m.hasBegun, m.beginAt = true, at
			close(m.began)
		}
	case m.end != nil && !m.over:
		if m.end.Match(text) {
			m.over, m.endAt = true, at
			close(m.ended)
		}
	}
}

// batch runs the program to its end.
func (r *run) batch() error {
	own, err := r.ownProfiles()
	if err != nil {
		return err
	}
	m := newMarks(r.e.begin, r.e.end)
	var onLine func([]byte, time.Time)
	if m.begin != nil || m.end != nil {
		onLine = m.line
	}
	r.job.Window.Open(nil)
	clock, origin := time.Now(), monotonic()
	if r.program, err = start("the program", r.e.opts.Exec, append(r.env(), own...), onLine); err != nil {
		return err
	}
	if m.begin == nil {
		m.beginAt = r.program.began
	}
	var before *reading
	if m.begin != nil {
		if err := r.awaitBegin(m); err != nil {
			return err
		}
		r.job.Window.Begin()
		before = readGroup(r.program.pid())
	}
	fetched := r.recordBatch(m.beginAt)
	after, err := r.awaitEnd(m)
	r.job.Window.End()
	if r.profile != nil {
		r.endProfiles(fetched)
	}
	if err == nil && m.end != nil {
		r.probe() // only here is the program still there
		err = r.awaitExit()
	}
	r.job.Window.Close(nil)
	if err != nil {
		return err
	}
	r.program.stop(0) // what it left behind
	m.mu.Lock()
	endAt := m.endAt
	m.mu.Unlock()
	if m.end == nil {
		endAt = r.program.endedAt
	}
	used, threads := r.batchUsage(m, before, after)
	r.out.OwnNS = cpuNS(used)
	r.collect()
	return r.finish(origin+int64(m.beginAt.Sub(clock)), origin+int64(endAt.Sub(clock)), used, threads, r.program.output.Bytes(), "the program")
}

// batchUsage is what the program used in its window.
func (r *run) batchUsage(m *marks, before, after *reading) (*recorder.Usage, *recorder.Threads) {
	all := usageOf(r.program.cmd.ProcessState)
	switch {
	case m.end == nil && m.begin == nil:
		return all, nil
	case m.end == nil:
		return less(all, before), nil
	case m.begin == nil:
		return after.since(&reading{})
	}
	return after.since(before)
}

func (r *run) awaitBegin(m *marks) error {
	select {
	case <-m.began:
		return nil
	case <-r.program.ended:
		r.program.drained() // the line may be among its last
		if r.program.err != nil {
			return r.program.failed()
		}
		select {
		case <-m.began:
			return fmt.Errorf("the program ended as it printed the line that matches --begin %q", m.begin)
		default:
		}
		return fmt.Errorf("the program ended without a line that matches --begin %q", m.begin)
	case <-r.ctx.Done():
		return r.hung(fmt.Sprintf("the program had printed no line that matches --begin %q", m.begin), r.program)
	}
}

// awaitEnd waits for the window's end. Where a line ends it, it reads what was
// used until then.
func (r *run) awaitEnd(m *marks) (after *reading, err error) {
	select {
	case <-m.ended: // never without an expression
		return readGroup(r.program.pid()), nil
	case <-r.program.ended:
		if err := r.program.failed(); err != nil {
			return nil, err
		}
		if m.end == nil {
			return nil, nil
		}
		r.program.drained()
		select {
		case <-m.ended:
			return nil, nil // with its last line; what it used until then is not known
		default:
		}
		return nil, fmt.Errorf("the program ended without a line that matches --end %q", m.end)
	case <-r.ctx.Done():
		return nil, r.hung("the program was still running", r.program)
	}
}

// awaitExit lets a program end whose window is over.
func (r *run) awaitExit() error {
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-r.program.ended:
		return r.program.failed()
	case <-timer.C:
		r.program.stop(stopGrace)
	case <-r.ctx.Done():
	}
	return nil
}

// recordBatch fetches the profiles of a batch command while it runs. Its end
// cannot be told in advance: recordings last four fifths of what timed runs
// have taken, as those that are open when the program ends are lost.
func (r *run) recordBatch(begin time.Time) (fetched chan struct{}) {
	if r.e.pprof == nil || !r.job.Profiles.Any() {
		return nil
	}
	r.profile = newCollector(*r.e.pprof, r.job.Dir, r.job.Profiles)
	fetched = make(chan struct{})
	go func() {
		defer close(fetched)
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		if !r.awaitPprof(ctx) {
			return
		}
		r.profile.before(ctx)
		most := r.expected()*4/5 - time.Since(begin)
		if r.e.end != nil {
			most = longest // ended by the line
		}
		r.profile.record(ctx, max(most, time.Second))
		if r.e.end == nil {
			r.profile.over.Wait()
			r.profile.after(ctx)
		}
	}()
	return fetched
}

// awaitPprof waits until the program's pprof answers, or the window is over.
func (r *run) awaitPprof(ctx context.Context) bool {
	for {
		ok, said := r.e.pprof.answers(ctx)
		if ok {
			return true
		}
		select {
		case <-r.profile.stop:
			r.profile.warnText(fmt.Sprintf("no profiles: %s was not there while the program ran: %s", r.e.pprof, said))
			return false
		case <-ctx.Done():
			return false
		case <-time.After(poll):
		}
	}
}

// endProfiles ends the recordings of a batch command.
func (r *run) endProfiles(fetched chan struct{}) {
	close(r.profile.stop)
	<-fetched
	r.profile.over.Wait()
	if r.e.end != nil {
		r.profile.after(r.ctx)
	}
}

// expected is how long a run at this T takes: as the last timed one did, else
// as the fastest of any.
func (r *run) expected() time.Duration {
	if d, ok := r.e.walls[r.job.Cell.Threads]; ok {
		return d
	}
	var least time.Duration
	for _, d := range r.e.walls {
		if least == 0 || d < least {
			least = d
		}
	}
	return least
}
