// Package cause is the catalogue of causes: the names under which scaleprof
// books every core-second of slot time, and for each name what it means, how
// it is measured, how to confirm it and what usually helps.
package cause

import "strings"

// ID names one cause, "group/name", or "unexplained".
type ID string

// The causes, by group. Every nanosecond of slot time carries exactly one.
const (
	WorkUser ID = "work/user"

	GCAssist       ID = "gc/assist"        // a lane marks to pay for its allocations
	GCAssistWait   ID = "gc/assist-wait"   // a lane waits for assist credit
	GCMark         ID = "gc/mark"          // a lane is off its P because a GC worker holds it
	GCSTW          ID = "gc/stw"           // stop-the-world: stopping, stopped, starting again
	GCSweep        ID = "gc/sweep"         // a lane sweeps spans before it may allocate
	GCWriteBarrier ID = "gc/write-barrier" // pointer writes while marking is on
	GCFinalizer    ID = "gc/finalizer"     // finalizers and cleanups hold a P
	GCScavenge     ID = "gc/scavenge"      // memory goes back to the operating system

	AllocMalloc      ID = "alloc/malloc"       // the allocator's fast path
	AllocRefill      ID = "alloc/refill"       // mcache refill from mcentral
	AllocHeap        ID = "alloc/heap"         // mheap, large spans, memory from the system
	AllocZero        ID = "alloc/zero"         // clearing fresh memory
	AllocPageFault   ID = "alloc/page-fault"   // first touch of fresh pages
	AllocStackGrowth ID = "alloc/stack-growth" // goroutine stacks grow and are copied

	SchedFind        ID = "sched/find"         // findRunnable, stealing, waking
	SchedWakeLatency ID = "sched/wake-latency" // runnable while a P is idle
	SchedSwitch      ID = "sched/switch"       // park, ready, execute
	SchedSpawn       ID = "sched/spawn"        // goroutine creation and exit
	SchedPreempt     ID = "sched/preempt"
	SchedTimers      ID = "sched/timers"
	SchedNetpoll     ID = "sched/netpoll"

	LockMutex     ID = "lock/mutex"
	LockRWMutex   ID = "lock/rwmutex"
	LockChannel   ID = "lock/channel"
	LockSelect    ID = "lock/select"
	LockCond      ID = "lock/cond"
	LockWaitGroup ID = "lock/waitgroup"
	LockPool      ID = "lock/pool"
	LockMap       ID = "lock/map"     // sync.Map
	LockRuntime   ID = "lock/runtime" // the runtime's own locks
	LockSpin      ID = "lock/spin"    // loops of user code that spin; spinning inside sync is its lock's

	BalanceTail   ID = "balance/tail"   // this lane is done, others are not
	BalanceSerial ID = "balance/serial" // nothing runnable for this lane
	BalanceQueue  ID = "balance/queue"  // more goroutines than Ps

	IOSyscall ID = "io/syscall"
	IOCgo     ID = "io/cgo"
	IONetwork ID = "io/network"
	IOSleep   ID = "io/sleep"

	OSRunQueue  ID = "os/run-queue" // thread ready, CPU taken
	OSThrottled ID = "os/throttled" // cgroup quota
	OSSteal     ID = "os/steal"     // hypervisor
	OSNeighbour ID = "os/neighbour" // other processes' CPU
	OSStartUp   ID = "os/start-up"

	MemoryContendedLine ID = "memory/contended-line"
	MemoryBandwidth     ID = "memory/bandwidth"

	HardwareCeiling ID = "hardware/ceiling" // what register-only code loses too
	HardwareMemory  ID = "hardware/memory"  // what the memory kernels lose beyond that

	ObserverProfiling ID = "observer/profiling"
	ObserverHarness   ID = "observer/harness"

	Unexplained ID = "unexplained"
)

// Group is the part of the ID before the slash: "gc" for "gc/mark".
func (id ID) Group() string {
	group, _, _ := strings.Cut(string(id), "/")
	return group
}
