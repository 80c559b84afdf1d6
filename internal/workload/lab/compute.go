package lab

import (
	"github.com/scaleprof/scaleprof/internal/workload"
)

// micro is roughly how many steps of burn take a microsecond. Only the order of
// magnitude matters: the same steps are done on every machine and at every T.
const micro = 550

// burn does n steps of arithmetic, each dependent on the one before, in
// registers only, and returns a value that depends on every step. It is not
// inlined so that profiles show it under one name.
//
//go:noinline
func burn(x uint64, n int) uint64 {
	x += 0x9e3779b97f4a7c15
	for range n {
		x ^= x >> 29
		x *= 0xbf58476d1ce4e5b9
	}
	return x
}

// compute is the control: independent arithmetic. Whatever it loses, the
// machine takes.
type compute struct{ noClose }

func (compute) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		sum += burn(uint64(i), 5*micro)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newCompute(workload.Params) (workload.Instance, error) { return compute{}, nil }

func computePairs() []pair {
	return []pair{
		{
			info: workload.Info{Name: "compute", Title: "independent arithmetic, shares nothing (control)", Expect: None, OpNS: 5_000},
			bad:  newCompute,
		},
	}
}
