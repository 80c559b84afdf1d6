package recorder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
)

// Counters are hardware counters of this process, opened by whoever knows how.
type Counters interface {
	Begin() error
	End() (map[string]float64, error)
}

// Options say what a Recorder records, and where to.
type Options struct {
	Profiles Profiles
	Dir      string // profiles are written here; the run's other processes have the same
	Suffix   string // of the base names of the files, before their extension; see Child.Suffix
	Counters Counters
	// Process is the index of this one among the run's Processes (0 for just one),
	// which begin their windows together.
	Process, Processes int
	// Wall starts a wall-clock profile and returns what ends it and writes it to w.
	// The error of an unusable profile is a warning.
	Wall func(w io.Writer) (stop func() error)
	// Whole makes the window begin with the process: its CPU time counts from the start.
	Whole bool
	// NoClosingGC leaves out the collections before and after the window, and
	// with them the metrics that only a collection brings up to date.
	NoClosingGC bool
}

// Recorder records one window:
//
//	Arm      starts recorders, collects garbage: while nothing is timed
//	Begin    at the barrier: reads the counters, stamps the begin
//	End      by the last worker, at its end: stamps the end, reads the counters
//	Finish   collects once more, writes the files: after all windows of the run
//
// In the window it runs nothing of its own and allocates nothing.
//
// The mutex and block profiles are on from Begin to End only, so that waits of
// whoever holds the workers back do not get in. A wait is recorded when it ends,
// and only if recording was on when it began: one that Begin or End cuts is left out.
type Recorder struct {
	opt   Options
	clock clock

	descs    []metrics.Description
	atBegin  []metrics.Sample
	atEnd    []metrics.Sample
	fresh    [3][]metrics.Sample // gcTime metrics: at Arm, after the closing collection, after one more
	armedNS  int64
	wokenNS  int64 // the gate opened, and lanes began to spin; 0 if there was none
	spinning int64 // how many, of GOMAXPROCS at most
	beginNS  int64
	endNS    int64
	usage    [2]*Usage
	threads  [2]map[int]Threads
	counters map[string]float64

	cpu, trace    *output
	wall          bytes.Buffer
	wallStop      func() error
	mutexFraction int // as the program had it
	files         []File
	warnings      []string
}

// New makes a Recorder. Its clock starts here, and with Options.Whole the window.
func New(opt Options) *Recorder {
	r := &Recorder{opt: opt, clock: newClock(), descs: describe()}
	r.atBegin = samples(r.descs, nil)
	r.atEnd = samples(r.descs, nil)
	for i := range r.fresh {
		r.fresh[i] = samples(r.descs, gcTime)
	}
	return r
}

// Now is the time on the clock of all the times in a Result: CLOCK_MONOTONIC, ns.
func (r *Recorder) Now() int64 { return r.clock.now() }

// Begun reports whether the window has begun.
func (r *Recorder) Begun() bool { return r.beginNS != 0 }

// Arm prepares the window. The lanes' goroutines must be started after it, for
// the trace to know them from their first instant.
func (r *Recorder) Arm() error {
	if !r.opt.NoClosingGC {
		// The metrics of gcTime are current only now: the end of this collection is
		// where their share of the window begins.
		runtime.GC()
		metrics.Read(r.fresh[0])
	}
	var pace pacing
	if r.opt.Profiles.Any() && !r.opt.NoClosingGC {
		pace.measure()
	}
	r.armedNS = r.Now()
	if err := r.earlier(); err != nil {
		return err
	}
	if r.opt.Profiles.Trace {
		f, err := r.create("trace", "out")
		if err != nil {
			return err
		}
		if err := trace.Start(f); err != nil {
			return fmt.Errorf("starting the execution trace: %w", err)
		}
		r.trace = f
	}
	if r.opt.Profiles.CPU {
		f, err := r.create("cpu", "pb.gz")
		if err != nil {
			return err
		}
		if err := startCPU(f, r.opt.Profiles.CPURateHz); err != nil {
			return fmt.Errorf("starting the CPU profile: %w", err)
		}
		r.cpu = f
	}
	if pace.headroom > 0 {
		pace.restore()
		metrics.Read(r.fresh[0])
	}
	return nil
}

// startCPU starts the CPU profile. StartCPUProfile knows one rate only; it
// leaves another that is set already, and the runtime complains.
func startCPU(w io.Writer, hz int) error {
	if hz <= 0 || hz == 100 {
		return pprof.StartCPUProfile(w)
	}
	return withoutLine("runtime: cannot set cpu profile rate until previous profile has finished.\n", func() error {
		runtime.SetCPUProfileRate(hz)
		return pprof.StartCPUProfile(w)
	})
}

// earlier writes what the process profiled before the window, to be subtracted
// by the reader: the allocation profile counts from the start of the process,
// and a program may have turned on the other two itself.
func (r *Recorder) earlier() error {
	p := r.opt.Profiles
	for _, k := range []struct {
		kind string
		on   bool
	}{
		{"mutex", p.Mutex > 0 && pprof.Lookup("mutex").Count() > 0},
		{"block", p.Block > 0 && pprof.Lookup("block").Count() > 0},
		{"allocs", p.Allocs},
	} {
		if !k.on {
			continue
		}
		if err := r.write(k.kind, k.kind+".before"); err != nil {
			return err
		}
	}
	return nil
}

