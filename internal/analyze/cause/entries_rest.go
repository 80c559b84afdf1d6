package cause

var workEntries = []Entry{
	{
		ID:       WorkUser,
		Title:    "the program's own code",
		Meaning:  "A lane ran the program's own code, with the runtime's helpers that it calls (maps, strings, copying). At constant total work it should cost the same at every T; growth that the machine's ceiling, caches and shared lines do not explain stays here, by call path.",
		Measured: "Trace: lane running. CPU samples divide it by call path; where counters are granted, growth is divided into instructions, cycles per instruction and frequency.",
		Excludes: "What ceiling and memory kernels lose as well is hardware/*, growth at few instructions on shared lines memory/contended-line, growth over streams memory/bandwidth.",
		Confirm:  []string{"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=work/user {loss}"},
		Helps: []string{
			"does the code do the same work at every T? Retries, polling and per-worker set-up grow with T",
			"look at the call paths that grew with pprof -list",
		},
		Arms:   []string{"mode=process", "pin"},
		Advice: []string{"The same code takes more CPU per operation, most at {path} ({source}).", "Check whether it does more work at higher T (retries, polling, set-up per worker)."},
	},
}

var balanceEntries = []Entry{
	{
		ID:       BalanceTail,
		Title:    "uneven ends",
		Meaning:  "This lane had finished its share, others had not: the work was divided unevenly, or a worker was slowed down.",
		Measured: "Trace and harness: sum over lanes of the last lane's end minus its own, exact. Charged to what the lanes that still ran were doing.",
		Excludes: "Waiting for each other in the middle is balance/serial or the lock's.",
		Confirm:  []string{"go tool pprof -top -cum -tagfocus=cause=balance/tail {blame}", "go tool trace {trace}"},
		Helps: []string{
			"smaller shares taken from a queue or an atomic index in place of one fixed share each",
			"start the largest tasks first",
			"T above the CPUs, or cores of different speed, make equal shares end unevenly",
		},
		Arms: []string{"pin"},
		Advice: []string{
			"Workers end at different times: {lanes}.",
			"Meanwhile {culprit} ran.",
			"Hand out smaller shares, the largest first.",
		},
	},
	{
		ID:       BalanceSerial,
		Title:    "serial part",
		Meaning:  "There was nothing for this lane to do: it waited for a goroutine that was busy with its own work, such as a producer, a set-up phase or a merge.",
		Measured: "Trace: a wait on a channel, Cond or WaitGroup whose waker ran user code all the while, charged to the waker's stack. Where a waker is itself a lane's child, the wait is delegated work and not counted.",
		Excludes: "Waiting for hand-overs of a lock or channel is the lock's. Lanes that are done are balance/tail.",
		Confirm:  []string{"go tool pprof -top -cum -tagfocus=cause=balance/serial {blame}", "go tool trace {trace}"},
		Helps: []string{
			"parallelise what the culprit's call path does, or overlap it with the next batch",
			"Amdahl: with a serial share s the speed-up stays below 1/s",
		},
		Arms: []string{"delay=balance/serial"},
		Advice: []string{
			"Workers have nothing to do while {culprit} runs.",
			"Parallelise it or overlap it with other work.",
		},
	},
	{
		ID:       BalanceQueue,
		Title:    "more goroutines than Ps",
		Meaning:  "A lane was ready while every P ran another goroutine of the program: workers beyond GOMAXPROCS, or goroutines that are no workers.",
		Measured: "Trace: lane runnable while all Ps hold goroutines that are not the collector's, charged to what they ran.",
		Excludes: "Ps held by mark workers are gc/mark. A P that searches holds no goroutine: sched/find.",
		Confirm:  []string{"go tool pprof -top -cum -tagfocus=cause=balance/queue {blame}", "go tool trace {trace}"},
		Helps: []string{
			"no more workers than CPUs",
			"what else runs (producers, loggers, children) needs CPUs too: count it in",
		},
		Arms:   []string{"procs=cpus"},
		Advice: []string{"{threads} workers share {procs} Ps.", "The Ps were held by {culprit}."},
	},
}

