// Package lanes reads one run's execution trace in one streaming pass, follows
// every lane from the start barrier to the last end, and books each nanosecond
// of slot time under exactly one cause.
package lanes

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// State is what a lane was doing. The states of a lane are disjoint and add up to the window.
type State uint8

// The states.
const (
	OnCPU    State = iota // running Go code, or a system call with its P
	Runnable              // ready, no P
	Waiting               // parked
	Syscall               // in a system call or cgo, its P taken
	Stopped               // ready or running, but the world is stopped
	Done                  // ended before the last lane
	OffCPU                // running as the runtime sees it, but its thread had no CPU
)

func (s State) String() string {
	switch s {
	case OnCPU:
		return "on-cpu"
	case Runnable:
		return "runnable"
	case Waiting:
		return "waiting"
	case Syscall:
		return "syscall"
	case Stopped:
		return "stopped"
	case Done:
		return "done"
	case OffCPU:
		return "off-cpu"
	}
	return "?"
}

// Frame is one frame of a call path.
type Frame struct {
	Func string
	File string
	Line int
	PC   uint64 // exact address in the binary that ran, 0 if unknown
}

// Stack is an interned call path, leaf first: equal stacks of one Account are
// one pointer.
type Stack struct{ Frames []Frame }

// Part is a piece of slot time. Victim is where the lane ran or waited; Culprit
// is the code that made it wait (the lock's holder, what ran while the lane had
// nothing to do), nil where nobody can be charged.
type Part struct {
	Cause   cause.ID
	State   State
	Victim  *Stack
	Culprit *Stack
	NS      int64
}

// Account is the slot time of one run, or of one process of it. The NS of its
// Parts add up to SlotNS exactly, cause.Unexplained included.
type Account struct {
	BeginNS int64 // of the window, on the trace's clock: CLOCK_MONOTONIC on Linux
	EndNS   int64
	WallNS  int64
	Procs   int
	Lanes   []Lane
	LanesOf string // "workers", "RunParallel goroutines" or "Ps"
	SlotNS  int64
	Parts   []Part
	// ClosureNS is what the classes, measured independently (trace states, CPU
	// samples scaled to rusage, schedstat), missed or exceeded SlotNS by, before
	// Unexplained took the rest.
	ClosureNS int64
	GC        GC
	Sched     Sched
	Locks     []Lock
	Others    []Other
	Samples   int     // CPU samples inside lanes
	Scale     float64 // nanoseconds of CPU per sample after scaling to rusage, over the sampling period: 1 when nothing was lost
	Truncated bool    // the trace ended early; the Account covers what could be read
	Warnings  []string
}

// Lane is one lane's totals by state; they add up to WallNS.
type Lane struct {
	Goroutine uint64
	ByState   [OffCPU + 1]int64
	EndNS     int64 // when it was done, from the window's begin
}

// GC is what the collector did inside the window.
type GC struct {
	Cycles        int
	MarkNS        int64 // time with marking on
	Pauses        int
	PauseNS       int64
	WorstPauseNS  int64
	Assists       int
	AssistNS      int64
	DedicatedNS   int64 // P-time of mark workers by kind
	FractionalNS  int64
	IdleNS        int64 // on Ps that nobody wanted: costs no slot time
	SweepNS       int64
	HeapGoalBytes uint64 // at the window's end
}

// Sched is what the scheduler did inside the window.
type Sched struct {
	PIdleNS      int64
	PSearchNS    int64 // P running, no goroutine
	PBusyNS      int64
	Latencies    int // runnable to running, lanes only
	LatencyNS    int64
	P50NS, P99NS int64
	Preemptions  int
}

// Lock is one place where lanes waited for others.
type Lock struct {
	Cause    cause.ID
	Wait     *Stack // the waiter's
	Holder   *Stack // the most expensive culprit's
	Waits    int
	WaitNS   int64
	HandOver int64 // time from unblock to running, in all
}

// Other is running time of goroutines that are no lanes, by start function.
type Other struct {
	Start string
	NS    int64
	Count int
}
