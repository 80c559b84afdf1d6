// Package counters reads the kernel's performance counters of one process over
// a window: hardware counters where the machine grants them, software counters
// nearly everywhere on Linux.
//
// The counters are opened on every thread that the process has, inherited by
// the threads that those start later, and so must be opened before the workers
// start and while no thread is being created. Hardware counters count user code
// only: that needs no privilege up to kernel.perf_event_paranoid=2, and it is
// the user code whose growth they explain.
package counters

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Names of the counters, as they appear in a run's result.
const (
	Instructions    = "instructions"
	Cycles          = "cycles"
	RefCycles       = "ref-cycles" // cycles at the nominal frequency: cycles/ref-cycles follows the clock
	LLCMisses       = "llc-misses" // loads that missed the last-level cache
	PageFaults      = "page-faults"
	ContextSwitches = "context-switches"
	Migrations      = "migrations" // moves between CPUs
)

// ErrUnsupported says that this platform or machine has no such counters.
var ErrUnsupported = errors.New("no performance counters here")

// event is one counter that can be asked for.
type event struct {
	name     string
	hardware bool
	userOnly bool   // still right when only user code may be counted
	typ      uint32 // of perf_event_attr
	config   uint64
}

// sample is one reading of one counter: the raw count, and how long it was wanted and how
// long it really counted, ns. The two differ where counters share the hardware.
type sample struct{ value, enabled, running uint64 }

// handle is one opened counter of one thread, including what its later children counted.
type handle interface {
	read() (sample, error)
	io.Closer
}

// system is the kernel's part, replaced in tests.
type system interface {
	threads(pid int) ([]int, error)
	open(ev event, tid int) (handle, error)
}

// Counters are open counters of one process.
type Counters struct {
	sets   []set
	denied map[string]error
}

// set is one event on all the threads.
type set struct {
	name    string
	handles []handle
	begin   []sample
}

// attempts is how often opening starts over because a thread was born meanwhile: it is either
// missed or, inherited and opened as well, counted twice.
const attempts = 5

// Open opens all counters that are granted on the threads of a process; pid 0 is this one.
// It fails only where not one counter can be opened. Close the result.
func Open(pid int) (*Counters, error) { return open(newSystem(), pid) }

func open(sys system, pid int) (*Counters, error) {
	var last error
	for range attempts {
		before, err := sys.threads(pid)
		if err != nil {
			return nil, fmt.Errorf("listing the threads of process %d: %w", pid, err)
		}
		c, err := openOn(sys, before)
		if err != nil {
			return nil, err
		}
		after, err := sys.threads(pid)
		if err == nil && noneAdded(before, after) {
			return c, nil
		}
		c.Close()
		if last = err; last == nil {
			last = errors.New("it keeps starting threads")
		}
	}
	return nil, fmt.Errorf("opening the counters of process %d: %w", pid, last)
}

func noneAdded(before, after []int) bool {
	for _, tid := range after {
		if !slices.Contains(before, tid) {
			return false
		}
	}
	return true
}

func openOn(sys system, tids []int) (*Counters, error) {
	c := &Counters{denied: map[string]error{}}
	var first error
	for _, ev := range events() {
		s := set{name: ev.name}
		err := s.open(sys, ev, tids)
		if err != nil {
			c.denied[ev.name] = err
			if first == nil {
				first = err
			}
			continue
		}
		c.sets = append(c.sets, s)
	}
	if len(c.sets) == 0 {
		return nil, first
	}
	return c, nil
}

// open opens one event on all threads or on none: a part of them would be a wrong count.
func (s *set) open(sys system, ev event, tids []int) (err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for _, tid := range tids {
		h, err := sys.open(ev, tid)
		if errors.Is(err, errGone) {
			continue // the thread has ended since it was listed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ev.name, err)
		}
		s.handles = append(s.handles, h)
	}
	if len(s.handles) == 0 {
		return fmt.Errorf("%s: %w", ev.name, errGone)
	}
	return nil
}

// errGone is a thread that has ended.
var errGone = errors.New("the thread is gone")

// Begin marks the window's start.
func (c *Counters) Begin() error {
	for i := range c.sets {
		s := &c.sets[i]
		s.begin = s.begin[:0]
		for _, h := range s.handles {
			v, err := h.read()
			if err != nil {
				return fmt.Errorf("reading %s: %w", s.name, err)
			}
			s.begin = append(s.begin, v)
		}
	}
	return nil
}

// End returns what was counted since Begin, by name. A counter that shared the hardware
// is scaled up by the time that it was wanted over the time that it counted; one that never got
// to count is absent, as is one that was denied.
func (c *Counters) End() (map[string]float64, error) {
	out := map[string]float64{}
	for _, s := range c.sets {
		if len(s.begin) != len(s.handles) {
			return nil, errors.New("counters: End without Begin")
		}
		total, known := 0.0, true
		for i, h := range s.handles {
			v, err := h.read()
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", s.name, err)
			}
			n, ok := scale(s.begin[i], v)
			if !ok {
				known = false
				break
			}
			total += n
		}
		if known {
			out[s.name] = total
		}
	}
	return out, nil
}

// scale is the count between two readings, corrected for sharing: perf_event_open(2). It is
// not known where the counter was wanted and never ran.
func scale(a, b sample) (float64, bool) {
	value, enabled, running := b.value-a.value, b.enabled-a.enabled, b.running-a.running
	if b.value < a.value || b.enabled < a.enabled || b.running < a.running {
		return 0, false // counters do not run backwards
	}
	if running == 0 {
		return 0, enabled == 0
	}
	return float64(value) * float64(enabled) / float64(running), true
}

// Denied says why the counters that are absent could not be opened.
func (c *Counters) Denied() map[string]error { return c.denied }

// Close closes all counters.
func (c *Counters) Close() {
	for i := range c.sets {
		c.sets[i].close()
	}
	c.sets = nil
}

func (s *set) close() {
	for _, h := range s.handles {
		h.Close()
	}
	s.handles = nil
}