var ioEntries = []Entry{
	{
		ID:       IOSyscall,
		Title:    "system calls",
		Meaning:  "Time in the kernel on behalf of the program: files, sockets, memory calls; the kernel's own locks are inside and cannot be told from slow work by samples.",
		Measured: "CPU samples below syscall, x/sys/unix and internal/poll; trace: lane in a system call whose P was taken.",
		Excludes: "Page faults are alloc/page-fault, the runtime's futex calls sched/find or the lock's, waiting for the network io/network.",
		Confirm:  []string{"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=io/syscall {loss}", "go tool trace {trace}"},
		Helps: []string{
			"fewer, larger calls: buffer reads and writes",
			"one file, socket or mapping per worker: the kernel locks a shared one",
			"mmap, munmap and madvise lock the address space of the whole process",
		},
		Arms:   []string{"mode=process"},
		Advice: []string{"The kernel calls at {path} take longer when more workers make them.", "Buffer them, or give each worker its own descriptor."},
	},
	{
		ID:       IOCgo,
		Title:    "C code",
		Meaning:  "Time in C functions called through cgo, and in going there and back.",
		Measured: "CPU samples below cgocall or a _Cfunc_ wrapper; trace: lane in a system call that starts at one. Locks inside C look like slow calls.",
		Excludes: "Go callbacks from C are work/user.",
		Confirm:  []string{"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=io/cgo {loss}"},
		Helps:    []string{"do more per call", "look at the C library's locks and allocator with a native profiler (perf)"},
		Arms:     []string{"mode=process"},
		Advice:   []string{"C calls at {path} take longer when more workers make them: look for a lock or the allocator in the C library."},
	},
	{
		ID:       IONetwork,
		Title:    "waiting for the network",
		Meaning:  "A lane waited for a socket, pipe or other polled descriptor.",
		Measured: "Trace: lane waiting with reason \"network\"; CPU samples in package net's own part.",
		Excludes: "Kernel time of socket calls is io/syscall, the poller's sched/netpoll.",
		Confirm:  []string{"go tool pprof -top -cum -tagfocus=cause=io/network {slots}", "go tool trace {trace}"},
		Helps:    []string{"the other side may be the bottleneck: measure it", "more requests in flight", "larger messages"},
		Arms:     []string{"mode=process"},
		Advice:   []string{"Workers wait for the other end of {path}."},
	},
	{
		ID:       IOSleep,
		Title:    "sleeping",
		Meaning:  "A lane slept by its own wish: time.Sleep, a rate limit, a back-off.",
		Measured: "Trace: lane waiting with reason \"sleep\", exact.",
		Excludes: "Waiting on a timer's channel is the channel's.",
		Confirm:  []string{"go tool pprof -top -cum -tagfocus=cause=io/sleep {slots}", "go tool trace {trace}"},
		Helps:    []string{"wait for the event in place of polling for it", "a sleep of microseconds lasts up to a timer tick"},
		Arms:     nil,
		Advice:   []string{"Workers sleep at {path}: wait for the event itself."},
	},
}

