package analyze

import (
	"math"
	"sort"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// ceiling is what this machine gives to code that shares nothing: throughput of
// a calibration kernel at each T, by block.
type ceiling map[string]map[int][]float64 // kernel, T, throughput of each run

func ceilingOf(runs []record.KernelRun) ceiling {
	c := ceiling{}
	for _, k := range runs {
		if k.WallNS <= 0 || k.Ops <= 0 || k.Threads < 1 {
			continue
		}
		if c[k.Kernel] == nil {
			c[k.Kernel] = map[int][]float64{}
		}
		c[k.Kernel][k.Threads] = append(c[k.Kernel][k.Threads], float64(k.Ops)/float64(k.WallNS))
	}
	return c
}

// The kernels.
const (
	kernelALU    = "alu"
	kernelCache  = "cache"
	kernelStream = "stream"
	kernelRandom = "random"
	kernelAtomic = "atomic"
)

// speedup is the kernel's throughput at T over that at base, NaN where it was
// not run there.
func (c ceiling) speedup(kernel string, base, t int) float64 {
	p, q := stats.Median(c[kernel][base]), stats.Median(c[kernel][t])
	if math.IsNaN(p) || math.IsNaN(q) || p <= 0 {
		return math.NaN()
	}
	return q / p
}

// efficiency is the kernel's throughput for each thread at T over that at base.
func (c ceiling) efficiency(kernel string, base, t int) float64 {
	return c.speedup(kernel, base, t) * float64(base) / float64(t)
}

// spread is the relative half-range of the kernel's runs at T, quartile to
// quartile: how far its figure can be trusted. NaN below three runs.
func (c ceiling) spread(kernel string, t int) float64 {
	v := append([]float64(nil), c[kernel][t]...)
	if len(v) < 3 {
		return math.NaN()
	}
	sort.Float64s(v)
	return (v[len(v)*3/4] - v[len(v)/4]) / 2 / v[len(v)/2]
}

// certainLoss is the kernel's loss from base to T that its own spread cannot
// explain, in [0, 1): what may be charged to the machine.
func (c ceiling) certainLoss(kernel string, base, t int) float64 {
	e := c.efficiency(kernel, base, t)
	if math.IsNaN(e) {
		return 0
	}
	slack := 0.01
	for _, n := range []int{base, t} {
		if s := c.spread(kernel, n); !math.IsNaN(s) {
			slack += s
		} else {
			slack += 0.02
		}
	}
	return math.Min(math.Max(0, 1-e-slack), 0.99)
}
