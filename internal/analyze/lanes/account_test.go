package lanes

import (
	"errors"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

func TestPureCompute(t *testing.T) {
	s := newScript(2, 2)
	s.at_(50).sample(100, work)
	s.sample(101, "main.other<main.work")
	s.at_(100).finish(100)
	s.finish(101)
	want(t, s.account(t), "work/user on-cpu work<-- 100", "work/user on-cpu other<-- 100")
}

func TestTailIsChargedToWhatStillRan(t *testing.T) {
	s := newScript(2, 2)
	s.at_(10).sample(100, work)
	s.at_(40).finish(100)
	s.at_(50).sample(101, "main.late")
	s.at_(100).finish(101)
	want(t, s.account(t), "work/user on-cpu work<-- 70", "work/user on-cpu late<-- 70", "balance/tail done -<-late 60")
}

// A convoy: what a lane waits in Lock is little; the time until it runs, with a
// P idle, is the lock's all the same.
func TestConvoy(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(10).block(101, reasonSync, lockA)
	s.procStop(1)
	s.at_(14).wake(101, 100, unlockB)
	s.at_(20).procStart(1) // looks for work
	s.at_(30).run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 180", "lock/mutex waiting a<-b 4", "lock/mutex runnable a<-b 16")
	if len(a.Locks) != 1 || a.Locks[0].HandOver != 16 || a.Locks[0].WaitNS != 4 || a.Locks[0].Waits != 1 {
		t.Errorf("locks %+v", a.Locks)
	}
	if a.Sched.PIdleNS != 10 || a.Sched.PSearchNS != 10 || a.Sched.Latencies != 1 {
		t.Errorf("scheduler %+v", a.Sched)
	}
}

// One long holder and ten short ones behind it. Everybody queues while the long
// one holds the lock, and gets it from a short one.
func TestLongHolderGetsItsDue(t *testing.T) {
	s := newScript(12, 12)
	s.at_(1).sample(100, work)
	for i := range int64(11) {
		s.at_(10+i).block(101+i, reasonSync, lockA)
	}
	s.at_(1000)
	s.wake(101, 100, "sync.(*Mutex).Unlock<main.long")
	s.run(101, 1)
	for i := range int64(10) {
		s.at_(1000+(i+1)*10).wake(102+i, 101+i, "sync.(*Mutex).Unlock<main.short")
		s.run(102+i, 2+i)
	}
	s.at_(2000)
	for i := range int64(12) {
		s.finish(100 + i)
	}
	a := s.account(t)
	long, short := int64(0), int64(0)
	for _, p := range a.Parts {
		if p.Cause == cause.LockMutex && p.State == Waiting {
			switch leafOr(p.Culprit) {
			case "long":
				long += p.NS
			case "short":
				short += p.NS
			}
		}
	}
	// Eleven waited for the long one from 10, 11, … to 1000; the k-th in the queue
	// behind k short ones of 10.
	if wantLong, wantShort := int64(11*990-55), int64(550); long != wantLong || short != wantShort {
		t.Errorf("the long holder is charged %d, want %d; the short ones %d, want %d", long, wantLong, short, wantShort)
	}
}

// The holder of a lock waits for another one: its holder is to blame.
func TestNestedLocksCascade(t *testing.T) {
	s := newScript(3, 3)
	s.at_(1).sample(100, work)
	s.at_(10).block(101, reasonSync, "sync.(*Mutex).Lock<main.inner")
	s.at_(20).block(102, reasonSync, "sync.(*Mutex).Lock<main.outer")
	s.at_(60).wake(101, 100, "sync.(*Mutex).Unlock<main.innermost")
	s.run(101, 1)
	s.at_(70).wake(102, 101, "sync.(*Mutex).Unlock<main.middle")
	s.run(102, 2)
	s.at_(100).finish(100)
	s.finish(101)
	s.finish(102)
	want(t, s.account(t), "work/user on-cpu work<-- 200",
		"lock/mutex waiting inner<-innermost 50", "lock/mutex waiting outer<-innermost 40", "lock/mutex waiting outer<-middle 10")
}

// The waker ran the program's code all the while: a serial part of the program.
func TestSerialSection(t *testing.T) {
	s := newScript(2, 2)
	s.at_(10).block(101, reasonCond, "sync.(*Cond).Wait<main.barrier")
	s.procStop(1)
	for i := range int64(4) {
		s.at_(20+i*10).sample(100, "main.serial")
	}
	s.at_(80).wake(101, 100, "sync.(*Cond).Broadcast<main.serial")
	s.procStart(1)
	s.run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	want(t, s.account(t), "work/user on-cpu serial<-- 130", "balance/serial waiting barrier<-serial 70")
}

// A goroutine that is no lane makes what the lane needs: serial as well, but the
// part of its time that is the channel's stays the channel's.
func TestProducer(t *testing.T) {
	s := newScript(1, 2)
	s.at_(1).spawn(7, 1, "main.producer")
	s.procStart(1)
	s.run(7, 1)
	s.at_(5).sample(100, work)
	s.at_(10).block(100, reasonChanRecv, recvA)
	for i := range int64(3) {
		s.at_(20+i*10).sample(7, "main.make<main.producer")
	}
	s.at_(50).sample(7, "runtime.lock2<runtime.chansend<runtime.chansend1<main.producer")
	s.at_(90).wake(100, 7, "runtime.chansend1<main.producer")
	s.run(100, 0)
	s.at_(100).finish(100)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 20", "balance/serial waiting recvA<-producer 60", "lock/channel waiting recvA<-producer 20")
	if len(a.Others) != 1 || a.Others[0].Start != "main.producer" {
		t.Errorf("others %+v", a.Others)
	}
}

// Two lanes take turns through a channel: each waits where the other one waits.
func TestTurnsThroughAChannel(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(2).block(101, reasonChanRecv, recvA)
	for i := range int64(4) {
		at := 10 + i*20
		me, you := 100+i%2, 101-i%2
		s.at_(at).wake(you, me, sendA)
		s.at_(at+5).run(you, you-100)
		s.at_(at+6).block(me, reasonChanRecv, recvA)
	}
	s.at_(90).wake(101, 100, sendA)
	s.run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	if got := total(a, cause.BalanceSerial); got != 0 {
		t.Errorf("balance/serial %d", got)
	}
	if w, l := total(a, cause.WorkUser), total(a, cause.LockChannel); w+l != a.SlotNS || l == 0 {
		t.Errorf("work/user %d, lock/channel %d of %d", w, l, a.SlotNS)
	}
}

// Whom the waker itself waited for is to blame: a chain of three.
func TestWaitsCascade(t *testing.T) {
	s := newScript(3, 3)
	s.at_(1).sample(100, work)
	s.at_(10).block(101, reasonChanRecv, recvA)
	s.at_(12).block(102, reasonChanRecv, recvB)
	s.at_(50).wake(101, 100, sendA)
	s.run(101, 1)
	s.at_(60).wake(102, 101, sendB)
	s.run(102, 2)
	s.at_(100).finish(100)
	s.finish(101)
	s.finish(102)
	want(t, s.account(t), "work/user on-cpu work<-- 212",
		"balance/serial waiting recvA<-sendA 40", "balance/serial waiting recvB<-sendB 48")
}

// A lane that waits for goroutines of its own works through them.
func TestForkJoin(t *testing.T) {
	s := newScript(1, 2)
	s.at_(5).sample(100, work)
	s.at_(10).spawn(200, 100, "main.child")
	s.spawn(201, 100, "main.child")
	s.block(100, reasonSync, "sync.(*WaitGroup).Wait<main.join")
	s.run(200, 0)
	s.at_(15).procStart(1)
	s.at_(20).run(201, 1)
	s.at_(30).sample(200, "main.half<main.child")
	s.at_(40).exit(200)
	s.at_(50).sample(201, "main.half<main.child")
	s.at_(60).wake(100, 201, "sync.(*WaitGroup).Done<main.child")
	s.exit(201)
	s.at_(63).run(100, 1)
	s.at_(100).finish(100)
	want(t, s.account(t), "work/user on-cpu work<-- 47", "work/user on-cpu half<-- 50", "sched/wake-latency runnable join<-child 3")
}

func TestMarkWorkerHoldsAP(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(2).spawn(7, 1, "runtime.gcBgMarkWorker.func1")
	s.at_(10).stop(101, reasonPreempted, work)
	s.run(7, 1)
	s.label(7, "GC (dedicated)")
	s.at_(60).block(7, reasonSystem, "runtime.gopark<runtime.gcBgMarkWorker")
	s.at_(64).run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 146", "gc/mark runnable work<-- 50", "sched/preempt runnable work<-- 4")
	if a.GC.DedicatedNS != 50 {
		t.Errorf("dedicated mark time %d", a.GC.DedicatedNS)
	}
}

func TestIdleMarkWorkerCostsNothing(t *testing.T) {
	s := newScript(1, 2)
	s.at_(1).sample(100, work)
	s.spawn(7, 1, "runtime.gcBgMarkWorker.func1")
	s.procStart(1)
	s.run(7, 1)
	s.label(7, "GC (idle)")
	s.at_(50).block(7, reasonSystem, "runtime.gopark<runtime.gcBgMarkWorker")
	s.at_(100).finish(100)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 100")
	if a.GC.IdleNS != 49 {
		t.Errorf("idle mark time %d", a.GC.IdleNS)
	}
}

func TestMoreGoroutinesThanPs(t *testing.T) {
	s := newScript(3, 2)
	s.at_(1).sample(100, work)
	s.at_(50).stop(100, reasonPreempted, work)
	s.run(102, 0)
	s.at_(100).finish(101)
	s.finish(102)
	s.finish(100)
	a := s.account(t)
	if got := total(a, cause.BalanceQueue); got != 100 {
		t.Errorf("balance/queue %d, want 100: %v", got, rows(a))
	}
}

// Another goroutine of the program holds the P: its queue, with its name.
func TestQueueNamesTheCulprit(t *testing.T) {
	s := newScript(1, 1)
	s.at_(1).sample(100, work)
	s.at_(5).spawn(7, 1, "main.poller")
	s.at_(10).stop(100, reasonPreempted, work)
	s.run(7, 0)
	s.at_(40).block(7, reasonSleep, "time.Sleep<main.poller")
	s.at_(41).run(100, 0)
	s.at_(100).finish(100)
	want(t, s.account(t), "work/user on-cpu work<-- 69", "balance/queue runnable work<-poller 30", "sched/preempt runnable work<-- 1")
}

// A P that runs no goroutine searches; that is no queue, whoever is in the way.
func TestSearchingPIsNoQueue(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(10).block(101, reasonChanRecv, recvA)
	s.at_(20).wake(101, 100, sendA) // P 1 searches all the while
	s.at_(90).run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	if got := total(a, cause.BalanceQueue); got != 0 {
		t.Errorf("balance/queue %d", got)
	}
	if got := total(a, cause.LockChannel); got != 70 {
		t.Errorf("lock/channel %d, want 70: %v", got, rows(a))
	}
}

func TestSystemCalls(t *testing.T) {
	const write = "syscall.write<main.write"
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	// Keeps its P.
	s.at_(10).enter(100, write)
	s.at_(30).change(100, trace.GoSyscall, trace.GoRunning, reasonNone, "")
	// Loses its P, and gets one again only later.
	s.at_(40).enter(101, write)
	s.at_(50).procStop(1)
	s.at_(80).change(101, trace.GoSyscall, trace.GoRunnable, reasonNone, "")
	s.at_(85).procStart(1)
	s.at_(90).run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 130",
		"io/syscall on-cpu write<-- 30", "io/syscall syscall write<-- 30", "io/syscall runnable write<-- 10")
}

