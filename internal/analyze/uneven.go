package analyze

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// unevenCPUs marks a comparison whose lanes end unevenly though each does the same
// number of operations, and it is another one that ends last each time. A program
// that shares its work out badly is late at the same place in every run; a CPU that
// others slow down is not.
const unevenCPUs = "uneven-cpus"

// evenOps is how far the lanes' operations may differ to be the same.
const evenOps = 0.01

// unevenMachine finds that mark in a cell's timed runs, nil where the lanes do
// differ, the last one is always the same, or too few runs tell.
func (c *cell) unevenMachine() *report.Gate {
	last := make([]int, c.Threads)
	runs := 0
	for _, r := range c.timed {
		ends := laneEnds(r, c.Threads)
		if ends == nil {
			continue
		}
		var ops []int64
		for i := range r.Processes {
			for _, l := range r.Processes[i].Lanes {
				ops = append(ops, l.Ops)
			}
		}
		least, most, slow := ops[0], ops[0], 0
		for i := range ops {
			least, most = min(least, ops[i]), max(most, ops[i])
			if ends[i] > ends[slow] {
				slow = i
			}
		}
		if least <= 0 || float64(most-least) > evenOps*float64(most) {
			return nil // work is shared out as it comes: who is last then is the program's doing
		}
		last[slow]++
		runs++
	}
	if c.Threads < 2 || runs < stats.MinBlocks {
		return nil
	}
	often := 0
	for _, n := range last {
		often = max(often, n)
	}
	// One lane is last this often by chance, whichever of them it is.
	chance := distuv.Binomial{N: float64(runs), P: 1 / float64(c.Threads)}
	p := float64(c.Threads) * (1 - chance.CDF(float64(often-1)))
	if p < stats.Alpha {
		return nil
	}
	return &report.Gate{ID: unevenCPUs, Text: fmt.Sprintf("all workers do the same number of operations, and it is another one that ends last each time (at most %d of %d runs the same): their CPUs are not equally fast, or their operations not equally long", often, runs)}
}
