// Package recorder records one window of one process: what the Go runtime and
// the operating system were doing between the start barrier and the last
// worker's end.
//
// It uses the standard library only. Its sources are also embedded and built
// into the test binaries of users' modules, where no dependency may be added,
// so that windows there are recorded by the very same code.
package recorder

// Environment variable that names the Spec's file in a child process.
const SpecEnv = "SCALEPROF_SPEC"

// The child's control descriptors, inherited from the parent. The child writes
// one JSON Message a line to ControlFD and waits for end of file on GateFD,
// which all children of a run share: closing the other end releases them at once.
//
// After "done" the child waits for end of file on FinishFD before the closing
// collection and the writing of files, so that a process that ends early takes
// no CPU from the windows of the others. Where FinishFD is not open (a child
// started by hand), it goes on at once.
const (
	ControlFD = 3
	GateFD    = 4
	FinishFD  = 5
)

// Spec is what the parent asks of one child process.
type Spec struct {
	Target  string            `json:"target"`            // workload name, or benchmark
	Params  map[string]string `json:"params,omitempty"`  // workload parameters: doc, json, …
	Workers int               `json:"workers"`           // lanes in this process
	Threads int               `json:"threads"`           // T of the cell: lanes in all processes together
	Process int               `json:"process"`           // index of this process, 0 in thread mode
	Procs   int               `json:"procs"`             // GOMAXPROCS to run with; 0 leaves Go's default
	Lo      int64             `json:"lo"`                // this process does operations [Lo, Hi)
	Hi      int64             `json:"hi"`                // of the cell's total
	Total   int64             `json:"total"`             // operations of the cell, all processes together
	Warm    int64             `json:"warm"`              // warm-up operations before the barrier, all workers together
	Profile Profiles          `json:"profiles"`          // none in a timed run
	Dir     string            `json:"dir"`               // where profiles are written
	Pin     []int             `json:"pin,omitempty"`     // CPUs, one worker thread each
	Startup bool              `json:"startup,omitempty"` // clock wall-with-startup: no barrier, no warm-up
	Delay   map[string]int64  `json:"delay_ns,omitempty"`
	Seed    int64             `json:"seed"`
	// Counters asks the process to open performance counters of itself, where
	// the machine grants them. They cost a little at every switch of threads.
	Counters bool `json:"counters,omitempty"`
}

// Profiles says which recorders are on during the window.
type Profiles struct {
	CPU       bool `json:"cpu,omitempty"`
	Mutex     int  `json:"mutex,omitempty"`       // fraction, 1 records every event
	Block     int  `json:"block_ns,omitempty"`    // rate in ns, 1 records every event
	Trace     bool `json:"trace,omitempty"`       // execution trace
	Wall      bool `json:"wall,omitempty"`        // fgprof, by a hook: recorder itself knows only the standard library
	Allocs    bool `json:"allocs,omitempty"`      // allocation profile delta
	CPURateHz int  `json:"cpu_rate_hz,omitempty"` // 0 means 100; never above CONFIG_HZ
}

// Any reports whether any recorder is on.
func (p Profiles) Any() bool {
	return p.CPU || p.Mutex > 0 || p.Block > 0 || p.Trace || p.Wall || p.Allocs
}

// Message is one line from child to parent: "ready" when warmed up and at the
// gate, "done" at the window's end before anything is written, "result" last.
// "error" ends the run; its text is one clear line for the user.
type Message struct {
	Kind   string  `json:"kind"`
	Error  string  `json:"error,omitempty"`
	Result *Result `json:"result,omitempty"`
}