func TestCgoCall(t *testing.T) {
	s := newScript(1, 1)
	s.at_(1).sample(100, work)
	s.at_(10).enter(100, "main._Cfunc_compute<main.call")
	s.at_(30).change(100, trace.GoSyscall, trace.GoRunning, reasonNone, "")
	s.at_(100).finish(100)
	want(t, s.account(t), "work/user on-cpu work<-- 80", "io/cgo on-cpu _Cfunc_compute<-- 20")
}

// An assist's range spans parks: only its running time is marking.
func TestAssistSpansAPark(t *testing.T) {
	s := newScript(1, 1)
	s.at_(1).sample(100, work)
	s.at_(10).rng(evRangeBegin, rngAssist, 100, "", "runtime.traceLocker.GCMarkAssistStart<runtime.gcAssistAlloc<runtime.mallocgc<main.alloc")
	s.at_(15).sample(100, "runtime.gcDrainN<runtime.gcAssistAlloc<main.alloc")
	s.at_(20).block(100, reasonAssistWait, "runtime.gcParkAssist<runtime.gcAssistAlloc<runtime.mallocgc<main.alloc")
	s.at_(50).wake(100, -1, "")
	s.at_(52).run(100, 0)
	s.at_(60).rng(evRangeEnd, rngAssist, 100, "", "")
	s.at_(100).finish(100)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 50", "gc/assist on-cpu alloc<-- 18", "gc/assist-wait waiting alloc<-- 30", "gc/assist-wait runnable alloc<-- 2")
	if a.GC.Assists != 1 || a.GC.AssistNS != 18 {
		t.Errorf("%d assists of %d ns", a.GC.Assists, a.GC.AssistNS)
	}
}

