package capture

import (
	"context"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Target is what is run: a built-in workload, a user's Go benchmark or a
// user's command.
type Target struct {
	// Record goes to the manifest. Ops and Warm may be 0: then they are
	// calibrated by a pilot run.
	Record record.Target

	// Exec makes the target's runs. For targets whose processes speak the
	// recorder's protocol it is a *Processes; others bring their own.
	Exec Executor

	// OpNS is roughly what one operation costs one worker: the pilot's first
	// guess, corrected by what it measures. 0 means 1000.
	OpNS int64

	// FixedOps forbids calibration: a run does what it does (a command), and
	// Record.Ops says how much that is.
	FixedOps bool

	// ThreadsOnly marks a target that cannot be divided into T processes.
	ThreadsOnly bool

	// External marks a program of which no more is known than that it runs at
	// GOMAXPROCS = T: its workers can be neither pinned nor delayed, and neither
	// the rate of its profiler nor its total of work can be set.
	External bool

	// Recorders limits the recorders that the target can carry, nil for all.
	Recorders []string

	// Quota marks a target that is throttled by design: repeating a run that was
	// is of no use.
	Quota bool

	// Delays are the causes for which delay=CAUSE has a hook.
	Delays []string

	// Libraries are the modules under test with their versions.
	Libraries map[string]string
}

// Job is one run to be made. It says everything about the run: an Executor
// needs no other input and keeps no state between jobs.
type Job struct {
	Target   record.Target
	Cell     record.Cell
	Kind     record.Kind
	Ops      int64             // total of all workers: worker shares are the executor's business
	Warm     int64             // warm-up operations in all, outside the window
	Profiles recorder.Profiles // which recorders are on
	Counters bool              // read hardware counters too: the kernel grants them
	Env      []string          // NAME=value, over the parent's environment, GOMAXPROCS among them
	Pin      []int             // CPU of worker i, nil for no pinning
	DelayNS  map[string]int64  // known costs to add, by cause
	Clock    Clock             // where the clock starts
	Seed     int64             // of the workload's own randomness; the same for all runs of a capture
	Dir      string            // absolute; exists and is empty; the run's files go here
	Timeout  time.Duration     // the run has hung when it takes longer

	// Window is told when the measured window begins and ends, to read what
	// the machine did meanwhile. An Executor calls Open right before the work
	// is released, while nothing runs, and Close right after the last worker's
	// end, before any file is written. Never nil.
	Window Window
}

// Window brackets the measured part of a run. The processes are those that
// work in it: their CPU time is the run's own, all other is a neighbour's.
type Window interface {
	Open(pids []int)
	Close(pids []int)
	// Begin and End set the window's ends anew, for a program that begins and
	// ends its work by itself: the machine is read again, and nothing takes CPU
	// time from the program. Open comes before Begin, Close after End.
	Begin()
	End()
}

// Clock says where the clock of a run starts.
type Clock string

const (
	// ClockWall runs from the release of the start barrier to the last worker's end.
	ClockWall Clock = "wall"
	// ClockStartup has no barrier: in process mode it runs from before the first
	// process is started until the last one has ended, as in the seed's test; in
	// thread mode from before the goroutines are created. Nothing is warmed up
	// but one operation in thread mode.
	ClockStartup Clock = "wall-with-startup"
)

// Outcome is what a run measured.
type Outcome struct {
	WallNS    int64 // release to last end
	Processes []recorder.Result
	// Ops and Checksum are sums over the processes; an executor without
	// processes of the protocol sets them itself.
	Ops      int64
	Checksum uint64
	// Files are what the run left in Job.Dir. Profiles of several processes are
	// merged into the run's files afterwards, by record.Collect.
	Files    []record.Raw
	Warnings []string
	// Notes are said of the target as a whole, and Without are recorders that it
	// turned out not to carry. Only those of the pilot count.
	Notes   []string
	Without []string
	// WindowNS is how long the window was open where WallNS was not measured but
	// follows from a rate; 0 where they are one.
	WindowNS int64
	// OwnNS is the CPU time of all that the run consists of, where the pids given
	// to Window do not tell; LoadNS is the part of it that a load generator used.
	OwnNS, LoadNS *int64
	// Throttled is how a quota of the run's own stopped it in the window, nil without one.
	Throttled *Throttled
}

// Throttled is what a CPU quota took.
type Throttled struct {
	NS    int64 // for so long were its processes stopped
	Times int64
}

// sub is the difference of two readings; nil if either is missing.
func (t *Throttled) sub(earlier *Throttled) *Throttled {
	if t == nil || earlier == nil {
		return nil
	}
	return &Throttled{NS: t.NS - earlier.NS, Times: t.Times - earlier.Times}
}

// Executor makes one run of a cell, in fresh processes. An error means that
// the run failed and its figures must not be used: its text is one clear line
// for the user. When ctx ends, Execute ends all that it started and returns
// ctx's error. It is never called from two goroutines at once.
type Executor interface {
	Execute(ctx context.Context, job *Job) (*Outcome, error)
}

// Launcher says how a process of a run is started. The process must speak the
// protocol of package recorder: read the Spec named by recorder.SpecEnv, send
// "ready", wait at the gate, send "done", wait for the finish gate, write its
// files into Spec.Dir and send "result".
type Launcher interface {
	Command(job *Job, spec *recorder.Spec) (Command, error)
}

// Command is a process to be started.
type Command struct {
	Path string
	Args []string // without the program's name
	Env  []string // NAME=value, over the parent's and the job's
	Dir  string   // working directory, "" for the parent's
}