var osEntries = []Entry{
	{
		ID:       OSRunQueue,
		Title:    "threads waiting for a CPU",
		Meaning:  "As the Go runtime sees it the lane ran, but its thread waited in the kernel's run queue: other threads of this program had the CPU.",
		Measured: "Time running in the trace minus CPU time (rusage), as far as schedstat shows run-queue wait and neither quota nor other processes explain it.",
		Excludes: "In a convoy, wake-ups stack the program's own threads on one CPU: that part is charged to the lock's hand-overs.",
		Confirm:  []string{"go tool pprof -top -tagfocus=cause=os/run-queue {slots}"},
		Helps:    []string{"GOMAXPROCS no larger than the usable CPUs", "fewer threads in system calls and C code", "fewer wake-ups"},
		Arms:     []string{"procs=threads", "pin"},
		Advice:   []string{"Threads wait for a CPU: {procs} Ps on {cpus} CPUs."},
	},
	{
		ID:       OSThrottled,
		Title:    "CPU quota",
		Meaning:  "The control group's CPU quota was used up and all threads were stopped until the next period.",
		Measured: "cgroup cpu.stat, throttled time over the window, divided over lanes that were running.",
		Excludes: "Other processes' CPU is os/neighbour.",
		Confirm:  []string{"scaleprof doctor"},
		Helps:    []string{"raise the quota", "GOMAXPROCS at the quota: Go 1.25 and later round it up, and at least 2", "no more workers than the quota"},
		Arms:     []string{"procs=threads"},
		Advice:   []string{"The CPU quota of {quota} stops the program.", "It had {procs} Ps."},
	},
	{
		ID:       OSSteal,
		Title:    "CPU stolen by the hypervisor",
		Meaning:  "A virtual CPU was ready, but the host ran something else.",
		Measured: "Steal time of /proc/stat over the window, at most what lanes miss between running and CPU time.",
		Excludes: "Slower cores without steal show in the ceiling.",
		Confirm:  []string{"scaleprof doctor"},
		Helps:    []string{"measure on a machine of your own, or at another time"},
		Arms:     nil,
		Advice:   []string{"The host took the CPU away: measure elsewhere."},
	},
	{
		ID:       OSNeighbour,
		Title:    "other processes",
		Meaning:  "Other processes on this machine used the CPUs.",
		Measured: "Busy time of /proc/stat minus the program's own CPU time, at most what lanes miss between running and CPU time. The difference can be negative in programs with very many wake-ups, and is then 0.",
		Excludes: "Memory bandwidth that neighbours take shows in the ceiling.",
		Confirm:  []string{"scaleprof doctor"},
		Helps:    []string{"stop what else runs and measure again"},
		Arms:     nil,
		Advice:   []string{"Other processes used the CPUs: stop them and measure again."},
	},
	{
		ID:       OSStartUp,
		Title:    "process start",
		Meaning:  "Processes were being started while the clock ran (clock wall-with-startup only).",
		Measured: "From the release to the first operation of each process.",
		Excludes: "With the default clock all processes meet at a barrier first and this is 0.",
		Confirm:  []string{"scaleprof capture --clock wall --mode process"},
		Helps:    []string{"measure with the default clock", "longer runs"},
		Arms:     nil,
		Advice:   []string{"Starting processes is part of the clock: more work per process, or the default clock."},
	},
}

var memoryEntries = []Entry{
	{
		ID:       MemoryContendedLine,
		Title:    "contended cache line",
		Meaning:  "Cores wrote the same cache line, so that it moved between them with every access: an atomic that all update, or neighbouring variables of different workers on one line (false sharing).",
		Measured: "Growth of work/user concentrated on few instructions at or right behind an atomic read-modify-write, or on one plain load or store of a line that others write. Sample addresses are looked up in the binary that ran. Plain false sharing and cache misses look alike by address; process mode separates them, as it does away with the first only.",
		Excludes: "Atomics inside sync belong to their lock. Growth spread over many memory accesses is memory/bandwidth.",
		Confirm: []string{
			"go tool pprof -list=. -sample_index=excess -tagfocus=cause=memory/contended-line {loss}",
		},
		Helps: []string{
			"a counter per worker, added up at the end",
			"pad what different workers write to lines of their own: struct { v int64; _ [120]byte }",
			"update the shared value every so many items",
		},
		Arms: []string{"mode=process"},
		Advice: []string{
			"Cores fight over one cache line at {instruction}.",
			"Give each worker its own copy, on a line of its own, and merge at the end.",
		},
	},
	{
		ID:       MemoryBandwidth,
		Title:    "memory bandwidth and cache capacity",
		Meaning:  "Code that streams through memory took longer per access, as cores share last-level cache and memory channels.",
		Measured: "Growth of work/user spread over the instructions that touch memory (memmove, memclr, streaming loops), in processes as well as in threads, up to what the memory kernels lose.",
		Excludes: "What the memory kernels lose whatever the code does is hardware/memory; growth on few instructions is memory/contended-line.",
		Confirm:  []string{"go tool pprof -top -sample_index=excess -tagfocus=cause=memory/bandwidth {loss}"},
		Helps: []string{
			"touch less memory: smaller elements, reuse while in cache, work in blocks that fit",
			"fewer copies",
			"fewer workers on this stage: past the memory's limit they only queue",
		},
		Arms:   []string{"mode=process"},
		Advice: []string{"Memory does not keep up at {path} ({source}).", "Touch less memory per operation, or work in blocks that fit the cache."},
	},
}