func TestSweepAndStopTheWorld(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(10).rng(evRangeBegin, rngSweep, 0, "", "runtime.(*mcentral).cacheSpan<main.alloc")
	s.at_(15).rng(evRangeEnd, rngSweep, 0, "", "")
	// Lane 100 starts a collection: the world stops, lane 101 with it.
	s.at_(20).rng(evRangeBegin, rngStop, 100, "GC sweep termination", "runtime.gcStart<runtime.mallocgc<main.alloc")
	s.at_(22).stop(101, reasonPreempted, work)
	s.procStop(1)
	s.at_(30).rng(evRangeEnd, rngStop, 100, "GC sweep termination", "")
	s.rng(evRangeBegin, rngMark, -1, "", "")
	s.at_(33).procStart(1)
	s.at_(34).run(101, 1)
	s.at_(60).rng(evRangeEnd, rngMark, -1, "", "")
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 173", "gc/sweep on-cpu alloc<-- 5", "gc/stw on-cpu alloc<-- 10",
		"gc/stw stopped work<-- 8", "gc/stw runnable work<-- 4")
	if a.GC.Pauses != 1 || a.GC.PauseNS != 10 || a.GC.WorstPauseNS != 10 || a.GC.Cycles != 1 || a.GC.MarkNS != 30 || a.GC.SweepNS != 5 {
		t.Errorf("gc %+v", a.GC)
	}
	if a.Lanes[1].ByState[Stopped] != 8 {
		t.Errorf("stopped %d", a.Lanes[1].ByState[Stopped])
	}
}

