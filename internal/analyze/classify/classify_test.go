package classify

import (
	"strings"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// of makes the arguments of Stack from frames written leaf first.
func of(frames ...string) (int, func(int) string) {
	return len(frames), func(i int) string { return frames[i] }
}

// stacks are call paths seen in profiles and traces of Go 1.26, some shortened
// towards the root, and the cause that each must have.
var stacks = []struct {
	frames string // leaf first, " < " between
	want   cause.ID
}{
	{"", cause.SchedSpawn},
	{"runtime.goexit", cause.SchedSpawn},
	{"main.work < main.main < runtime.main", cause.WorkUser},
	{"runtime.asyncPreempt < main.work", cause.WorkUser},
	{"runtime.asyncPreempt < runtime.mallocgc < main.work", cause.AllocMalloc},
	{"runtime.asyncPreempt2 < runtime.asyncPreempt < main.work", cause.SchedPreempt},

	// User code and the runtime's helpers that it calls.
	{"runtime.memmove < main.work", cause.WorkUser},
	{"runtime.memclrNoHeapPointers < main.work", cause.WorkUser},
	{"aeshashbody < runtime.mapaccess1_faststr < main.work", cause.WorkUser},
	{"memeqbody < main.work", cause.WorkUser},
	{"internal/runtime/maps.(*Iter).Next < main.work", cause.WorkUser},
	{"runtime.growslice < main.work", cause.WorkUser},
	{"sync/atomic.(*Int64).Add < main.count", cause.WorkUser},
	{"internal/runtime/atomic.Xadd64 < main.count", cause.WorkUser},
	{"main.(*T[...]).Do < main.main", cause.WorkUser},
	{"main.main.func1.2.gowrap1", cause.WorkUser},
	{"decode_ < decode_ < github.com/bytedance/sonic.(*Decoder).Decode", cause.WorkUser},
	{"_vstring < decode_", cause.WorkUser},
	{"_f64toa < encode_doc.Status", cause.WorkUser},
	{"runtime/pprof.Do < main.main", cause.WorkUser},
	{"main.f < runtime/pprof.Do < main.main", cause.WorkUser},
	{"main.f < runtime/trace.WithRegion < main.main", cause.WorkUser},
	{"runtime._VDSO < main.now", cause.WorkUser},
	{"runtime._System", cause.Unexplained},
	{"runtime._ExternalCode", cause.Unexplained},
	{"runtime._GC", cause.GCMark},
	{"runtime.systemstack", cause.Unexplained},

	// Recorders.
	{"runtime.traceEventWriter.event < runtime.traceLocker.GoPark < runtime.gopark < runtime.chanrecv < main.f", cause.ObserverProfiling},
	{"runtime.saveBlockEventStack < runtime.blockevent < runtime.chanrecv < main.f", cause.ObserverProfiling},
	{"runtime.(*mLockProfile).recordUnlock < runtime.unlock2 < runtime.chansend < main.f", cause.ObserverProfiling},
	{"compress/flate.(*compressor).deflate < compress/gzip.(*Writer).Write < runtime/pprof.(*profileBuilder).flush < runtime/pprof.profileWriter", cause.ObserverProfiling},
	{"runtime.stopTheWorld < runtime.goroutineProfileWithLabelsConcurrent < github.com/felixge/fgprof.(*profiler).GoroutineProfile < github.com/felixge/fgprof.Start.func1", cause.ObserverProfiling},
	{"runtime.mallocgc < github.com/felixge/fgprof.toPprof < main.f < main.main", cause.ObserverProfiling},
	{"bufio.(*Writer).Write < runtime/trace.(*traceMultiplexer).startLocked.func1 < runtime.goexit", cause.ObserverProfiling},
	{"sync/atomic.(*Uint64).Add < testing.(*PB).Next < example.com/p.BenchmarkX.func1", cause.ObserverHarness},
	{"github.com/scaleprof/scaleprof/internal/capture/child.worker", cause.ObserverHarness},
	{"main.op < github.com/scaleprof/scaleprof/internal/capture/child.worker", cause.WorkUser},

	// The collector.
	{"runtime.futexwakeup < runtime.startTheWorldWithSema < runtime.gcStart < runtime.mallocgc < main.f", cause.GCSTW},
	{"runtime.osyield < runtime.lock2 < runtime.gcMarkDone < runtime.gcAssistAlloc < runtime.mallocgc < main.f", cause.GCSTW},
	{"runtime.forEachPInternal < runtime.gcMarkDone < runtime.gcBgMarkWorker", cause.GCSTW},
	{"runtime.readmemstats_m < runtime.ReadMemStats.func1 < runtime.systemstack < runtime.ReadMemStats < main.f", cause.GCSTW},
	{"runtime.scanSpan < runtime.gcDrainN < runtime.gcAssistAlloc1 < runtime.gcAssistAlloc.func2 < runtime.systemstack < runtime.gcAssistAlloc < runtime.mallocgcSmallScanNoHeader < main.f", cause.GCAssist},
	{"runtime.deductAssistCredit < runtime.mallocgc < main.f", cause.GCAssist},
	{"scanSpanPackedAVX512 < internal/runtime/gc/scan.ScanSpanPacked < runtime.scanSpan < runtime.gcDrain < runtime.gcDrainMarkWorkerDedicated < runtime.gcBgMarkWorker.func2", cause.GCMark},
	{"runtime.greyobject < runtime.scanobject < runtime.gcDrain < runtime.gcDrainMarkWorkerIdle < runtime.gcBgMarkWorker.func2 < runtime.systemstack < runtime.gcBgMarkWorker", cause.GCMark},
	{"runtime.gcmarknewobject < runtime.mallocgcSmallScanNoHeaderSC4 < main.f", cause.GCMark},
	{"runtime.(*sweepLocked).sweep < runtime.(*mcentral).cacheSpan < runtime.(*mcache).refill < runtime.mallocgc < main.f", cause.GCSweep},
	{"runtime.mProf_Free < runtime.freeSpecial < runtime.(*sweepLocked).sweep < runtime.sweepone < runtime.bgsweep", cause.GCSweep},
	{"runtime.madvise < runtime.sysUnusedOS < runtime.sysUnused < runtime.(*pageAlloc).scavengeOne < runtime.bgscavenge.func2", cause.GCScavenge},
	{"gcWriteBarrier < main.f", cause.GCWriteBarrier},
	{"runtime.gcWriteBarrier2 < main.f", cause.GCWriteBarrier},
	{"runtime.wbBufFlush1 < runtime.wbBufFlush.func1 < runtime.systemstack < runtime.wbBufFlush < gcWriteBarrier < main.f", cause.GCWriteBarrier},
	{"runtime.findObject < runtime.bulkBarrierPreWrite < runtime.typedmemmove < reflect.Value.Set < main.f", cause.GCWriteBarrier},
	{"main.finalize < runtime.call32 < runtime.runFinalizers", cause.GCFinalizer},
	{"runtime.mallocgc < main.finalize < runtime.runFinalizers < runtime.goexit", cause.GCFinalizer},

	// The allocator, goroutine stacks, spawning.
	{"runtime.nextFreeFast < runtime.mallocgcSmallNoscan < runtime.mallocgc < runtime.newobject < main.f", cause.AllocMalloc},
	{"runtime.mallocgcSmallScanNoHeaderSC3 < runtime.newobject < main.f", cause.AllocMalloc},
	{"runtime.profilealloc < runtime.mallocgc < main.f", cause.AllocMalloc},
	{"runtime.(*mcentral).cacheSpan < runtime.(*mcache).refill < runtime.(*mcache).nextFree < runtime.mallocgc < main.f", cause.AllocRefill},
	{"runtime.procyieldAsm < runtime.procyield < runtime.lock2 < runtime.(*spanSet).push < runtime.(*mcentral).uncacheSpan < runtime.(*mcache).refill < runtime.mallocgc < main.f", cause.AllocRefill},
	{"runtime.futex < runtime.futexsleep < runtime.lock2 < runtime.(*mheap).allocSpan < runtime.(*mheap).alloc.func1 < runtime.systemstack < runtime.(*mheap).alloc < runtime.(*mcentral).grow < runtime.(*mcache).refill < runtime.mallocgc < main.f", cause.AllocHeap},
	{"runtime.memclrNoHeapPointers < runtime.memclrNoHeapPointersChunked < runtime.mallocgcLarge < runtime.mallocgc < runtime.makeslice < main.f", cause.AllocZero},
	{"runtime.(*pageAlloc).find < runtime.(*mheap).allocSpan < runtime.mallocgcLarge < main.f", cause.AllocHeap},
	{"runtime.memclrNoHeapPointers < runtime.mallocgcSmallNoscan < runtime.mallocgc < main.f", cause.AllocZero},
	{"runtime.sysHugePageOS < runtime.sysHugePage < runtime.(*mheap).grow < runtime.(*mheap).allocSpan < runtime.mallocgc < main.f", cause.AllocHeap},
	{"runtime.adjustframe < runtime.copystack < runtime.newstack < runtime.morestack < main.deep", cause.AllocStackGrowth},
	{"runtime.lock2 < runtime.(*mheap).allocSpan < runtime.(*mheap).allocManual < runtime.stackalloc < runtime.copystack < runtime.newstack < runtime.morestack < main.deep", cause.AllocStackGrowth},
	{"runtime.stackcacherelease < runtime.stackfree < main.deep", cause.AllocStackGrowth},
	{"runtime.gopreempt_m < runtime.newstack < runtime.morestack", cause.SchedPreempt},
	{"runtime.morestack < main.deep", cause.AllocStackGrowth},
	{"runtime.futexwakeup < runtime.notewakeup < runtime.startm < runtime.wakep < runtime.newproc.func1 < runtime.systemstack < runtime.newproc < main.f", cause.SchedSpawn},
	{"runtime.mallocgc < runtime.malg < runtime.newproc1 < runtime.newproc < main.f", cause.SchedSpawn},
	{"runtime.gdestroy < runtime.goexit0 < runtime.mcall", cause.SchedSpawn},
	{"runtime.stealWork < runtime.findRunnable < runtime.schedule < runtime.goexit0 < runtime.mcall", cause.SchedFind},

	// Locks of the user's, down to the wake-ups and the runtime's locks inside.
	{"sync/atomic.(*Int32).Add < sync.(*RWMutex).RLock < main.f", cause.LockRWMutex},
	{"internal/sync.(*Mutex).Lock < sync.(*Mutex).Lock < sync.(*RWMutex).Lock < main.f", cause.LockRWMutex},
	{"internal/sync.(*Mutex).lockSlow < internal/sync.(*Mutex).Lock < sync.(*Mutex).Lock < main.f", cause.LockMutex},
	{"runtime.procyieldAsm < runtime.procyield < internal/sync.runtime_doSpin < internal/sync.(*Mutex).lockSlow < main.f", cause.LockMutex},
	{"runtime.futexwakeup < runtime.wakep < runtime.ready < runtime.goready < runtime.readyWithTime < runtime.semrelease1 < internal/sync.runtime_Semrelease < internal/sync.(*Mutex).unlockSlow < main.f", cause.LockMutex},
	{"runtime.lock2 < runtime.semacquire1 < internal/sync.runtime_SemacquireMutex < main.f", cause.LockMutex},
	{"sync.(*Once).Do < main.f", cause.LockMutex},
	{"runtime.semacquire1 < sync.runtime_Semacquire < main.f", cause.LockMutex},
	{"main.init1 < sync.(*Once).doSlow < sync.(*Once).Do < main.f", cause.WorkUser},
	{"main.f.func1 < sync.(*Map).Range < main.f", cause.WorkUser},
	{"internal/sync.(*HashTrieMap[...]).Load < sync.(*Map).Load < main.f", cause.LockMap},
	{"internal/sync.(*HashTrieMap[go.shape.interface {},go.shape.interface {}]).LoadOrStore < sync.(*Map).LoadOrStore < main.f", cause.LockMap},
	{"sync.(*Pool).pin < sync.(*Pool).Get < main.f", cause.LockPool},
	{"main.newBuf < sync.(*Pool).Get < main.f", cause.WorkUser},
	{"sync.(*WaitGroup).Add < sync.(*WaitGroup).Done < main.f", cause.LockWaitGroup},
	{"sync.(*Cond).Signal < main.f", cause.LockCond},
	{"context.(*cancelCtx).Done < main.f", cause.LockMutex},
	{"sync/atomic.CompareAndSwapUint64 < internal/poll.(*fdMutex).rwlock < internal/poll.(*FD).writeLock < internal/poll.(*FD).Write < os.(*File).Write < main.f", cause.LockMutex},
	{"runtime.lock2 < runtime.sellock < runtime.selectgo < main.f", cause.LockSelect},
	{"runtime.chanrecv < runtime.selectnbrecv < main.f", cause.LockChannel},
	{"runtime.futexwakeup < runtime.notewakeup < runtime.startm < runtime.wakep < runtime.ready < runtime.goready.func1 < runtime.systemstack < runtime.goready < runtime.send < runtime.chansend < runtime.chansend1 < main.f", cause.LockChannel},
	{"runtime.unlock2Wake < runtime.unlock2 < runtime.chanparkcommit < runtime.park_m < runtime.mcall", cause.LockChannel},
	{"runtime.lock2 < runtime.chanrecv < runtime.chanrecv1 < main.f", cause.LockChannel},

	// The scheduler.
	{"runtime.usleep < runtime.runqgrab < runtime.runqsteal < runtime.stealWork < runtime.findRunnable < runtime.schedule < runtime.park_m < runtime.mcall", cause.SchedFind},
	{"runtime.futex < runtime.futexsleep < runtime.notesleep < runtime.mPark < runtime.stopm < runtime.findRunnable < runtime.schedule < runtime.park_m < runtime.mcall", cause.SchedFind},
	{"runtime.lock2 < runtime.findRunnable < runtime.schedule < runtime.park_m < runtime.mcall", cause.LockRuntime},
	{"runtime.execute < runtime.schedule < runtime.park_m < runtime.mcall", cause.SchedSwitch},
	{"gogo", cause.SchedSwitch},
	{"runtime.usleep < runtime.sysmon < runtime.mstart1 < runtime.mstart0 < runtime.mstart", cause.SchedPreempt},
	{"runtime.Gosched < main.f", cause.SchedPreempt},
	{"internal/runtime/syscall/linux.Syscall6 < internal/runtime/syscall/linux.EpollWait < runtime.netpoll < runtime.findRunnable < runtime.schedule < runtime.mcall", cause.SchedNetpoll},
	{"runtime.lock2 < runtime.(*timers).lock < runtime.(*timer).maybeAdd < runtime.(*timer).modify < runtime.resetForSleep < runtime.park_m < runtime.mcall", cause.SchedTimers},
	{"time.newTimer < time.NewTimer < main.f", cause.SchedTimers},
	{"runtime.nanotime < runtime.(*timers).check < runtime.findRunnable < runtime.schedule < runtime.goschedImpl < runtime.gosched_m < runtime.mcall", cause.SchedFind},
	{"time.goFunc < runtime.(*timer).unlockAndRun < runtime.(*timers).run < runtime.(*timers).check < runtime.findRunnable < runtime.schedule < runtime.mcall", cause.SchedTimers},
	{"runtime.traceLocker.ok < runtime.goschedImpl < runtime.gosched_m < runtime.mcall", cause.SchedPreempt},
	{"runtime.unlock2 < runtime.unlockWithRank < runtime.unlock < runtime.wakep < runtime.goschedImpl < runtime.gosched_m < runtime.mcall", cause.SchedFind},
	{"runtime.osyield < runtime.somethingNew < runtime.mstart", cause.SchedFind},
	{"runtime.unlock", cause.LockRuntime},
	{"runtime.unlock < runtime.wakep < runtime.ready < runtime.goroutineReady", cause.LockRuntime},
	{"runtime._LostContendedRuntimeLock", cause.LockRuntime},
	{"runtime.unlock < runtime.(*mheap).freeSpan.func1 < runtime.systemstack < runtime.(*mheap).freeSpan < runtime.(*sweepLocked).sweep < runtime.bgsweep", cause.GCSweep},

	// Calls out of Go.
	{"internal/runtime/syscall/linux.Syscall6 < syscall.RawSyscall6 < syscall.Syscall < syscall.write < syscall.Write < internal/poll.ignoringEINTRIO < internal/poll.(*FD).Write < os.(*File).Write < main.f", cause.IOSyscall},
	{"internal/runtime/syscall/linux.Syscall6 < syscall.Syscall < syscall.read < syscall.Read < internal/poll.(*FD).Read < net.(*netFD).Read < net.(*conn).Read < main.f", cause.IOSyscall},
	{"internal/poll.(*FD).Read < net.(*netFD).Read < net.(*conn).Read < main.f", cause.IONetwork},
	{"internal/poll.(*FD).Read < os.(*File).Read < main.f", cause.IOSyscall},
	{"internal/poll.runtime_pollReset < internal/poll.(*pollDesc).prepare < internal/poll.(*FD).Read < net.(*netFD).Read < main.f", cause.SchedNetpoll},
	{"runtime.exitsyscall < syscall.Syscall < main.f", cause.IOSyscall},
	{"runtime.lock2 < runtime.exitsyscall < syscall.Syscall < main.f", cause.LockRuntime},
	{"golang.org/x/sys/unix.Syscall < golang.org/x/sys/unix.Mmap < main.f", cause.IOSyscall},
	{"runtime.cgocall < main._Cfunc_work < main.f", cause.IOCgo},
	{"main._Cfunc_work < main.f", cause.IOCgo},
	{"main.callback < _cgoexp_123_callback < runtime.cgocallbackg1 < runtime.cgocallbackg < runtime.cgocallback < runtime.cgocall < main._Cfunc_work", cause.WorkUser},
}

func TestStack(t *testing.T) {
	for _, tt := range stacks {
		var frames []string
		if tt.frames != "" {
			frames = strings.Split(tt.frames, " < ")
		}
		got, rule := Explain(of(frames...))
		if got != tt.want {
			t.Errorf("%s\n\tis %s by rule %q, want %s", tt.frames, got, rule.Name, tt.want)
		}
		if again := Stack(of(frames...)); again != got {
			t.Errorf("%s: Stack says %s, Explain %s", tt.frames, again, got)
		}
	}
}

func TestWaitCause(t *testing.T) {
	for _, tt := range []struct {
		reason, frames string
		want           cause.ID
	}{
		{"sync", "sync.(*Mutex).Lock < main.f", cause.LockMutex},
		{"sync", "internal/sync.(*Mutex).lockSlow < internal/sync.(*Mutex).Lock < sync.(*Mutex).Lock < sync.(*RWMutex).Lock < main.f", cause.LockRWMutex},
		{"sync", "sync.(*RWMutex).RLock < main.f", cause.LockRWMutex},
		{"sync", "sync.(*WaitGroup).Wait < main.f", cause.LockWaitGroup},
		{"sync", "sync.(*Mutex).Lock < sync.(*Pool).pinSlow < main.f", cause.LockPool},
		{"sync", "sync.(*Mutex).Lock < sync.(*Map).LoadOrStore < main.f", cause.LockMap},
		{"sync", "sync.(*Mutex).Lock < sync.(*Once).doSlow < sync.(*Once).Do < main.f", cause.LockMutex},
		{"sync", "internal/poll.(*fdMutex).rwlock < internal/poll.(*FD).writeLock < internal/poll.(*FD).Write < os.(*File).Write < main.f", cause.LockMutex},
		{"sync", "runtime.gcStart < runtime.mallocgc < main.f", cause.GCSTW},
		{"sync", "runtime.gcMarkDone < runtime.gcAssistAlloc < runtime.mallocgc < main.f", cause.GCAssistWait},
		{"sync", "runtime.stopTheWorldGC < runtime.ReadMemStats < main.f", cause.GCSTW},
		{"sync", "", cause.LockMutex},
		{"sync.(*Cond).Wait", "sync.(*Cond).Wait < main.f", cause.LockCond},
		{"chan send", "runtime.chansend1 < main.f", cause.LockChannel},
		{"chan receive", "runtime.chanrecv2 < main.f", cause.LockChannel},
		{"chan receive", "", cause.LockChannel},
		{"select", "runtime.selectgo < main.f", cause.LockSelect},
		{"network", "internal/poll.(*FD).Read < net.(*netFD).Read < main.f", cause.IONetwork},
		{"sleep", "time.Sleep < main.f", cause.IOSleep},
		{"forever", "main.f", cause.BalanceSerial},
		{"preempted", "main.f", cause.GCMark},
		{"GC mark assist wait for work", "runtime.gcParkAssist < runtime.gcAssistAlloc < runtime.mallocgc < main.f", cause.GCAssistWait},
		{"wait until GC ends", "runtime.GC < main.f", cause.GCMark},
		{"GC weak to strong wait", "unique.Make < main.f", cause.GCMark},
		{"", "runtime.chanrecv1 < main.f", cause.LockChannel},
		{"", "sync.(*Mutex).Lock < main.f", cause.LockMutex},
		{"", "time.Sleep < main.f", cause.IOSleep},
		{"", "main.f", cause.Unexplained},
		{"a reason of a later Go", "main.f", cause.Unexplained},
		{"sync", "sync.(*WaitGroup).Wait < github.com/scaleprof/scaleprof/internal/capture/child.run", cause.ObserverHarness},
		{"chan receive", "runtime.traceStartReadCPU.func1 < runtime.goexit", cause.ObserverProfiling},
	} {
		var frames []string
		if tt.frames != "" {
			frames = strings.Split(tt.frames, " < ")
		}
		if got := WaitCause(tt.reason, len(frames), func(i int) string { return frames[i] }); got != tt.want {
			t.Errorf("WaitCause(%q, %s) = %s, want %s", tt.reason, tt.frames, got, tt.want)
		}
	}
}

// TestEveryWaitIsKnown keeps the causes of waits within the catalogue.
func TestEveryWaitIsKnown(t *testing.T) {
	for _, w := range waits {
		if _, ok := cause.Lookup(w.cause); !ok {
			t.Errorf("waits hold %s, which the catalogue lacks", w.cause)
		}
	}
	if last := waits[len(waits)-1]; last.reason != "" || last.near != 0 || last.owner != 0 || last.cause != cause.Unexplained {
		t.Error("the last rule of waits does not hold always")
	}
}

func TestParked(t *testing.T) {
	for _, tt := range []struct {
		frames string
		want   cause.ID
	}{
		{"runtime.gopark < runtime.netpollblock < internal/poll.runtime_pollWait < internal/poll.(*FD).Read < net.(*netFD).Read < main.f", cause.IONetwork},
		{"runtime.gopark < runtime.chanrecv < runtime.chanrecv1 < main.f", cause.LockChannel},
		{"time.Sleep < main.f", cause.IOSleep},
		{"runtime.gopark < runtime.goparkunlock < runtime.semacquire1 < internal/sync.runtime_SemacquireMutex < internal/sync.(*Mutex).lockSlow < main.f", cause.LockMutex},
		{"main.f", cause.WorkUser},
	} {
		if got := Parked(of(strings.Split(tt.frames, " < ")...)); got != tt.want {
			t.Errorf("Parked(%s) = %s, want %s", tt.frames, got, tt.want)
		}
	}
}
