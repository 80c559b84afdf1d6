// Package lab holds workloads that lose cores for a reason known by
// construction. Each lab/<name> has a twin lab/<name>/fixed that does the same
// operations with the same results and without the loss; both tell in Info what
// an analysis should find. They are the ground truth of `scaleprof selftest`.
//
// An operation is 1 to 50 µs of deterministic arithmetic plus the traffic that
// the workload is about, so that the harness around it costs nothing and the
// result of an operation depends on its number only. One file holds one family;
// the comment of each type says by which mechanism the cores are lost and why
// the twin keeps them.
package lab

import (
	"fmt"
	"strconv"
	"time"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// None is Info.Expect of a control: nothing may be blamed but the machine.
const None = "none"

// All returns every lab workload, the form that loses before its twin.
func All() []workload.Workload {
	var all []workload.Workload
	for _, family := range [][]pair{
		computePairs(),
		lockPairs(),
		channelPairs(),
		linePairs(),
		allocPairs(),
		gcPairs(),
		schedPairs(),
		balancePairs(),
		kernelPairs(),
		streamPairs(),
		runtimePairs(),
		logPairs(),
	} {
		for _, p := range family {
			all = append(all, p.forms()...)
		}
	}
	return all
}

// maker prepares one form of a workload.
type maker func(workload.Params) (workload.Instance, error)

// pair is a workload and its twin. The Info is that of the form that loses;
// its name has no prefix yet.
type pair struct {
	info  workload.Info
	bad   maker
	fixed maker  // nil for a control
	cure  string // the twin's title
	cheap int64  // the twin's OpNS where it differs, 0 where it does not
	// fixedInfo adapts the twin's Info where it differs by more than that.
	fixedInfo func(*workload.Info)
}

func (p pair) forms() []workload.Workload {
	bad := p.info
	bad.Name = "lab/" + p.info.Name
	if len(bad.Delay) > 0 {
		bad.Params = map[string]string{
			paramDelay: "ns added inside the section that all workers share, a number from 0 to 1e9",
		}
	}
	if p.fixed == nil {
		return []workload.Workload{program{bad, p.bad}}
	}
	fixed := bad
	fixed.Name += "/fixed"
	fixed.Title = p.cure
	fixed.Expect = None
	bad.Twin = fixed.Name
	if p.cheap > 0 {
		fixed.OpNS = p.cheap
	}
	if p.fixedInfo != nil {
		p.fixedInfo(&fixed)
	}
	return []workload.Workload{program{bad, p.bad}, program{fixed, p.fixed}}
}

// program is one form as the registry holds it.
type program struct {
	info workload.Info
	make maker
}

func (p program) Info() workload.Info { return p.info }

// Check refuses parameter values that Prepare would refuse.
func (p program) Check(values map[string]string) error {
	_, err := delayOf(values)
	return err
}

func (p program) Prepare(params workload.Params) (workload.Instance, error) {
	if params.Workers < 1 {
		return nil, fmt.Errorf("%s: %d workers", p.info.Name, params.Workers)
	}
	in, err := p.make(params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.info.Name, err)
	}
	return in, nil
}

const paramDelay = "delay_ns"

// delay is a known cost that an arm adds to a suspected section.
type delay time.Duration

// delayOf reads the parameter delay_ns; absent means no delay.
func delayOf(values map[string]string) (delay, error) {
	text, ok := values[paramDelay]
	if !ok {
		return 0, nil
	}
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ns < 0 || ns > int64(time.Second) {
		return 0, fmt.Errorf("parameter %s: %q is not a number of ns from 0 to 1e9", paramDelay, text)
	}
	return delay(ns), nil
}

// spend burns CPU for the delay. It reads the clock, so the cost is exact to
// some tens of nanoseconds on any machine.
func (d delay) spend() {
	if d <= 0 {
		return
	}
	for begin := time.Now(); time.Since(begin) < time.Duration(d); {
	}
}

// noClose is embedded by instances with nothing to release.
type noClose struct{}

func (noClose) Close() error { return nil }

// apart makes a buffer of n bytes that shares no cache line with another.
func apart(n int) []byte {
	const room = 256
	return make([]byte, n+2*room)[room : room+n : room+n]
}

// padded keeps a value away from its neighbours' cache lines. Two lines are
// kept free, because the hardware also fetches the neighbour of a line.
type padded[T any] struct {
	_     [128]byte
	value T
	_     [128]byte
}
