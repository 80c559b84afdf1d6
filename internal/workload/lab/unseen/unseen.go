// Package unseen holds workloads with a known cause that the analysis was not
// tuned on. They are no part of the lab: they are written another way, use other
// parts of the standard library, and have no twins. `selftest` runs them only
// when asked, to see whether the names that it gives hold outside the lab.
package unseen

import (
	"errors"
	"math/bits"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// All returns the set, named unseen/<name>.
func All() []workload.Workload {
	var all []workload.Workload
	for _, family := range [][]program{syncs(), phases(), allocs(), systems(), memories(), controls()} {
		for _, p := range family {
			p.info.Name = "unseen/" + p.info.Name
			all = append(all, p)
		}
	}
	return all
}

// program starts a body of work: begin returns what one worker does with a
// range of operations, and what ends it all, nil if nothing does.
type program struct {
	info  workload.Info
	begin func(workload.Params) (body, func() error, error)
}

type body func(w int, lo, hi int64) workload.Tally

func (p program) Info() workload.Info { return p.info }

func (p program) Prepare(params workload.Params) (workload.Instance, error) {
	if params.Workers < 1 {
		return nil, errors.New("no workers")
	}
	work, end, err := p.begin(params)
	if err != nil {
		return nil, err
	}
	if end == nil {
		end = func() error { return nil }
	}
	return &running{work, end}, nil
}

type running struct {
	body body
	end  func() error
}

func (r *running) Work(w int, lo, hi int64) workload.Tally { return r.body(w, lo, hi) }
func (r *running) Close() error                            { return r.end() }

// each makes a body of a function that does operation i as worker w.
func each(op func(w int, i int64) uint64) body {
	return func(w int, lo, hi int64) workload.Tally {
		t := workload.Tally{Ops: hi - lo}
		for i := lo; i < hi; i++ {
			t.Sum += op(w, i)
		}
		return t
	}
}

// plain is a begin without an end.
func plain(make func(workers int) body) func(workload.Params) (body, func() error, error) {
	return func(p workload.Params) (body, func() error, error) { return make(p.Workers), nil, nil }
}

// grind does n rounds of arithmetic that depend on each other, roughly a
// nanosecond each.
//
//go:noinline
func grind(v uint64, n int) uint64 {
	for k := range n {
		v = bits.RotateLeft64(v+uint64(k), 23)*0xd6e8feb86659fd93 + 1
	}
	return v
}

// gathering brings the workers of a phase together before they begin: build
// makes what they share from all their ranges.
type gathering[S any] struct {
	calls chan call[S]
	ended chan struct{}
}

type call[S any] struct {
	w      int
	lo, hi int64
	answer chan S
}

func gather[S any](workers int, build func(of []call[S]) S) *gathering[S] {
	g := &gathering[S]{calls: make(chan call[S]), ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		var came []call[S]
		for c := range g.calls {
			if came = append(came, c); len(came) < workers {
				continue
			}
			shared := build(came)
			for _, c := range came {
				c.answer <- shared
			}
			came = nil
		}
	}()
	return g
}

func (g *gathering[S]) enter(w int, lo, hi int64) S {
	c := call[S]{w, lo, hi, make(chan S, 1)}
	g.calls <- c
	return <-c.answer
}

func (g *gathering[S]) end() error {
	close(g.calls)
	<-g.ended
	return nil
}

// count is the number of operations of a phase.
func count[S any](of []call[S]) int64 {
	var n int64
	for _, c := range of {
		n += c.hi - c.lo
	}
	return n
}

// far is a word alone on its cache lines.
type far[T any] struct {
	_ [16]uint64
	v T
	_ [16]uint64
}
