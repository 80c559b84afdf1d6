package lanes

import "golang.org/x/exp/trace"

// kind says which fields of an event mean something.
type kind uint8

const (
	evOther kind = iota
	evSync
	evGo          // a goroutine's state changes: res, from, to, reason, tstack
	evProc        // a P's state changes: res, from, to
	evSample      // CPU sample: g, p, stack
	evRangeBegin  // rng; g or p is the scope
	evRangeActive // rng was on already; res is the scope
	evRangeEnd
	evGoLabel // res gets name
	evMetric  // metric, value
	evRegionBegin
	evRegionEnd
	evLog // category in name, text in text
)

// event is one event of a trace, reduced to what the accounting looks at. The
// pass is written against it, so that streams can be made by hand in tests.
type event struct {
	kind     kind
	from, to uint8 // trace.GoState or trace.ProcState
	reason   reason
	rng      rng
	metric   metric
	time     int64 // ns
	g        int64 // goroutine, P and thread in whose context it happened, before the event; -1 for none
	p        int64
	res      int64 // the goroutine or P that changes
	value    uint64
	name     string      // label, region type, log category, or what stopped the world; "" for frequent kinds
	text     string      // log message
	stack    trace.Stack // of the context
	tstack   trace.Stack // of the goroutine that changes, where it differs
}

// reason is why a goroutine stopped running.
type reason uint8

const (
	reasonNone reason = iota // unknown: before the trace's begin, or a coroutine switch
	reasonSync
	reasonCond
	reasonChanSend
	reasonChanRecv
	reasonSelect
	reasonNetwork
	reasonSleep
	reasonForever
	reasonPreempted
	reasonGosched
	reasonAssistWait
	reasonSweepWait
	reasonSystem
	reasonGCEnds
	reasonWeak
	reasonSynctest
	reasonOther
	numReasons
)

// reasonNames are the trace's own words (runtime/traceruntime.go).
var reasonNames = [numReasons]string{
	reasonNone: "", reasonSync: "sync", reasonCond: "sync.(*Cond).Wait", reasonChanSend: "chan send", reasonChanRecv: "chan receive",
	reasonSelect: "select", reasonNetwork: "network", reasonSleep: "sleep", reasonForever: "forever", reasonPreempted: "preempted",
	reasonGosched: "runtime.Gosched", reasonAssistWait: "GC mark assist wait for work", reasonSweepWait: "GC background sweeper wait",
	reasonSystem: "system goroutine wait", reasonGCEnds: "wait until GC ends", reasonWeak: "GC weak to strong wait",
	reasonSynctest: "synctest", reasonOther: "unspecified",
}

func reasonOf(s string) reason {
	switch s {
	case "":
		return reasonNone
	case "sync":
		return reasonSync
	case "chan receive":
		return reasonChanRecv
	case "chan send":
		return reasonChanSend
	case "preempted":
		return reasonPreempted
	case "runtime.Gosched":
		return reasonGosched
	}
	for r, name := range reasonNames {
		if name == s {
			return reason(r)
		}
	}
	return reasonOther
}

// rng is a kind of range.
type rng uint8

const (
	rngOther  rng = iota
	rngMark       // concurrent marking is on, the whole program
	rngSweep      // scope: a P
	rngAssist     // scope: a goroutine
	rngStop       // stop-the-world, scope: the goroutine that asked for it
)

// metric is one of the values that a trace carries.
type metric uint8

const (
	metricOther metric = iota
	metricHeapGoal
	metricProcs
)

const (
	markPhase  = "GC concurrent mark phase"
	sweepRange = "GC incremental sweep"
	assistName = "GC mark assist"
	stopPrefix = "stop-the-world ("
)

// convert fills out with what ev means to the accounting, and says whether it
// means anything. Only the fields that its kind has are set.
func convert(ev *trace.Event, out *event) bool {
	k := ev.Kind()
	if k == trace.EventMetric {
		// Half of all events: the heap grows.
		return convertMetric(ev, out)
	}
	out.time = int64(ev.Time())
	switch k {
	case trace.EventStateTransition:
		st := ev.StateTransition()
		if st.Resource.Kind == trace.ResourceProc {
			from, to := st.Proc()
			out.kind, out.from, out.to = evProc, uint8(from), uint8(to)
			out.res = int64(st.Resource.Proc())
			return true
		}
		from, to := st.Goroutine()
		out.kind, out.from, out.to = evGo, uint8(from), uint8(to)
		out.g, out.p = int64(ev.Goroutine()), int64(ev.Proc())
		out.res = int64(st.Resource.Goroutine())
		out.reason = reasonNone
		switch from {
		case trace.GoRunnable:
			if to == trace.GoRunning {
				out.stack, out.tstack = trace.NoStack, trace.NoStack
				return true
			}
		case trace.GoWaiting:
			out.stack, out.tstack = ev.Stack(), st.Stack // of who ends the wait
			return true
		case trace.GoRunning:
			if st.Reason != "" {
				out.reason = reasonOf(st.Reason)
			}
		}
		out.stack, out.tstack = st.Stack, st.Stack
		return true
	case trace.EventStackSample:
		out.kind = evSample
		out.g, out.p = int64(ev.Goroutine()), int64(ev.Proc())
		out.stack = ev.Stack()
		return true
	}
	return convertRare(ev, out)
}

func convertMetric(ev *trace.Event, out *event) bool {
	m := ev.Metric()
	switch m.Name {
	case "/gc/heap/goal:bytes":
		out.metric = metricHeapGoal
	case "/sched/gomaxprocs:threads":
		out.metric = metricProcs
	default:
		return false
	}
	out.kind, out.time, out.value = evMetric, int64(ev.Time()), m.Value.Uint64()
	return true
}

func convertRare(ev *trace.Event, out *event) bool {
	switch k := ev.Kind(); k {
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		convertRange(ev, out)
	case trace.EventLabel:
		l := ev.Label()
		if l.Resource.Kind != trace.ResourceGoroutine {
			return false
		}
		out.kind, out.res, out.name = evGoLabel, int64(l.Resource.Goroutine()), l.Label
	case trace.EventRegionBegin, trace.EventRegionEnd:
		out.kind = evRegionBegin
		if k == trace.EventRegionEnd {
			out.kind = evRegionEnd
		}
		out.g, out.name = int64(ev.Goroutine()), ev.Region().Type
	case trace.EventLog:
		l := ev.Log()
		out.kind, out.g, out.name, out.text = evLog, int64(ev.Goroutine()), l.Category, l.Message
	case trace.EventSync:
		out.kind = evSync
	default:
		return false
	}
	return true
}

func convertRange(ev *trace.Event, out *event) {
	r := ev.Range()
	switch ev.Kind() {
	case trace.EventRangeBegin:
		out.kind = evRangeBegin
	case trace.EventRangeActive:
		out.kind = evRangeActive
	default:
		out.kind = evRangeEnd
	}
	out.name, out.stack, out.res = "", ev.Stack(), -1
	switch r.Scope.Kind {
	case trace.ResourceGoroutine:
		out.res = int64(r.Scope.Goroutine())
	case trace.ResourceProc:
		out.res = int64(r.Scope.Proc())
	}
	switch {
	case r.Name == sweepRange:
		out.rng = rngSweep
	case r.Name == assistName:
		out.rng = rngAssist
	case r.Name == markPhase:
		out.rng = rngMark
	case len(r.Name) > len(stopPrefix) && r.Name[:len(stopPrefix)] == stopPrefix:
		out.rng = rngStop
		out.name = r.Name[len(stopPrefix) : len(r.Name)-1]
	default:
		out.rng = rngOther
	}
}
