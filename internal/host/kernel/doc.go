// Package kernel runs small calibration loops whose speed-up from T=1 on is
// what this machine gives to any program: the ceiling.
//
//	alu     arithmetic in registers, no memory. What it loses is the machine's:
//	        SMT siblings that share a core, a clock that drops, CPUs taken away.
//	cache   loads from a buffer that lies in the second-level cache of each worker.
//	stream  a[i] = b[i] + s*c[i] over arrays that exceed the last-level caches.
//	random  loads of which each gives the address of the next, all over such an array.
//	atomic  additions to one shared word: what sharing a line costs.
//
// The first four share no line between workers. The total of operations is the
// same at every T, found once for a session by Calibrate. Every run is verified: each
// loop's result is known in closed form. Workers are goroutines and
// pinned to nothing, as a workload's are.
package kernel

// Names of the kernels, in the order in which All runs them.
const (
	ALU    = "alu"
	Cache  = "cache"
	Stream = "stream"
	Random = "random"
	Atomic = "atomic"
)

// Names lists the kernels.
func Names() []string { return []string{ALU, Cache, Stream, Random, Atomic} }
