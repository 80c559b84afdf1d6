package capture

import (
	"context"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Machine is what a capture asks of the machine that it runs on. Tests bring
// their own.
type Machine interface {
	Info() host.Info
	FreeMemory() int64 // bytes, 0 if unknown
	// Read is what the machine has done since it started; only differences count.
	Read() host.SystemCounters
	// CPU is the CPU time of a process so far, in ns; false if it is gone.
	CPU(pid int) (int64, bool)
	SelfCPU() (int64, bool)
	// Bounce is the core-to-core hand-over latency now, in ns; false if unknown.
	Bounce() (float64, bool)
	// Kernels runs every calibration kernel once at the given T.
	Kernels(ctx context.Context, threads int) ([]record.KernelRun, error)
}

// window reads the machine around the measured part of a run.
type window struct {
	m      Machine
	before host.SystemCounters
	own    map[int]int64 // CPU time of each process at the window's begin
	self   int64
	selfOK bool
	ended  bool
	system record.System
	closed bool
	selfNS *int64 // CPU time of scaleprof itself
}

func (w *window) Open(pids []int) {
	if ns, ok := w.m.Bounce(); ok {
		w.system.BounceNS = &ns
	}
	w.own = make(map[int]int64, len(pids))
	for _, pid := range pids {
		if ns, ok := w.m.CPU(pid); ok {
			w.own[pid] = ns
		}
	}
	w.Begin()
}

func (w *window) Begin() {
	w.self, w.selfOK = w.m.SelfCPU()
	w.before = w.m.Read()
}

func (w *window) Close(pids []int) {
	if !w.ended {
		w.End()
		w.system.OwnNS = w.ownTime(pids)
	}
	if ns, ok := w.m.Bounce(); ok {
		w.system.BounceEndNS = &ns
	}
}

func (w *window) End() {
	d := w.m.Read().Sub(w.before)
	w.closed, w.ended = true, true
	if now, ok := w.m.SelfCPU(); ok && w.selfOK {
		ns := now - w.self
		w.selfNS = &ns
	}
	s := &w.system
	s.BusyNS, s.BusyFrom, s.StealNS = d.BusyNS, d.BusyFrom, d.StealNS
	s.ThrottledNS, s.NrThrottled = d.ThrottledNS, d.NrThrottled
	s.RunnableAvg = d.RunnableAvg
}

// adopt takes the CPU time of the run from the executor that knows it, and cuts
// what was counted to the wall time where the window was open for longer or
// shorter.
func (w *window) adopt(out *Outcome) {
	s := &w.system
	s.LoadNS = out.LoadNS
	if out.OwnNS != nil && w.selfNS != nil {
		ns := *out.OwnNS + *w.selfNS
		s.OwnNS = &ns
	}
	if out.WindowNS <= 0 || out.WindowNS == out.WallNS {
		return
	}
	scale := float64(out.WallNS) / float64(out.WindowNS)
	for _, p := range []**int64{&s.BusyNS, &s.OwnNS, &s.LoadNS, &s.StealNS, &s.ThrottledNS} {
		if *p != nil {
			ns := int64(scale * float64(**p))
			*p = &ns
		}
	}
}

// ownTime is the CPU time of the run's processes and of scaleprof itself in
// the window, nil when one of them is not known: a part would make neighbours
// of the rest.
func (w *window) ownTime(pids []int) *int64 {
	if w.selfNS == nil || len(pids) == 0 {
		return nil
	}
	sum := *w.selfNS
	for _, pid := range pids {
		before, okBefore := w.own[pid]
		after, okAfter := w.m.CPU(pid)
		if !okBefore || !okAfter {
			return nil
		}
		sum += after - before
	}
	return &sum
}

// Gates finds the validity gates that a run broke.
type Gates func(m *record.Manifest, run *record.Run) []record.Gate
