package classify

import "github.com/scaleprof/scaleprof/internal/analyze/cause"

// waitRule says what a parked goroutine waits for.
type waitRule struct {
	reason string // of the trace's transition, "" for any
	near   set    // a frame of the near part is in one of these, 0 for any
	owner  set    // the first frame of user code is in one of these, 0 for any
	cause  cause.ID
	why    string
}

// waits are tried in order. The reasons are those of runtime/traceruntime.go.
var waits = []waitRule{
	{owner: profiler, cause: cause.ObserverProfiling, why: "a recorder of ours"},
	{near: profiler, cause: cause.ObserverProfiling, why: "a recorder of the runtime"},
	{reason: "GC mark assist wait for work", cause: cause.GCAssistWait, why: "no credit left to allocate with"},
	{near: assist, cause: cause.GCAssistWait, why: "the same, where the reason is unknown"},
	{reason: "GC background sweeper wait", cause: cause.GCSweep},
	{reason: "GC weak to strong wait", cause: cause.GCMark, why: "a weak pointer is not resolved while marking ends"},
	{reason: "wait until GC ends", cause: cause.GCMark, why: "the program asked for a collection"},
	{reason: "preempted", cause: cause.GCMark, why: "suspended while its stack is scanned"},
	{near: gcStartWait, cause: cause.GCSTW, why: "another goroutine starts or ends a collection, or stops the world"},
	{near: mark, cause: cause.GCMark, why: "runtime.GC"},
	{reason: "sleep", cause: cause.IOSleep},
	{reason: "network", cause: cause.IONetwork},
	{owner: harness, cause: cause.ObserverHarness, why: "the measuring frame's own barrier"},
	{reason: "sync.(*Cond).Wait", cause: cause.LockCond},
	{near: rwmutex, cause: cause.LockRWMutex, why: "before Mutex, in which a writer waits"},
	{near: waitgroup, cause: cause.LockWaitGroup},
	{near: cond, cause: cause.LockCond},
	{near: pool, cause: cause.LockPool, why: "the mutex over all pools"},
	{near: syncMap, cause: cause.LockMap},
	{near: fdMutex, cause: cause.LockMutex, why: "one reader and one writer of a file descriptor at a time"},
	{near: mutex | once | semaphore, cause: cause.LockMutex},
	{reason: "select", cause: cause.LockSelect},
	{reason: "chan send", cause: cause.LockChannel},
	{reason: "chan receive", cause: cause.LockChannel},
	// From here on the stack alone, for waits that began before the trace did
	// and for profiles that carry no reason.
	{near: sleeping, cause: cause.IOSleep},
	{near: netpoll, cause: cause.IONetwork},
	{near: selecting, cause: cause.LockSelect},
	{near: channel, cause: cause.LockChannel},
	{reason: "sync", cause: cause.LockMutex, why: "a semaphore whose owner the stack does not show"},
	{reason: "forever", cause: cause.BalanceSerial, why: "an empty select or a nil channel: nothing will come"},
	{reason: "synctest", cause: cause.BalanceSerial},
	{near: cgo, cause: cause.IOCgo},
	{near: syscallLow | pollFD, cause: cause.IOSyscall, why: "blocked in the kernel"},
	{cause: cause.Unexplained, why: "neither the reason nor the stack tells"},
}

// WaitCause is the cause of the time that a goroutine is parked with a reason, as
// the execution trace spells it ("sync", "chan send", "GC mark assist wait for
// work"; "" where unknown), at a stack of n frames, leaf first. It says what the
// goroutine waits for, not who made it wait.
func WaitCause(reason string, n int, frame func(i int) string) cause.ID {
	f := observe(n, frame)
	for i := range waits {
		w := &waits[i]
		if (w.reason == "" || w.reason == reason) && (w.near == 0 || w.near&f.near != 0) && (w.owner == 0 || w.owner&f.owner != 0) {
			return w.cause
		}
	}
	return cause.Unexplained
}

// Parked is the cause of wall-clock time at a stack of a goroutine profile,
// leaf first: WaitCause where the goroutine is parked, else Stack.
func Parked(n int, frame func(i int) string) cause.ID {
	if n > 0 {
		switch frame(0) {
		case "runtime.gopark", "runtime.goparkunlock", "time.Sleep", "runtime.chanrecv1", "runtime.chansend1", "runtime.selectgo",
			"sync.runtime_notifyListWait", "internal/poll.runtime_pollWait":
			return WaitCause("", n, frame)
		}
	}
	return Stack(n, frame)
}
