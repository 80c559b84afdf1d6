package classify

import "github.com/scaleprof/scaleprof/internal/analyze/cause"

// Rule says of which stacks one cause is. Conditions that are zero hold always.
//
// A stack has a near part: the frames from the leaf up to, not including, the
// first frame of user code. The runtime never calls user code back except at
// the start of a goroutine and in a few functions of sync (Once, Pool, Map),
// where the callee's own frames are what counts. So the near part holds
// everything that decides, and what lies further out does not matter.
type Rule struct {
	Name  string   // unique, for Explain
	Cause cause.ID // what a matching stack is booked under
	Why   string   // why it is this cause, and why before the rules that follow

	near  set  // a frame of the near part is in one of these families
	not   set  // and no frame is in these
	leaf  set  // the leaf is in one of these
	owner set  // the first frame of user code is in one of these
	root  set  // one of the two outermost frames is in one of these
	bare  bool // there is no user code at all
	empty bool // the stack is empty
}

// rules are tried in order; the first that holds decides.
//
// Two principles order them. The collector comes before the allocator, as it
// runs inside it. And work is charged to what the user can act on: a lock of the
// runtime, a wake-up or a switch inside a channel operation is the channel's,
// inside Unlock the mutex's, inside a go statement the goroutine's creation; only
// what no such frame owns is the scheduler's or lock/runtime.
var rules = []Rule{
	{
		Name: "empty", Cause: cause.SchedSpawn, empty: true,
		Why: "a goroutine at its last return has no frame left",
	},
	{
		Name: "recorder goroutine", Cause: cause.ObserverProfiling, root: profilerRoot,
		Why: "these goroutines exist only while a profile or a trace is taken",
	},
	{
		Name: "recorder", Cause: cause.ObserverProfiling, near: profiler,
		Why: "writing events and samples is not done in timed runs; first, as it happens inside everything",
	},
	{
		Name: "recorder's library", Cause: cause.ObserverProfiling, owner: profiler,
		Why: "fgprof stops the world for each sample",
	},
	{
		Name: "finalizers", Cause: cause.GCFinalizer, root: finalizer,
		Why: "whatever a finalizer or cleanup does, it does for the collector",
	},

	// The collector.
	{
		Name: "stop the world", Cause: cause.GCSTW, near: stw,
		Why: "stopping, phase changes, starting; before assist and mark, as gcMarkDone runs inside both",
	},
	{
		Name: "assist", Cause: cause.GCAssist, near: assist,
		Why: "marking on behalf of an allocation; before mark, as it drains the same queues",
	},
	{
		Name: "mark", Cause: cause.GCMark, near: mark,
		Why: "mark workers, and scanning of stacks and roots",
	},
	{
		Name: "sweep", Cause: cause.GCSweep, near: sweep,
		Why: "before the allocator, as it runs inside refill and large allocations",
	},
	{
		Name: "scavenge", Cause: cause.GCScavenge, near: scavenge,
		Why: "madvise by the scavenger or, above the limit, by an allocation",
	},
	{
		Name: "write barrier", Cause: cause.GCWriteBarrier, near: barrier,
		Why: "pointer writes while marking is on",
	},
	{
		Name: "allocate black", Cause: cause.GCMark, near: allocBlack,
		Why: "objects made while marking is on are marked at once",
	},

	{
		Name: "harness", Cause: cause.ObserverHarness, owner: harness,
		Why: "the measuring frame's own counter or barrier; before locks, as it may wait in them",
	},

	// Goroutines and their stacks, before the allocator that serves them.
	{
		Name: "stack growth", Cause: cause.AllocStackGrowth, near: stackCopy,
		Why: "copying to a larger stack, with the new stack's memory",
	},
	{
		Name: "spawn", Cause: cause.SchedSpawn, near: spawn,
		Why: "the go statement with its stack and its wake-up of a P, and a goroutine's end",
	},
	{
		Name: "stack memory", Cause: cause.AllocStackGrowth, near: stackAlloc,
		Why: "stacks outside of the go statement and of the collector",
	},

	// The allocator, outermost layer last.
	{
		Name: "memory from the system", Cause: cause.AllocHeap, near: osMemory,
		Why: "mmap and friends, called by a heap that grows",
	},
	{
		Name: "zero large", Cause: cause.AllocZero, leaf: clearing, near: largeObject,
		Why: "large objects are cleared outside of the heap lock; before heap, which holds the rest of large allocations",
	},
	{
		Name: "page heap", Cause: cause.AllocHeap, near: mheap | largeObject,
		Why: "spans from mheap, waits for its lock included",
	},
	{
		Name: "refill", Cause: cause.AllocRefill, near: refill,
		Why: "an empty cache takes a span from the central list, waits for its lock included",
	},
	{
		Name: "zero", Cause: cause.AllocZero, leaf: clearing, near: malloc,
		Why: "fresh memory is cleared",
	},
	{
		Name: "heap profile", Cause: cause.AllocMalloc, near: heapProfile,
		Why: "one sample in 512 kB is always on, in timed runs too: part of what allocating costs",
	},
	{
		Name: "malloc", Cause: cause.AllocMalloc, near: malloc,
		Why: "the allocator's fast path",
	},

	// What a program waits with. The named lock comes before the Mutex and the
	// semaphore that it is made of.
	{
		Name: "netpoll", Cause: cause.SchedNetpoll, near: netpoll,
		Why: "epoll by the scheduler, and registering with it",
	},
	{
		Name: "run timers", Cause: cause.SchedTimers, near: timerRun,
		Why: "timers that are due, run by the scheduler",
	},
	{
		Name: "timers", Cause: cause.SchedTimers, near: timer, not: find,
		Why: "setting and stopping timers, waits for a P's timer lock included; whether one is due is asked in each search for work and is part of it",
	},
	{
		Name: "RWMutex", Cause: cause.LockRWMutex, near: rwmutex,
		Why: "the reader count is one cache line for all readers: cost without blocking",
	},
	{
		Name: "WaitGroup", Cause: cause.LockWaitGroup, near: waitgroup,
		Why: "Add and Done share one counter",
	},
	{
		Name: "Cond", Cause: cause.LockCond, near: cond,
		Why: "with the locking again after a wake-up",
	},
	{
		Name: "Pool", Cause: cause.LockPool, near: pool,
		Why: "with its mutex; what New does is user code",
	},
	{
		Name: "Map", Cause: cause.LockMap, near: syncMap,
		Why: "sync.Map with the mutexes of its nodes",
	},
	{
		Name: "file lock", Cause: cause.LockMutex, near: fdMutex,
		Why: "one reader and one writer of a file descriptor at a time: a mutex by another name",
	},
	{
		Name: "Once", Cause: cause.LockMutex, near: once,
		Why: "waiting for the first caller",
	},
	{
		Name: "mutex spinning", Cause: cause.LockMutex, near: mutexSpin,
		Why: "spinning before parking is the mutex's cost; lock/spin is for loops of the user's own",
	},
	{
		Name: "Mutex", Cause: cause.LockMutex, near: mutex | contextDone,
		Why: "with the wake-up of the next owner; a context's Done and Err stand for its mutex",
	},
	{
		Name: "semaphore", Cause: cause.LockMutex, near: semaphore,
		Why: "sync's sleeping part where the lock's own frame was inlined away",
	},
	{
		Name: "select", Cause: cause.LockSelect, near: selecting,
		Why: "locks every channel of the statement; before channel, whose functions it calls",
	},
	{
		Name: "channel", Cause: cause.LockChannel, near: channel,
		Why: "with its lock, which is the user's to relieve, and the wake-up of the receiver",
	},

	// Calls out of Go.
	{
		Name: "cgo", Cause: cause.IOCgo, near: cgo, not: runtimeLock,
		Why: "a C call and the way there; before system calls, whose entry it shares",
	},
	{
		Name: "network", Cause: cause.IONetwork, near: pollFD, owner: netFD, not: syscallLow,
		Why: "Go's own part of socket calls; the kernel's is io/syscall",
	},

	// The scheduler.
	{
		Name: "runtime lock of the mutex profile", Cause: cause.LockRuntime, leaf: unlocked,
		Why: "the mutex profile charges whoever unlocks",
	},
	{
		Name: "scheduler lock", Cause: cause.LockRuntime, near: runtimeLock,
		Why: "a lock of the runtime that no rule above owns: mostly the scheduler's",
	},
	{
		Name: "monitor", Cause: cause.SchedPreempt, near: monitor,
		Why: "sysmon takes Ps back and asks goroutines to yield",
	},
	{
		Name: "find work", Cause: cause.SchedFind, near: find,
		Why: "looking for a goroutine, stealing, waking and parking threads",
	},
	{
		Name: "preempt", Cause: cause.SchedPreempt, near: preempt | gosched,
		Why: "a goroutine gives up its P; before stack growth, as both go through newstack",
	},
	{
		Name: "stack check", Cause: cause.AllocStackGrowth, near: moreStack,
		Why: "newstack for neither of the reasons above",
	},
	{
		Name: "goroutine end", Cause: cause.SchedSpawn, near: goexit, bare: true, not: schedSwitch,
		Why: "what remains of a goroutine that ends",
	},
	{
		Name: "system call", Cause: cause.IOSyscall, near: syscallLow,
		Why: "kernel time by call, entering and leaving included",
	},
	{
		Name: "file", Cause: cause.IOSyscall, near: pollFD,
		Why: "Go's own part of file calls",
	},
	{
		Name: "thread sleep", Cause: cause.SchedFind, leaf: threadSleep,
		Why: "only the scheduler sleeps and yields by itself",
	},
	{
		Name: "switch", Cause: cause.SchedSwitch, near: schedSwitch,
		Why: "parking, readying and starting goroutines on behalf of no lock, channel or timer",
	},
	{
		Name: "outside", Cause: cause.Unexplained, near: systemFrame,
		Why: "an address in no Go function: cannot tell",
	},
	{
		Name: "bare runtime", Cause: cause.Unexplained, near: low, bare: true,
		Why: "a truncated stack of the runtime that could belong to anything",
	},
	{
		Name: "user", Cause: cause.WorkUser,
		Why: "everything else, with the runtime's helpers that it calls (maps, strings, copying)",
	},
}