// Result is what one process measured in its window. Times are nanoseconds;
// a pointer is nil, and a map entry absent, where the platform cannot tell.
type Result struct {
	Process  int      `json:"process"`
	Pid      int      `json:"pid"`
	Go       string   `json:"go"` // runtime.Version of the process that ran
	Procs    int      `json:"procs"`
	NumCPU   int      `json:"num_cpu"`
	BeginNS  int64    `json:"begin_ns"` // CLOCK_MONOTONIC, comparable between processes
	EndNS    int64    `json:"end_ns"`   // last worker's end
	Lanes    []Lane   `json:"lanes"`
	Ops      int64    `json:"ops"`
	Checksum uint64   `json:"checksum"`
	Usage    *Usage   `json:"usage,omitempty"`
	Threads  *Threads `json:"threads_stat,omitempty"`
	// Metrics holds differences of runtime/metrics scalars over the window;
	// the /cpu/classes and /gc/cycles entries include the closing GC, whose own
	// part is under ClosingGC. Gauges keep their value at the window's end.
	Metrics   map[string]float64 `json:"metrics,omitempty"`
	Hists     map[string]Hist    `json:"hists,omitempty"` // differences of runtime/metrics histograms
	ClosingGC *ClosingGC         `json:"closing_gc,omitempty"`
	Counters  map[string]float64 `json:"counters,omitempty"` // hardware counters by name, where granted
	Files     []File             `json:"files,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
	Bench     *Bench             `json:"bench,omitempty"` // set for users' Go benchmarks
}

// Lane is one worker's share, relative to BeginNS.
type Lane struct {
	StartNS  int64  `json:"start_ns"`
	EndNS    int64  `json:"end_ns"`
	Ops      int64  `json:"ops"`
	Checksum uint64 `json:"checksum"`
}

// Usage is the difference of two getrusage(RUSAGE_SELF) calls around the window.
type Usage struct {
	UserNS int64 `json:"user_ns"`
	SysNS  int64 `json:"sys_ns"`
	MinFlt int64 `json:"minflt"`
	MajFlt int64 `json:"majflt"`
	NVCSw  int64 `json:"nvcsw"`
	NIVCSw int64 `json:"nivcsw"`
	MaxRSS int64 `json:"max_rss_bytes"`
}

// Threads sums /proc/self/task/*/schedstat differences; threads that ended drop out.
type Threads struct {
	RunNS  int64 `json:"run_ns"`
	WaitNS int64 `json:"wait_ns"` // ready, waiting for a CPU
	Slices int64 `json:"slices"`
}

// Hist is a histogram difference: buckets with a count, as lower bound (in the
// metric's unit) and count, and the estimated sum (bucket middles, ±12%).
type Hist struct {
	Count   int64        `json:"count"`
	Sum     float64      `json:"sum"`
	Max     float64      `json:"max"` // upper bound of the highest bucket with a count
	Buckets [][2]float64 `json:"buckets,omitempty"`
}

// ClosingGC is the cost of one collection of the finished heap, measured right
// after the window's own closing collection; subtract it where a window had few cycles.
type ClosingGC struct {
	WallNS  int64              `json:"wall_ns"`
	Metrics map[string]float64 `json:"metrics,omitempty"` // /cpu/classes differences of that one collection
}

// File is a profile that the process wrote into Spec.Dir.
type File struct {
	Kind string `json:"kind"` // cpu, mutex, block, trace, wall, allocs, metrics; mutex.before etc. is what to subtract
	Name string `json:"name"` // base name
}

// Bench says what the benchmark wrapper saw.
type Bench struct {
	Name        string `json:"name"`
	N           int64  `json:"n"`
	Grain       int64  `json:"grain,omitempty"` // RunParallel's chunk of iterations, 0 if it was not used
	Goroutines  int    `json:"goroutines,omitempty"`
	Parallelism int    `json:"parallelism,omitempty"`
	Failed      bool   `json:"failed,omitempty"`
	Skipped     bool   `json:"skipped,omitempty"`
	Output      string `json:"output,omitempty"`
}

// Marks in the execution trace. A lane's goroutine is inside a region named
// RegionLane from before the barrier until its end; the window is cut by the two logs.
const (
	RegionLane  = "scaleprof.lane"
	LogCategory = "scaleprof"
	LogBegin    = "window begin"
	LogEnd      = "window end"
)

// LabelWorker is the label of CPU samples that says whose they are: a number from 1.
const LabelWorker = "worker"