// Begin begins the window. It is called once all workers are at the barrier.
func (r *Recorder) Begin() {
	r.threads[0] = readThreads() // the slowest comes first
	if r.opt.Counters != nil {
		if err := r.opt.Counters.Begin(); err != nil {
			r.warn("performance counters: %v", err)
			r.opt.Counters = nil
		}
	}
	if r.opt.Profiles.Mutex > 0 {
		r.mutexFraction = runtime.SetMutexProfileFraction(r.opt.Profiles.Mutex)
	}
	if r.opt.Profiles.Block > 0 {
		runtime.SetBlockProfileRate(r.opt.Profiles.Block)
	}
	if r.opt.Profiles.Wall && r.opt.Wall != nil {
		r.wallStop = r.opt.Wall(&r.wall)
	}
	metrics.Read(r.atBegin)
	if r.opt.Whole {
		r.usage[0] = &Usage{}
		r.beginNS = r.clock.origin
	} else {
		r.usage[0] = usage()
		r.beginNS = r.Now()
	}
	trace.Log(context.Background(), LogCategory, LogBegin)
}

// End ends the window. It is called by the last worker, before anything else runs.
func (r *Recorder) End() {
	r.endNS = r.Now()
	trace.Log(context.Background(), LogCategory, LogEnd)
	r.usage[1] = usage()
	if r.opt.Profiles.Block > 0 {
		runtime.SetBlockProfileRate(0)
	}
	if r.opt.Profiles.Mutex > 0 {
		runtime.SetMutexProfileFraction(r.mutexFraction)
	}
	if r.opt.Counters != nil {
		c, err := r.opt.Counters.End()
		if err != nil {
			r.warn("performance counters: %v", err)
		}
		r.counters = c
	}
	metrics.Read(r.atEnd)
	r.threads[1] = readThreads()
	if r.wallStop != nil {
		if err := r.wallStop(); err != nil {
			r.warn("wall-clock profile: %v", err)
			r.wall.Reset()
		}
	}
}

// Finish makes the closing collection, stops the recorders and writes their
// files. The Result lacks what only the workers know: lanes, operations, checksum.
func (r *Recorder) Finish() (*Result, error) {
	finishNS := r.Now()
	if r.cpu != nil {
		// No samples from here on: StopCPUProfile, which waits for the writer, comes later.
		runtime.SetCPUProfileRate(0)
	}
	res := &Result{
		Pid: os.Getpid(), Go: runtime.Version(),
		Procs: runtime.GOMAXPROCS(0), NumCPU: runtime.NumCPU(),
		BeginNS: r.beginNS, EndNS: r.endNS,
		Usage: usageDiff(r.usage[0], r.usage[1]), Threads: threadsDiff(r.threads[0], r.threads[1], r.opt.Whole),
		Counters: r.counters,
	}
	res.Metrics, res.Hists = differences(r.descs, r.atBegin, r.atEnd)
	r.closeGC(res, finishNS)
	if err := r.stop(res); err != nil {
		return nil, err
	}
	res.Files, res.Warnings = r.files, r.warnings
	return res, nil
}

// closeGC brings the metrics of gcTime up to date and measures what that costs.
func (r *Recorder) closeGC(res *Result, finishNS int64) {
	if r.opt.NoClosingGC {
		for name := range res.Metrics {
			if gcTime(name) {
				delete(res.Metrics, name)
			}
		}
		return
	}
	runtime.GC()
	metrics.Read(r.fresh[1])
	again := r.Now()
	runtime.GC()
	closing := r.Now() - again
	metrics.Read(r.fresh[2])
	window, _ := differences(r.descs, r.fresh[0], r.fresh[1])
	cost, _ := differences(r.descs, r.fresh[1], r.fresh[2])
	// Outside the window the process waits for others with its Ps idle, but
	// for what lanes spin at the barrier. (What the recorder itself does is little.)
	woken, spinning := r.wokenNS, r.spinning
	if woken == 0 {
		woken = r.beginNS
	}
	spun := float64(spinning*(r.beginNS-woken)) / 1e9
	exclude(window, "user", spun)
	exclude(window, "idle", float64(int64(res.Procs)*(r.beginNS-r.armedNS+finishNS-r.endNS))/1e9-spun)
	for name, v := range window {
		res.Metrics[name] = v
	}
	res.ClosingGC = &ClosingGC{WallNS: closing, Metrics: cost}
}

// exclude takes CPU-seconds that are no part of the window out of a class and
// the total. What the class cannot give, the other one must have got.
func exclude(classes map[string]float64, class string, seconds float64) {
	const prefix, unit = "/cpu/classes/", ":cpu-seconds"
	for _, name := range []string{class, "user", "idle"} {
		part := seconds
		if have := classes[prefix+name+unit]; part > have {
			part = have
		}
		classes[prefix+name+unit] -= part
		classes[prefix+"total"+unit] -= part
		seconds -= part
	}
}

// stop ends the recorders and writes what they have.
func (r *Recorder) stop(res *Result) error {
	if r.trace != nil {
		trace.Stop()
		if err := r.close(r.trace, "trace"); err != nil {
			return err
		}
	}
	if r.cpu != nil {
		pprof.StopCPUProfile()
		if err := r.close(r.cpu, "cpu"); err != nil {
			return err
		}
	}
	p := r.opt.Profiles
	for _, k := range []struct {
		kind string
		on   bool
	}{{"mutex", p.Mutex > 0}, {"block", p.Block > 0}, {"allocs", p.Allocs}} {
		if k.on {
			if err := r.write(k.kind, k.kind); err != nil {
				return err
			}
		}
	}
	if r.wall.Len() > 0 {
		if err := r.save("wall", "wall", "pb.gz", r.wall.Bytes()); err != nil {
			return err
		}
	}
	if !p.Any() {
		return nil
	}
	b, err := encodeMetrics(res)
	if err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return r.save("metrics", "metrics", "json", b)
}

func (r *Recorder) warn(format string, args ...interface{}) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}
