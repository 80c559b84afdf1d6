package recorder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"sync/atomic"
)

// Work is one lane's part: worker w does its share and says what it did.
type Work func(w int) (ops int64, sum uint64)

// Part is one lane's part with what comes before and after it: begin, to be
// called once, returns when the window has begun, and end says that the part
// is done and returns when all are.
type Part func(w int, begin, end func()) (ops int64, sum uint64)

// lanes are the workers of one window and their barrier.
type lanes struct {
	rec  *Recorder
	work Part
	pin  []int
	out  []Lane

	set  chan error    // one answer a lane: it is pinned, and parked next
	wake chan struct{} // closed when the gate opens
	done chan struct{} // closed at the window's end
	bad  chan error    // a lane failed; room for all, as nobody may be listening any more

	here   *meeting // of the lanes
	all    *meeting // of the run's processes; nil where there is but one, or no shared memory
	around bool     // lanes go on after their part, once the window has ended
	offer  bool     // more lanes than Ps or CPUs
	left   int32
	after  int32         // lanes that have not returned yet
	gone   chan struct{} // closed when all have
}

// Run runs n lanes through the window. They are started and parked first, then
// gate is called (it says "ready" and waits for the parent), then they gather
// at a barrier, and with them the lanes of the run's other processes: when all
// are running, the window begins; the last to end ends it. Gathered lanes spin,
// so that neither waking nor placing their threads is in the window.
//
// Where the window has already begun, there is neither gate nor barrier.
//
// With pin, lane i is alone on its thread, which is bound to CPU pin[i%len(pin)].
// When a lane panics, Run returns at once, the other lanes still running.
func (r *Recorder) Run(n int, pin []int, gate func() error, work Work) ([]Lane, error) {
	return r.run(n, pin, gate, false, func(w int, begin, end func()) (ops int64, sum uint64) {
		begin()
		ops, sum = work(w)
		end()
		return ops, sum
	})
}

// RunFrom is Run for lanes that have something to do before and after their
// part, which is not in the window: part calls begin and end where it is. The
// recorders may be armed by gate, which is called when all lanes are about to
// begin.
func (r *Recorder) RunFrom(n int, pin []int, gate func() error, part Part) ([]Lane, error) {
	return r.run(n, pin, gate, true, part)
}

func (r *Recorder) run(n int, pin []int, gate func() error, around bool, part Part) ([]Lane, error) {
	l := &lanes{
		rec: r, work: part, around: around, pin: pin, out: make([]Lane, n),
		set: make(chan error, n), wake: make(chan struct{}), done: make(chan struct{}), bad: make(chan error, 2*n),
		left: int32(n), after: int32(n), gone: make(chan struct{}),
	}
	begun := r.Begun()
	if begun {
		close(l.wake)
	} else {
		l.here, l.offer = newMeeting(n), n > runtime.GOMAXPROCS(0) || n > runtime.NumCPU()
		var leave func()
		l.all, leave = r.opt.meetingOfProcesses()
		defer leave()
	}
	for w := 0; w < n; w++ {
		go l.lane(w)
	}
	if !begun {
		for w := 0; w < n; w++ {
			select {
			case err := <-l.set:
				if err != nil {
					return nil, err
				}
			case err := <-l.bad: // in what comes before its part
				return nil, err
			}
		}
		if err := gate(); err != nil {
			return nil, err
		}
		r.wokenNS, r.spinning = r.Now(), int64(n)
		if procs := int64(runtime.GOMAXPROCS(0)); r.spinning > procs {
			r.spinning = procs
		}
		close(l.wake)
	}
	select {
	case err := <-l.bad:
		return nil, err
	case <-l.done:
	}
	if around {
		select {
		case err := <-l.bad:
			return nil, err
		case <-l.gone:
		}
	}
	return l.out, nil
}

