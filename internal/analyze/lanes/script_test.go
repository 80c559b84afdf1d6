package lanes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// script is a stream of events made by hand. Times are small numbers of ns.
type script struct {
	t      int64
	list   []event
	on     map[int64]int64 // P of each running goroutine
	stacks map[string]trace.Stack
	err    error // after the events, nil for io.EOF
	at     int
}

// newScript starts procs Ps at time 0: those below lanes run lane goroutines
// 100, 101, … in their regions, the others are idle; lanes without a P are ready.
// The window begins at time 0.
func newScript(lanes, procs int) *script {
	s := &script{on: make(map[int64]int64), stacks: make(map[string]trace.Stack), t: -10}
	for p := range procs {
		to := trace.ProcIdle
		if p < lanes {
			to = trace.ProcRunning
		}
		s.procTo(int64(p), trace.ProcUndetermined, to)
	}
	for i := range lanes {
		g := int64(100 + i)
		if i < procs {
			s.on[g] = int64(i)
			s.add(event{kind: evGo, g: -1, p: int64(i), res: g, from: uint8(trace.GoUndetermined), to: uint8(trace.GoRunning)})
		} else {
			s.add(event{kind: evGo, g: -1, p: 0, res: g, from: uint8(trace.GoUndetermined), to: uint8(trace.GoRunnable)})
		}
		s.add(event{kind: evRegionBegin, g: g, name: recorder.RegionLane})
	}
	s.t = 0
	s.add(event{kind: evLog, g: 100, name: recorder.LogCategory, text: recorder.LogBegin})
	return s
}

func (s *script) add(ev event) {
	ev.time = s.t
	s.list = append(s.list, ev)
}

func (s *script) feed(_ context.Context, a *pass) error {
	for s.at < len(s.list) && !a.closed {
		ev := s.list[s.at]
		s.at++
		a.take(&ev)
	}
	if s.err != nil && !a.closed {
		return s.err
	}
	return io.EOF
}

// stack makes a call path from "leaf<…<root". Each function has one line and one address.
func (s *script) stack(path string) trace.Stack {
	if path == "" {
		return trace.NoStack
	}
	if st, ok := s.stacks[path]; ok {
		return st
	}
	var frames []trace.StackFrame
	for _, fn := range strings.Split(path, "<") {
		pc := uint64(0x1000)
		for _, c := range fn {
			pc = pc*31 + uint64(c)
		}
		frames = append(frames, trace.StackFrame{PC: pc, Func: fn, File: "x.go", Line: 1})
	}
	st := trace.MakeStack(frames)
	s.stacks[path] = st
	return st
}

func (s *script) at_(t int64) *script { s.t = t; return s }

func (s *script) procTo(p int64, from, to trace.ProcState) {
	s.add(event{kind: evProc, g: -1, p: -1, res: p, from: uint8(from), to: uint8(to)})
}

func (s *script) procStart(p int64) { s.procTo(p, trace.ProcIdle, trace.ProcRunning) }

func (s *script) procStop(p int64) { s.procTo(p, trace.ProcRunning, trace.ProcIdle) }

func (s *script) change(g int64, from, to trace.GoState, why reason, path string) {
	p, ok := s.on[g]
	if !ok {
		p = -1
	}
	st := s.stack(path)
	s.add(event{kind: evGo, g: g, p: p, res: g, from: uint8(from), to: uint8(to), reason: why, stack: st, tstack: st})
}

// spawn lets goroutine by create g, which is ready then.
func (s *script) spawn(g, by int64, start string) {
	p, ok := s.on[by]
	if !ok {
		p = -1
	}
	s.add(event{kind: evGo, g: by, p: p, res: g, from: uint8(trace.GoNotExist), to: uint8(trace.GoRunnable), tstack: s.stack(start), stack: s.stack("main.spawn")})
}

func (s *script) run(g, p int64) {
	s.on[g] = p
	s.add(event{kind: evGo, g: -1, p: p, res: g, from: uint8(trace.GoRunnable), to: uint8(trace.GoRunning)})
}

func (s *script) block(g int64, why reason, path string) {
	s.change(g, trace.GoRunning, trace.GoWaiting, why, path)
	delete(s.on, g)
}

