package cause

var gcEntries = []Entry{
	{
		ID:       GCAssist,
		Title:    "GC assist",
		Meaning:  "A worker marked the heap itself, because it allocated faster than the mark workers kept up. The runtime makes an allocating goroutine pay for its allocation with marking.",
		Measured: "Trace: time a lane runs inside the range \"GC mark assist\", parks inside the range left out. CPU samples below gcAssistAlloc say in which call path. Paying with credit that others left over costs nanoseconds and no range; it is counted by samples only.",
		Excludes: "Waiting for credit is gc/assist-wait. With one to three Ps there is no dedicated mark worker and most marking is assist; from four Ps on it moves to gc/mark. That shift is the pacer's policy, so read gc as a group across it.",
		Confirm: []string{
			"go tool pprof -top -sample_index=excess -tagfocus=cause=gc/assist$ {loss}",
			"go tool trace {trace}",
		},
		Helps: []string{
			"allocate less in the paths named: reuse buffers, avoid conversions to interface and string, preallocate slices and maps to size",
			"raise GOGC, or set GOMEMLIMIT with a high GOGC, where memory allows",
			"hold fewer pointers in the live heap: marking costs by pointers, not by bytes",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"Workers mark the heap to pay for what they allocate.",
			"The heap goal is {goal}, the program allocates {rate}.",
			"Most of it is allocated at {sites}: reuse those objects first.",
			"Raising GOGC trades memory for fewer collections; the gogc arms show by how much.",
		},
	},
	{
		ID:       GCAssistWait,
		Title:    "waiting for GC assist credit",
		Meaning:  "A worker had to assist and found no marking left to do: it slept until a mark worker earned credit for it, or until the phase ended.",
		Measured: "Trace: lane waiting with reason \"GC mark assist wait for work\", and waits for the end of marking inside an assist. Nanoseconds, exact.",
		Excludes: "Marking done by the worker itself is gc/assist.",
		Confirm: []string{
			"go tool pprof -top -tagfocus=cause=gc/assist-wait {slots}",
			"go tool trace {trace}",
		},
		Helps: []string{
			"allocate less, above all in bursts",
			"raise GOGC",
			"break up very large pointer arrays and long linked lists: they limit how many can mark at once",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"Workers sleep until the collector earns the credit they need to allocate.",
			"The heap goal is {goal}, the program allocates {rate}.",
			"Most of it is allocated at {sites}.",
		},
	},
	{
		ID:       GCMark,
		Title:    "GC mark workers on the workers' Ps",
		Meaning:  "A lane was ready but a mark worker of the collector held the P it needed, or a lane was suspended while its stack was scanned, or an object made during marking was marked at once.",
		Measured: "Trace: lane runnable while Ps run goroutines with the label \"GC (dedicated)\" or \"GC (fractional)\"; waits with reason \"preempted\". CPU samples below gcBgMarkWorker give the CPU time, which may be larger than the slot time lost.",
		Excludes: "Idle-priority workers (\"GC (idle)\") use Ps that no lane wanted: shown as CPU, no loss. Marking by the lane itself is gc/assist. Stopping the world inside a mark worker is gc/stw.",
		Confirm: []string{
			"go tool pprof -top -tagfocus=cause=gc/mark {slots}",
			"go tool pprof -top -tagfocus=cause=gc/mark {cpu}",
			"go tool trace {trace}",
		},
		Helps: []string{
			"raise GOGC: marking costs by live heap and number of collections, so double GOGC halves it",
			"a small live heap with a high allocation rate collects all the time: GOMEMLIMIT with a high GOGC, or ballast of useful cache, makes it rare",
			"fewer pointers in long-lived data: slices of values, indexes in place of pointers, off-heap or pointer-free arrays",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"The collector's workers hold Ps that the workers need.",
			"Marking was on for {marking} of the window, in {cycles} collections.",
			"The heap goal is {goal}, the program allocates {rate}.",
			"A higher GOGC makes collections rarer in proportion.",
		},
	},
	{
		ID:       GCSTW,
		Title:    "stop the world",
		Meaning:  "All goroutines were stopped, or being stopped or started again: at the two ends of each collection, or by a runtime function such as ReadMemStats, GOMAXPROCS or a goroutine profile.",
		Measured: "Trace: ranges \"stop-the-world (…)\" cut with each lane's state; a lane still running until it stops is not lost. CPU samples below stopTheWorld, startTheWorld and gcMarkDone inside running lanes. The runtime's histograms /sched/pauses are a check.",
		Excludes: "Concurrent marking is gc/mark. Profilers that stop the world run in passes of their own.",
		Confirm: []string{
			"go tool pprof -top -tagfocus=cause=gc/stw {slots}",
			"go tool trace {trace}",
		},
		Helps: []string{
			"fewer collections: raise GOGC, allocate less",
			"call ReadMemStats, runtime.Stack(all) and friends rarely; runtime/metrics reads without stopping",
			"a long time to stop points at loops without calls or at threads without a CPU: see os/run-queue",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"The world is stopped too often or for too long, by {culprit}.",
			"There were {cycles} collections in the window.",
			"With a heap goal of {goal} each collection is short and the pauses are what remains: raise GOGC or keep more live heap.",
		},
	},
	{
		ID:       GCSweep,
		Title:    "GC sweep",
		Meaning:  "A worker swept spans before it could allocate from them, or the background sweeper held its P.",
		Measured: "Trace: range \"GC incremental sweep\" while a lane runs; lanes runnable while runtime.bgsweep holds a P. CPU samples below (*sweepLocked).sweep and sweepone.",
		Excludes: "Taking the swept span from the central list is alloc/refill.",
		Confirm: []string{
			"go tool pprof -top -sample_index=excess -tagfocus=cause=gc/sweep {loss}",
		},
		Helps: []string{
			"fewer collections and fewer small objects",
			"objects of one size that die together leave whole spans free, which sweep cheaply",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"Allocations sweep the last collection's garbage first.",
			"There were {cycles} collections in the window, at a heap goal of {goal}.",
			"Most is allocated at {sites}.",
		},
	},
	{
		ID:       GCWriteBarrier,
		Title:    "write barriers",
		Meaning:  "While marking is on, each write of a pointer to the heap is recorded for the collector. Code that moves pointers a lot (sorting keys, filling maps, copying structs with pointers) pays in every such write.",
		Measured: "CPU samples with gcWriteBarrier, wbBufFlush, bulkBarrierPreWrite or wbMove, in running lanes. The check before the write, two instructions, is part of work/user.",
		Excludes: "Caches that the collector cooled are in work/user; only the gogc arms show them.",
		Confirm: []string{
			"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=gc/write-barrier {loss}",
		},
		Helps: []string{
			"raise GOGC: marking is on for a smaller share of the time",
			"move indexes or values in place of pointers and strings; sort an index",
			"build large structures once and reuse them",
		},
		Arms: []string{"gogc=200", "gogc=400", "gogc=800"},
		Advice: []string{
			"Pointer writes at {path} cost more while marking is on.",
			"Marking was on for {marking} of the window.",
			"The heap goal is {goal}: a higher GOGC turns marking off for longer.",
		},
	},
	{
		ID:       GCFinalizer,
		Title:    "finalizers and cleanups",
		Meaning:  "The goroutine that runs finalizers and cleanups held a P that a lane needed.",
		Measured: "Trace: lane runnable while runtime.runFinalizers or runtime.runCleanups holds a P. CPU samples with them at the root.",
		Excludes: "Waiting for a result that a finalizer delivers is booked as the lock or channel used.",
		Confirm: []string{
			"go tool pprof -top -tagfocus=cause=gc/finalizer {cpu}",
		},
		Helps: []string{
			"close resources explicitly",
			"do little in a finalizer: hand the work to a goroutine of your own",
		},
		Arms:   []string{"gogc=400"},
		Advice: []string{"Finalizers take the CPU of {culprit}: close those objects explicitly."},
	},
	{
		ID:       GCScavenge,
		Title:    "giving memory back",
		Meaning:  "Memory was returned to the system (madvise) by the background scavenger or, near the memory limit, by an allocation.",
		Measured: "CPU samples below bgscavenge and (*pageAlloc).scavenge; lanes runnable while the scavenger holds a P.",
		Excludes: "Faulting the same pages in again is alloc/page-fault.",
		Confirm: []string{
			"go tool pprof -top -tagfocus=cause=gc/scavenge {cpu}",
		},
		Helps: []string{
			"raise GOMEMLIMIT: near it, each allocation may have to scavenge",
			"a steadier heap size",
		},
		Arms:   []string{"gogc=400"},
		Advice: []string{"Memory goes back to the system and is asked for again.", "The heap goal is {goal}."},
	},
}
