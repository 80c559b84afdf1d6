// Package capture runs a plan and leaves a capture directory.
//
// The stages, each with its type:
//
//	Options    what the user asked for
//	cells      target x mode x T x arm (record.Cell), with the setting of each run
//	pilot      one run per target fixes the total of operations, the same at every T
//	schedule   blocks: every cell once, in random order (record.Planned)
//	Executor   makes one run of a cell: fresh processes, a barrier, a window
//	session    goes from block to block until the intervals are narrow enough or
//	           the budget is used, and saves the manifest after each run
//
// Timed runs carry no profiler. Profiled runs are extra runs of the same cells,
// spread over the blocks. What can be run is a Target; its Executor is the only
// thing that a new kind of target (a Go benchmark, a command) has to bring.
package capture