// A program that stops the world itself is the culprit of what others lose.
func TestUserStopsTheWorld(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(20).rng(evRangeBegin, rngStop, 100, "read mem stats", "runtime.stopTheWorldGC<runtime.ReadMemStats<main.stats")
	s.at_(22).stop(101, reasonPreempted, work)
	s.procStop(1)
	s.at_(30).rng(evRangeEnd, rngStop, 100, "read mem stats", "")
	s.at_(34).procStart(1)
	s.run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 178", "gc/stw on-cpu stats<-- 10", "gc/stw stopped work<-stats 8", "gc/stw runnable work<-stats 4")
	if a.GC.Pauses != 0 {
		t.Errorf("%d pauses of the collector", a.GC.Pauses)
	}
}

func TestCollectorWaits(t *testing.T) {
	for _, c := range []struct {
		why   reason
		stack string
		cause cause.ID
	}{
		{reasonSync, "runtime.semacquire<runtime.gcStart<runtime.mallocgc<main.alloc", cause.GCSTW},
		{reasonSync, "runtime.semacquire<runtime.stopTheWorldGC<runtime.ReadMemStats<main.stats", cause.GCSTW},
		{reasonSync, "runtime.semacquire<runtime.gcMarkDone<runtime.gcAssistAlloc<main.alloc", cause.GCAssistWait},
		{reasonPreempted, "runtime.asyncPreempt2<main.work", cause.GCMark},
		{reasonGCEnds, "runtime.GC<main.work", cause.GCMark},
		{reasonSleep, "time.Sleep<main.work", cause.IOSleep},
		{reasonNetwork, "internal/poll.runtime_pollWait<internal/poll.(*FD).Read<main.work", cause.IONetwork},
	} {
		s := newScript(1, 1)
		s.at_(1).sample(100, work)
		s.at_(10).block(100, c.why, c.stack)
		s.at_(40).wake(100, -1, "")
		s.run(100, 0)
		s.at_(100).finish(100)
		a := s.account(t)
		if got := total(a, c.cause); got != 30 {
			t.Errorf("%s at %s: %s is %d, want 30: %v", reasonNames[c.why], c.stack, c.cause, got, rows(a))
		}
	}
}