func (s *script) stop(g int64, why reason, path string) {
	s.change(g, trace.GoRunning, trace.GoRunnable, why, path)
	delete(s.on, g)
}

func (s *script) exit(g int64) {
	s.change(g, trace.GoRunning, trace.GoNotExist, reasonNone, "")
	delete(s.on, g)
}

// wake lets goroutine by, -1 for none, end the wait of g.
func (s *script) wake(g, by int64, path string) {
	p, ok := s.on[by]
	if !ok {
		p = -1
	}
	s.add(event{kind: evGo, g: by, p: p, res: g, from: uint8(trace.GoWaiting), to: uint8(trace.GoRunnable), stack: s.stack(path)})
}

func (s *script) enter(g int64, path string) {
	s.change(g, trace.GoRunning, trace.GoSyscall, reasonNone, path)
}

func (s *script) rng(kind kind, r rng, scope int64, name, path string) {
	s.add(event{kind: kind, rng: r, res: scope, name: name, stack: s.stack(path)})
}

func (s *script) label(g int64, text string) { s.add(event{kind: evGoLabel, res: g, name: text}) }

func (s *script) sample(g int64, path string) {
	p, ok := s.on[g]
	if !ok {
		p = -1
	}
	s.add(event{kind: evSample, g: g, p: p, stack: s.stack(path)})
}

// finish ends lane g's region.
func (s *script) finish(g int64) { s.add(event{kind: evRegionEnd, g: g, name: recorder.RegionLane}) }

func (s *script) account(t *testing.T) *Account {
	t.Helper()
	a, err := account(context.Background(), s, Input{})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, a)
	return a
}

// checkSums is the identity that holds for every account.
func checkSums(t testing.TB, a *Account) {
	t.Helper()
	var sum int64
	for _, p := range a.Parts {
		if p.NS < 0 {
			t.Errorf("a part of %d ns: %s %s", p.NS, p.Cause, p.State)
		}
		sum += p.NS
	}
	if sum != a.SlotNS || a.SlotNS != a.WallNS*int64(len(a.Lanes)) {
		t.Errorf("parts add up to %d, slot time is %d, %d lanes of %d", sum, a.SlotNS, len(a.Lanes), a.WallNS)
	}
	for _, l := range a.Lanes {
		var sum int64
		for _, ns := range l.ByState {
			sum += ns
		}
		if sum != a.WallNS {
			t.Errorf("goroutine %d: states %v add up to %d of %d", l.Goroutine, l.ByState, sum, a.WallNS)
		}
	}
}

// rows is the account by cause, state, victim's leaf and culprit's leaf.
func rows(a *Account) []string {
	sums := make(map[string]int64)
	for _, p := range a.Parts {
		sums[fmt.Sprintf("%s %s %s<-%s", p.Cause, p.State, leafOr(p.Victim), leafOr(p.Culprit))] += p.NS
	}
	var out []string
	for k, ns := range sums {
		out = append(out, fmt.Sprintf("%s %d", k, ns))
	}
	slices.Sort(out)
	return out
}

func leafOr(s *Stack) string {
	if s == nil {
		return "-"
	}
	for _, f := range s.Frames {
		if strings.HasPrefix(f.Func, "main.") {
			return f.Func[len("main."):]
		}
	}
	return s.Frames[0].Func
}

func want(t *testing.T, a *Account, rowsWanted ...string) {
	t.Helper()
	slices.Sort(rowsWanted)
	if d := cmp.Diff(rowsWanted, rows(a)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

func total(a *Account, id cause.ID) int64 {
	var ns int64
	for _, p := range a.Parts {
		if p.Cause == id {
			ns += p.NS
		}
	}
	return ns
}

const (
	lockA   = "sync.(*Mutex).Lock<main.a"
	unlockA = "sync.(*Mutex).Unlock<main.a"
	unlockB = "sync.(*Mutex).Unlock<main.b"
	recvA   = "runtime.chanrecv1<main.recvA"
	recvB   = "runtime.chanrecv1<main.recvB"
	sendA   = "runtime.chansend1<main.sendA"
	sendB   = "runtime.chansend1<main.sendB"
	work    = "main.work"
)
