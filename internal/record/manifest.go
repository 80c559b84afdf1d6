// Package record is the capture directory: the types of its manifest, how it is
// written so that a kill at any instant leaves a capture that loads, and how it
// is read as the untrusted input that it is.
package record

import (
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/host"
)

// Schema is the manifest's version. A reader refuses any other.
const Schema = "scaleprof.capture/1"

// Mode says what a worker is.
type Mode string

const (
	Thread  Mode = "thread"  // T goroutines in one process
	Process Mode = "process" // T processes
)

// Baseline is the arm that everything is compared with.
const Baseline = "baseline"

// Kind says what a run is for.
type Kind string

const (
	Timed    Kind = "timed"    // no profiler: the only source of timings
	Profiled Kind = "profiled" // CPU, mutex, block profiles and trace
	Events   Kind = "events"   // mutex and block profiles in a pass of their own, where they are not cheap
	Wall     Kind = "wall"     // fgprof
)

// Manifest is manifest.json.
type Manifest struct {
	Schema    string      `json:"schema"`
	Created   time.Time   `json:"created"`
	Command   []string    `json:"command,omitempty"` // as the user typed it
	Complete  bool        `json:"complete"`          // every planned run was made or given up
	Plan      Plan        `json:"plan"`
	Host      host.Info   `json:"host"`
	Toolchain Toolchain   `json:"toolchain"`
	Cells     []Cell      `json:"cells"`
	Schedule  []Planned   `json:"schedule,omitempty"` // in order, up to the last block begun; resume finishes it
	Runs      []Run       `json:"runs"`
	SpentNS   int64       `json:"spent_ns,omitempty"` // of the budget, over all sessions of this capture
	Ceiling   []KernelRun `json:"ceiling,omitempty"`
	Warnings  []Warning   `json:"warnings,omitempty"`
}

// Plan is what the capture set out to do; resume continues it.
type Plan struct {
	Targets   []Target `json:"targets"`
	Threads   []int    `json:"threads"`
	Modes     []Mode   `json:"modes"`
	Arms      []string `json:"arms"` // baseline first
	ArmsAuto  bool     `json:"arms_auto,omitempty"`
	ProcsRule string   `json:"procs_rule"` // "cpus", "threads" or a number
	Clock     string   `json:"clock"`      // "wall" or "wall-with-startup"
	Blocks    int      `json:"blocks"`     // timed blocks wanted; 0 means as precision and budget say
	Precision float64  `json:"precision"`  // wanted half-width of an efficiency's interval, fraction of 1
	BudgetNS  int64    `json:"budget_ns"`
	Profiles  []string `json:"profiles"`
	Quick     bool     `json:"quick,omitempty"`
	Seed      uint64   `json:"seed"` // of the order of cells within blocks
}

// Target is what is run.
type Target struct {
	Name      string            `json:"name"` // json/sonic, bench/<pkg>.<Benchmark>, exec/<name>, import/<name>
	Kind      string            `json:"kind"` // workload, bench, exec, import
	Params    map[string]string `json:"params,omitempty"`
	Ops       int64             `json:"ops"` // total operations, the same at every T
	Warm      int64             `json:"warm"`
	Unit      string            `json:"unit,omitempty"`       // of one operation, for the report: "op"
	Binary    string            `json:"binary,omitempty"`     // absolute path of the file that ran, for looking at its instructions
	BinarySum string            `json:"binary_sum,omitempty"` // its SHA-256 when it ran, hex
	Notes     []string          `json:"notes,omitempty"`      // said in the report: which grain, which fallback
}

// Toolchain says what built and ran the workload.
type Toolchain struct {
	Go        string            `json:"go"`
	Scaleprof string            `json:"scaleprof"`
	Libraries map[string]string `json:"libraries,omitempty"` // module path to version
}

// Cell is target x mode x T x arm.
type Cell struct {
	ID      string `json:"id"` // json-sonic-thread-t8, with -gogc400 etc. appended for arms; unique, a safe file name
	Target  string `json:"target"`
	Mode    Mode   `json:"mode"`
	Threads int    `json:"threads"`
	Procs   int    `json:"procs"` // GOMAXPROCS of each process
	Arm     string `json:"arm"`
	// What the arm changes in each process, fixed for the whole capture.
	Env     []string         `json:"env,omitempty"`      // NAME=value
	Pin     []int            `json:"pin,omitempty"`      // CPU of each worker
	DelayNS map[string]int64 `json:"delay_ns,omitempty"` // by cause
}