func (l *lanes) lane(w int) {
	ended := false
	defer func() {
		if v := recover(); v != nil {
			l.bad <- fmt.Errorf("worker %d panicked: %v%s", w, v, where(debug.Stack()))
		} else if !ended {
			l.bad <- fmt.Errorf("worker %d ended before its work was done", w)
		}
	}()
	if len(l.pin) > 0 {
		// Never unlocked: the thread dies with the goroutine, and nobody inherits its CPU.
		runtime.LockOSThread()
		if err := pinThread(l.pin[w%len(l.pin)]); err != nil {
			ended = true
			l.set <- err
			l.bad <- err
			return
		}
	}
	l.label(w)
	var region *trace.Region
	var start, end int64
	out := &l.out[w]
	begin := func() {
		if !l.around {
			region = trace.StartRegion(context.Background(), RegionLane)
		}
		l.set <- nil
		<-l.wake
		if l.around {
			region = trace.StartRegion(context.Background(), RegionLane) // the trace may have begun only now
		}
		if l.here != nil {
			l.here.join(w, l.rec.Now, l.offer, l.open)
		}
		start = l.rec.Now()
	}
	finish := func() {
		end = l.rec.Now()
		region.End()
		if l.around {
			l.leave()
		}
	}
	ops, sum := l.work(w, begin, finish)
	ended = end > 0
	if !ended {
		return
	}
	*out = Lane{StartNS: start - l.rec.beginNS, EndNS: end - l.rec.beginNS, Ops: ops, Checksum: sum}
	if !l.around {
		l.leave()
		return
	}
	if atomic.AddInt32(&l.after, -1) == 0 {
		close(l.gone)
	}
}

// label puts the worker's number on the samples of a CPU profile: on its own and
// on those of the goroutines that it starts. In process mode it is the process's.
func (l *lanes) label(w int) {
	if !l.rec.opt.Profiles.CPU {
		return
	}
	if l.rec.opt.Processes > 1 {
		w += l.rec.opt.Process * len(l.out)
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(LabelWorker, strconv.Itoa(w+1))))
}

// leave is called by each lane at its end. The last ends the window; one that
// goes on waits for that, so that it takes no CPU from the others.
func (l *lanes) leave() {
	if atomic.AddInt32(&l.left, -1) == 0 {
		l.rec.End()
		close(l.done)
	} else if l.around || len(l.pin) > 0 {
		<-l.done // the thread's schedstat is read at the window's end
	}
}

// open is called by the last lane of this process to arrive.
func (l *lanes) open() {
	if l.all != nil {
		l.all.join(l.rec.opt.Process, l.rec.Now, false, func() {})
	}
	l.rec.Begin()
}

// meetingOfProcesses is shared by the processes of a run, by way of a file in
// Dir. More processes than CPUs cannot all run, so they do not meet.
func (o *Options) meetingOfProcesses() (m *meeting, leave func()) {
	leave = func() {}
	if o.Processes < 2 || o.Processes > runtime.NumCPU() || o.Process < 0 || o.Process >= o.Processes {
		return nil, leave
	}
	name := filepath.Join(o.Dir, "barrier")
	words, err := shareWords(name, meetingWords(o.Processes))
	if err != nil {
		return nil, leave // the gate alone has to do
	}
	if o.Process == 0 {
		leave = func() { _ = os.Remove(name) } // all have it open by then
	}
	return &meeting{words: words, n: o.Processes, late: absence}, leave
}

// where finds the panicking line in a stack: the first frame below the panic
// that is not the runtime's.
func where(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	below := false
	for i := 0; i+1 < len(lines); i++ {
		if strings.HasPrefix(lines[i], "panic(") {
			below = true
			i++ // its file
			continue
		}
		if below && !strings.HasPrefix(lines[i], "runtime.") && strings.HasPrefix(lines[i+1], "\t") {
			at := strings.TrimSpace(lines[i+1])
			if cut := strings.LastIndex(at, " +0x"); cut > 0 {
				at = at[:cut]
			}
			return " (at " + at + ")"
		}
		if below {
			i++
		}
	}
	return ""
}
