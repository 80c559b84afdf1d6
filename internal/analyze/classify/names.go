package classify

// set is a bit per family of functions. A frame is in any number of families.
type set uint64

// The families. Which functions belong to which is the table members below.
const (
	// low frames never decide by themselves: they are the runtime's and the
	// standard library's lowest layers, below the code that asked for the work.
	low set = 1 << iota

	profiler     // recorders of profiles and traces
	profilerRoot // start functions of the recorders' goroutines
	harness      // scaleprof's own and testing's measuring code
	finalizer    // start functions of finalizer and cleanup goroutines
	stw          // stopping and starting the world, GC phase changes
	assist       // marking that an allocation pays for
	mark         // marking
	sweep        // sweeping
	scavenge     // giving memory back to the system
	barrier      // write barriers
	allocBlack   // marking a new object while marking is on
	stackCopy    // growing and shrinking stacks
	stackAlloc   // allocating and freeing stacks
	moreStack    // the check at a function's entry
	spawn        // making and ending goroutines
	goexit       // the end of a goroutine
	osMemory     // address space from the system
	largeObject  // objects above 32 kB
	mheap        // the page heap
	refill       // central lists of spans
	malloc       // the allocator
	heapProfile  // the allocation profile that is always on
	clearing     // memory is zeroed
	netpoll      // the network poller
	timer        // timers
	timerRun     // timers that are due
	rwmutex
	waitgroup
	cond
	pool
	syncMap
	fdMutex // the lock of a file descriptor
	once
	contextDone // a context's Done and Err
	mutexSpin   // active spinning of sync.Mutex
	mutex
	semaphore // of any lock
	selecting
	channel
	runtimeLock // waiting for, or waking a waiter of, a lock of the runtime
	unlocked    // where the mutex profile books a lock of the runtime
	monitor     // the runtime's own watching thread
	find        // looking for work, waking and parking threads
	preempt     // giving up a P
	schedSwitch // parking, readying, switching
	cgo
	syscallLow   // entering and leaving the kernel
	pollFD       // reading and writing through internal/poll
	netFD        // package net's use of internal/poll
	threadSleep  // futex, usleep, osyield of the runtime itself
	systemFrame  // pseudo frames for addresses outside Go code
	asyncPreempt // injected at an arbitrary instruction
	sleeping     // time.Sleep
	gcStartWait  // waiting to start a collection
	gosched      // runtime.Gosched
)

// member puts functions into families. A name that ends in '*' stands for all
// functions that begin so, one that begins with '=' for that function in no
// other family. Names are as runtime/pprof and the execution trace
// give them, from Go 1.24 to 1.27; names that one version lacks do no harm.
type member struct {
	families set
	names    []string
}