var hardwareEntries = []Entry{
	{
		ID:       HardwareCeiling,
		Title:    "what the cores lose by themselves",
		Meaning:  "Register-only code that shares nothing got slower per operation at this T too: hardware threads share a core, clocks drop as more cores are busy, or virtual CPUs are not whole cores.",
		Measured: "The ALU kernel's throughput per worker at peak against base, interleaved with the workload. Applied to the lane's running time.",
		Excludes: "CPU taken away shows in os/*. Shared memory is hardware/memory and memory/*.",
		Confirm:  []string{"scaleprof doctor"},
		Helps: []string{
			"nothing in the program: this is what the machine gives",
			"T at the physical cores, if hardware threads add nothing for this code",
		},
		Arms:   []string{"pin"},
		Advice: []string{"The machine itself gives no more: code that shares nothing loses as much."},
	},
	{
		ID:       HardwareMemory,
		Title:    "what memory loses by itself",
		Meaning:  "The memory kernels, which share nothing but caches and memory, got slower per operation at this T beyond what the cores lose, and the program's memory accesses did as well.",
		Measured: "Loss of the memory kernels beyond the ALU kernel, applied to the part of work/user that touches memory; a range where that part is not known.",
		Excludes: "Growth beyond the kernels' is memory/bandwidth or memory/contended-line.",
		Confirm:  []string{"scaleprof doctor"},
		Helps:    []string{"touch less memory per operation", "a machine with more memory channels"},
		Arms:     []string{"pin"},
		Advice:   []string{"The machine's memory gives no more: code that shares nothing loses as much."},
	},
}

var observerEntries = []Entry{
	{
		ID:       ObserverProfiling,
		Title:    "profiling and tracing",
		Meaning:  "Writing profile samples and trace events.",
		Measured: "CPU samples in the recorders of the runtime, and the profiled runs' wall time over the timed ones'. Timed runs carry no profiler, so that no timing contains this; it is never a verdict.",
		Excludes: "The allocation profile that is always on is alloc/malloc.",
		Confirm:  []string{"go tool pprof -top -tagfocus=cause=observer/profiling {cpu}"},
		Helps:    []string{"fewer profiles at once: --profiles cpu", "mutex and block profiles in a pass of their own"},
		Arms:     nil,
		Advice:   []string{"The recorder costs this, not the program: capture with fewer profiles."},
	},
	{
		ID:       ObserverHarness,
		Title:    "the benchmark's own frame",
		Meaning:  "The code that measures cost time that grows with T: testing's shared counter behind (*PB).Next, a result variable that all workers write, a barrier.",
		Measured: "CPU samples and waits whose nearest user frame is the harness.",
		Excludes: "What the harness calls on the program's behalf is work/user.",
		Confirm:  []string{"go tool pprof -top -sample_index=excess -tagfocus=cause=observer/harness {loss}"},
		Helps:    []string{"more work per operation: below some 200 ns the counter shows", "a result variable per worker"},
		Arms:     nil,
		Advice:   []string{"The benchmark measures its own frame: do more per iteration."},
	},
}

var unexplainedEntries = []Entry{
	{
		ID:       Unexplained,
		Title:    "unexplained",
		Meaning:  "Slot time that no cause accounts for. Printed always, with its size.",
		Measured: "Slot time minus all other rows. closure_error says how far the independent measurements missed before this row took the rest.",
		Excludes: "Nothing.",
		Confirm:  []string{"go tool pprof -top -tagfocus=cause=unexplained {slots}"},
		Helps:    []string{"longer runs and more repeats", "a quieter machine", "a complete trace: a truncated one leaves its rest here"},
		Arms:     nil,
		Advice:   []string{"The measurements do not decide."},
	},
}