// Planned is one entry of the schedule: a run to be made, in its place in the
// random order of its block. The run that it became has the same Seq.
type Planned struct {
	Seq      int                `json:"seq"`
	Block    int                `json:"block"`
	Cell     string             `json:"cell"`
	Kind     Kind               `json:"kind"`
	Ops      int64              `json:"ops,omitempty"` // less than the target's where a window must be short; 0 for the target's
	Profiles *recorder.Profiles `json:"profiles,omitempty"`
	Rerun    bool               `json:"rerun,omitempty"`
}

// Run is one execution of a cell: one observation.
type Run struct {
	ID       int       `json:"id"`
	Cell     string    `json:"cell"`
	Kind     Kind      `json:"kind"`
	Block    int       `json:"block"` // from 0
	Seq      int       `json:"seq"`   // order in which runs were made
	Started  time.Time `json:"started"`
	WallNS   int64     `json:"wall_ns"` // release to last end; 0, unknown, only in an imported run with profiles
	Ops      int64     `json:"ops"`
	Checksum uint64    `json:"checksum"`
	// Profiles are the recorders that were on, nil in a timed run.
	Profiles  *recorder.Profiles `json:"profiles,omitempty"`
	Processes []recorder.Result  `json:"processes,omitempty"`
	System    *System            `json:"system,omitempty"`
	Dir       string             `json:"dir,omitempty"` // runs/0007-json-sonic-thread-t8, below the capture
	Files     []File             `json:"files,omitempty"`
	Gates     []Gate             `json:"gates,omitempty"` // broken validity gates
	Rerun     bool               `json:"rerun,omitempty"` // repeats a run of this cell and block whose gate broke
	Error     string             `json:"error,omitempty"` // the run failed; its figures are not used
}

// System is what the machine did around the window, read by the parent.
type System struct {
	BusyNS      *int64   `json:"busy_ns,omitempty"`   // usable CPUs, all processes
	BusyFrom    string   `json:"busy_from,omitempty"` // which kernel counter, as host.BusyStat
	StealNS     *int64   `json:"steal_ns,omitempty"`
	OwnNS       *int64   `json:"own_ns,omitempty"`       // the run's processes and scaleprof itself
	LoadNS      *int64   `json:"load_ns,omitempty"`      // the part of OwnNS that a load generator used
	ThrottledNS *int64   `json:"throttled_ns,omitempty"` // cgroup, difference
	NrThrottled *int64   `json:"nr_throttled,omitempty"`
	BounceNS    *float64 `json:"bounce_ns,omitempty"`     // core-to-core hand-over before the window
	BounceEndNS *float64 `json:"bounce_end_ns,omitempty"` // and after
	ALUDrift    *float64 `json:"alu_drift,omitempty"`     // ALU kernel against the session's median, fraction
	RunnableAvg *float64 `json:"runnable_avg,omitempty"`
}

// KernelRun is one run of one calibration kernel at one T.
type KernelRun struct {
	Kernel  string  `json:"kernel"` // alu, cache, stream, random, atomic
	Threads int     `json:"threads"`
	Block   int     `json:"block"`
	WallNS  int64   `json:"wall_ns"`
	Ops     int64   `json:"ops"`              // in all, so ops/wall is the throughput
	HopNS   float64 `json:"hop_ns,omitempty"` // atomic: core-to-core latency
}

// File is a profile of a run, relative to the capture directory.
type File struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Process int    `json:"process,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
}

// Gate is a broken validity gate.
type Gate struct {
	ID        string  `json:"id"` // steal, throttled, run-queue, neighbour, drift, work-changed, oversubscribed, two-modes, perturbation, …
	Text      string  `json:"text"`
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
}

// Warning is a fault that did not stop the capture.
type Warning struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Run  *int   `json:"run,omitempty"`
}