var members = []member{
	{low, []string{
		"runtime.*", "runtime/internal/*", "internal/runtime/*", "internal/abi.*", "internal/bytealg.*", "internal/cpu.*",
		"internal/race.*", "internal/chacha8rand.*", "sync.*", "sync/atomic.*", "internal/sync.*", "internal/concurrent.*",
		"syscall.*", "internal/syscall/*", "internal/poll.*", "golang.org/x/sys/unix.*",
	}},

	{low | profiler, []string{
		"runtime/trace.*", "runtime.traceLocker.*", "runtime.(*traceStackTable)*", "runtime.(*traceMap)*", "runtime.traceWriter.*",
		"runtime.traceEventWriter.*", "runtime.(*traceBuf)*", "runtime.traceBufFlush", "runtime.traceStack", "runtime.traceAdvance*",
		"runtime.(*traceAdvancerState)*", "runtime.traceReadCPU", "runtime.traceCPUSample", "runtime.traceCPUFlush", "runtime.traceStartReadCPU*",
		"runtime.trace_user*", "runtime.(*profBuf)*", "runtime.(*cpuProfile)*", "runtime.sigprof*", "runtime.saveblockevent",
		"runtime.saveBlockEventStack", "runtime.(*mLockProfile).recordUnlock", "runtime.(*mLockProfile).captureStack",
		"runtime.(*mLockProfile).storeSlow", "runtime/pprof.profileWriter", "runtime/pprof.(*profileBuilder)*",
	}},
	// Asked also while nothing is recorded.
	{low, []string{"=runtime.traceLocker.ok"}},
	{profiler, []string{"github.com/felixge/fgprof.*"}},
	{profilerRoot, []string{
		"runtime/pprof.profileWriter", "runtime.(*traceAdvancerState)*", "runtime.traceStartReadCPU*", "runtime/trace.(*traceMultiplexer)*",
		"runtime/trace.Start.func*", "github.com/felixge/fgprof.*",
	}},
	{harness, []string{
		"github.com/scaleprof/scaleprof/internal/capture/*", "testing.(*PB).Next", "testing.(*B).Loop", "testing.(*B).loopSlowPath",
		"testing.(*B).StartTimer", "testing.(*B).StopTimer", "testing.(*B).ResetTimer", "testing.(*B).RunParallel*",
		"testing.Scaleprof*", "testing/internal/scaleprof_*",
	}},
	{low | finalizer, []string{"runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups", "runtime.(*cleanupQueue)*"}},

	{low | stw, []string{
		"runtime.stopTheWorld*", "runtime.startTheWorld*", "runtime.gcStart*", "runtime.gcMarkDone*", "runtime.gcMarkTermination*", "runtime.gcSweep",
		"runtime.forEachP*", "runtime.gcstopm", "runtime.runSafePointFn", "runtime.gcBgMarkStartWorkers", "runtime.finishsweep_m",
		"runtime.procresize", "runtime.readmemstats_m", "runtime.ReadMemStats*",
	}},
	{low | gcStartWait, []string{"runtime.gcStart*", "runtime.gcMarkDone*", "runtime.stopTheWorld*"}},
	{low | assist, []string{
		"runtime.gcAssistAlloc*", "runtime.gcParkAssist", "runtime.gcWakeAllAssists", "runtime.deductAssistCredit", "runtime.gcFlushBgCredit",
	}},
	{low | mark, []string{
		"runtime.gcDrain*", "runtime.gcBgMarkWorker*", "runtime.markroot*", "runtime.scanstack*", "runtime.suspendG", "runtime.resumeG",
		"runtime._GC", "runtime.GC", "runtime.gcWaitOnMark", "runtime.(*gcWork)*", "internal/runtime/gc/scan.*",
	}},
	{low | allocBlack, []string{"runtime.gcmarknewobject"}},
	{low | sweep, []string{
		"runtime.bgsweep", "runtime.sweepone", "runtime.deductSweepCredit", "runtime.(*sweepLocked)*", "runtime.(*sweepLocker)*",
		"runtime.(*activeSweep)*", "runtime.(*mspan).ensureSwept", "runtime.(*mspan).moveInlineMarks", "runtime.freeDeadSpanSPMCs",
		"runtime.freeSomeWbufs", "runtime.(*mheap).reclaim*",
	}},
	{low | scavenge, []string{
		"runtime.bgscavenge*", "runtime.(*pageAlloc).scavenge*", "runtime.(*scavengerState)*", "runtime.sysUnused*", "runtime.(*mheap).scavengeAll",
	}},
	{low | barrier, []string{
		"gcWriteBarrier", "runtime.gcWriteBarrier*", "runtime.wbBufFlush*", "runtime.(*wbBuf)*", "runtime.bulkBarrier*", "runtime.wbMove",
		"runtime.wbZero", "runtime.typeBitsBulkBarrier",
	}},

	{low | stackCopy, []string{"runtime.copystack*", "runtime.shrinkstack"}},
	{low | stackAlloc, []string{"runtime.stackalloc*", "runtime.stackfree*", "runtime.stackcache*", "runtime.stackpool*"}},
	{low | moreStack, []string{"runtime.newstack", "runtime.morestack*"}},
	{low | spawn, []string{"runtime.newproc*", "runtime.malg*", "runtime.gdestroy", "runtime.gfget*", "runtime.gfput"}},
	{low | goexit, []string{"runtime.goexit*"}},

	{low | osMemory, []string{
		"runtime.sysMap*", "runtime.sysUsed*", "runtime.sysAlloc*", "runtime.sysReserve*", "runtime.sysHugePage*", "runtime.sysNoHugePage*",
		"runtime.(*mheap).grow", "runtime.(*mheap).sysAlloc", "runtime.mmap*", "runtime.sysMmap", "runtime.munmap",
	}},
	{low | largeObject, []string{"runtime.mallocgcLarge", "runtime.(*mcache).allocLarge"}},
	{low | mheap, []string{
		"runtime.(*mheap).alloc*", "runtime.(*mheap).freeSpan*", "runtime.(*mheap).freeManual", "runtime.(*mheap).tryAllocMSpan", "runtime.(*mheap).initSpan",
		"runtime.(*pageAlloc)*", "runtime.(*pageCache)*", "runtime.(*mcentral).grow",
	}},
	{low | refill, []string{"runtime.(*mcache).refill", "runtime.(*mcentral)*", "runtime.(*spanSet)*"}},
	{low | malloc, []string{
		"runtime.mallocgc*", "runtime.newobject", "runtime.newarray", "runtime.makeslice*", "runtime.nextFreeFast", "runtime.(*mcache).nextFree",
		"runtime.publicationBarrier", "runtime.heapSetType*", "runtime.rawstring*", "runtime.rawbyteslice", "runtime.persistentalloc*",
	}},
	{low | heapProfile, []string{
		"runtime.mProf_*", "runtime.profilealloc", "runtime.setprofilebucket", "runtime.stkbucket",
	}},
	{low | clearing, []string{"runtime.memclrNoHeapPointers*"}},

	{low | netpoll, []string{"runtime.netpoll*", "internal/poll.runtime_poll*", "runtime.(*pollDesc)*", "runtime.(*pollCache)*"}},
	{low | timer, []string{
		"runtime.(*timer)*", "runtime.(*timers)*", "time.newTimer", "time.stopTimer", "time.resetTimer", "runtime.checkTimersNoP", "runtime.resetForSleep",
		"runtime.timeSleep*", "runtime.wakeNetPoller",
	}},
	{low | timerRun, []string{
		"runtime.(*timers).run", "runtime.(*timers).adjust", "runtime.(*timers).cleanHead", "runtime.(*timers).deleteMin", "runtime.(*timers).siftDown",
		"runtime.(*timers).siftUp", "time.goFunc", "time.sendTime", "runtime.(*timer).unlockAndRun", "runtime.(*timers).updateMinWhenHeap",
	}},
	{low | timer | sleeping, []string{"time.Sleep", "runtime.timeSleep"}},

	{low | rwmutex, []string{"sync.(*RWMutex)*", "sync.(*rlocker)*", "sync.runtime_SemacquireRWMutex*"}},
	{low | waitgroup, []string{"sync.(*WaitGroup)*", "sync.runtime_SemacquireWaitGroup"}},
	{low | cond, []string{"sync.(*Cond)*", "sync.runtime_notify*", "runtime.notifyList*"}},
	{low | pool, []string{
		"sync.(*Pool)*", "sync.(*poolChain)*", "sync.(*poolDequeue)*", "sync.runtime_procPin", "sync.runtime_procUnpin", "sync.indexLocal",
		"sync.poolRaceAddr", "sync.runtime_registerPoolCleanup",
	}},
	{low | syncMap, []string{
		"sync.(*Map)*", "internal/sync.(*HashTrieMap*", "internal/concurrent.(*HashTrieMap*", "internal/sync.(*indirect*", "internal/sync.(*entry*",
		"internal/sync.(*node*", "internal/sync.newIndirectNode*", "sync.(*readOnly)*", "sync.(*entry)*",
	}},
	{low | fdMutex, []string{
		"internal/poll.(*fdMutex)*", "internal/poll.runtime_Sem*", "internal/poll.(*FD).readLock", "internal/poll.(*FD).writeLock",
		"internal/poll.(*FD).readUnlock", "internal/poll.(*FD).writeUnlock", "internal/poll.(*FD).incref", "internal/poll.(*FD).decref",
	}},
	{low | once, []string{"sync.(*Once)*", "sync.Once*"}},
	{low | contextDone, []string{"context.(*cancelCtx).Done", "context.(*cancelCtx).Err"}},
	{low | mutexSpin, []string{"internal/sync.runtime_doSpin", "internal/sync.runtime_canSpin", "sync.runtime_doSpin", "sync.runtime_canSpin"}},
	{low | mutex, []string{
		"sync.(*Mutex)*", "internal/sync.(*Mutex)*", "internal/sync.runtime_Sem*", "sync.runtime_SemacquireMutex", "internal/sync.fatal", "internal/sync.throw",
	}},
	{low | semaphore, []string{"sync.runtime_Sem*", "runtime.semacquire*", "runtime.semrelease*", "runtime.(*semaRoot)*", "runtime.readyWithTime"}},
	{low | selecting, []string{"runtime.selectgo*", "runtime.sellock", "runtime.selunlock", "runtime.selparkcommit", "runtime.block", "reflect.rselect"}},
	{low | channel, []string{
		"runtime.chansend*", "runtime.chanrecv*", "runtime.chanparkcommit", "runtime.closechan", "runtime.selectnb*", "runtime.send", "runtime.recv",
		"runtime.sendDirect", "runtime.recvDirect", "runtime.(*waitq)*", "reflect.chansend*", "reflect.chanrecv",
	}},
	{low | runtimeLock, []string{
		"runtime.lock2", "runtime.unlock2Wake", "runtime._LostContendedRuntimeLock",
	}},
	{low | unlocked, []string{"runtime.unlock"}},

	{low | monitor, []string{"runtime.sysmon*", "runtime.retake"}},
	{low | find, []string{
		"runtime.findRunnable", "runtime.findrunnable", "runtime.stealWork", "runtime.runqsteal", "runtime.runqgrab", "runtime.checkRunqsNoP",
		"runtime.checkIdleGCNoP", "runtime.wakep", "runtime.startm", "runtime.newm*", "runtime.stopm", "runtime.mPark", "runtime.notesleep",
		"runtime.notewakeup", "runtime.resetspinning", "runtime.injectglist*", "runtime.handoffp", "runtime.globrunq*", "runtime.pidle*",
		"runtime.acquirep", "runtime.(*gcControllerState).findRunnableGCWorker", "runtime.futexwakeup", "runtime.futexsleep*",
	}},
	{low | preempt, []string{
		"runtime.gopreempt_m", "runtime.asyncPreempt2", "runtime.preemptone", "runtime.preemptM", "runtime.preemptPark", "runtime.goschedImpl",
		"runtime.goyield*", "runtime.gosched_m", "runtime.goschedguarded*", "runtime.goschedIfBusy", "runtime.sigtramp*", "runtime.sighandler",
		"runtime.doSigPreempt", "runtime.sigreturn*", "runtime.sigfwdgo", "runtime.wantAsyncPreempt", "runtime.isAsyncSafePoint",
	}},
	{low | gosched, []string{"runtime.Gosched"}},
	{low | schedSwitch, []string{
		"runtime.schedule", "runtime.execute", "runtime.park_m", "runtime.mcall", "runtime.gopark", "runtime.goparkunlock", "runtime.ready",
		"runtime.goready*", "runtime.parkunlock_c", "gogo", "runtime.gogo", "runtime.runqget", "runtime.runqput*", "runtime.casgstatus",
		"runtime.dropg", "runtime.coroswitch*", "runtime.acquireSudog", "runtime.releaseSudog",
	}},

	{low | cgo, []string{"runtime.cgocall*", "runtime.asmcgocall*", "runtime.libcCall", "runtime.cgoCheckPointer*"}},
	{low | syscallLow, []string{
		"runtime.entersyscall*", "runtime.reentersyscall", "runtime.exitsyscall*", "internal/runtime/syscall*", "runtime/internal/syscall*",
		"syscall.*", "internal/syscall/*", "golang.org/x/sys/unix.*",
	}},
	{low | pollFD, []string{"internal/poll.*"}},
	{netFD, []string{"net.(*netFD)*", "net.(*conn)*", "net.(*TCPConn)*", "net.(*UDPConn)*", "net.(*TCPListener)*", "net.(*rawConn)*"}},
	{low | threadSleep, []string{"runtime.futex", "runtime.usleep*", "runtime.osyield*", "runtime.tgkill", "runtime.procyield*"}},
	{low | systemFrame, []string{
		"runtime._System", "runtime._ExternalCode", "runtime._LostExternalCode", "runtime._LostSIGPROFDuringAtomic64",
	}},
	{low | asyncPreempt, []string{"runtime.asyncPreempt"}},
}