// A new generation repeats every state, without a reason: nothing changes.
func TestGenerationBoundary(t *testing.T) {
	s := newScript(2, 2)
	s.at_(1).sample(100, work)
	s.at_(10).block(101, reasonSync, lockA)
	s.at_(20).add(event{kind: evSync})
	for p := range int64(2) {
		s.procTo(p, trace.ProcRunning, trace.ProcRunning)
	}
	s.change(100, trace.GoRunning, trace.GoRunning, reasonNone, "")
	s.change(101, trace.GoWaiting, trace.GoWaiting, reasonNone, "")
	s.at_(40).wake(101, 100, unlockB)
	s.run(101, 1)
	s.at_(100).finish(100)
	s.finish(101)
	want(t, s.account(t), "work/user on-cpu work<-- 170", "lock/mutex waiting a<-b 30")
}

// A wait that began before the trace has no reason; if it was for the start
// barrier, it is the harness's.
func TestWaitsFromBeforeTheWindow(t *testing.T) {
	s := newScript(1, 2)
	s.list = s.list[:2] // Ps only
	s.t = -5
	s.add(event{kind: evGo, g: -1, p: -1, res: 100, from: uint8(trace.GoUndetermined), to: uint8(trace.GoWaiting), tstack: s.stack("runtime.chanrecv1<main.lane")})
	s.add(event{kind: evRegionBegin, g: 100, name: "scaleprof.lane"})
	s.at_(0).add(event{kind: evLog, g: 1, name: "scaleprof", text: "window begin"})
	s.at_(10).wake(100, 1, "runtime.closechan<main.main")
	s.run(100, 0)
	s.at_(20).sample(100, work)
	s.at_(100).finish(100)
	want(t, s.account(t), "work/user on-cpu work<-- 90", "observer/harness waiting lane<-- 10")
}

func TestTruncatedTrace(t *testing.T) {
	s := newScript(2, 2)
	s.at_(10).sample(100, work)
	s.at_(20).block(101, reasonSync, lockA)
	s.at_(60).sample(100, work)
	s.at_(70).rng(evRangeBegin, rngMark, -1, "", "")
	s.err = errors.New("incomplete generation")
	a := s.account(t)
	want(t, a, "work/user on-cpu work<-- 90", "lock/mutex waiting a<-- 50")
	if !a.Truncated || len(a.Warnings) == 0 {
		t.Errorf("truncated %v, warnings %q", a.Truncated, a.Warnings)
	}
}

func TestNothingToAccount(t *testing.T) {
	s := newScript(2, 2)
	s.list = s.list[:0]
	if _, err := account(t.Context(), s, Input{}); !errors.Is(err, ErrNoWindow) {
		t.Errorf("error %v", err)
	}
}

// Goroutines of the runtime that yield all the time are nobody's queue.
func TestSystemGoroutinesDoNotQueue(t *testing.T) {
	s := newScript(1, 1)
	s.at_(1).sample(100, work)
	s.spawn(7, 1, "runtime.bgsweep")
	s.at_(10).stop(100, reasonPreempted, work)
	s.run(7, 0)
	s.at_(14).stop(7, reasonGosched, "runtime.Gosched<runtime.goschedIfBusy<runtime.bgsweep")
	s.run(100, 0)
	s.at_(100).finish(100)
	want(t, s.account(t), "work/user on-cpu work<-- 96", "gc/sweep runnable work<-- 4")
}
