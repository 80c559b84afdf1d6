package capture

import (
	"time"

	"github.com/scaleprof/scaleprof/internal/record"
)

// costs predicts how long runs take, start-up and writing included: from the
// mean of those made, else from the pilot.
type costs struct {
	sum   map[costKey]time.Duration
	n     map[costKey]int
	pilot map[string]pilotCost
	block time.Duration // kernels of one block: the mean so far
	nth   int
}

type costKey struct {
	cell string
	kind record.Kind
}

// pilotCost is what the pilot saw of a target.
type pilotCost struct {
	threads  int           // T of the pilot run
	window   time.Duration // what one run with the calibrated operations takes there
	overhead time.Duration // start-up, warm-up, closing
}

func (c *costs) add(cell string, kind record.Kind, d time.Duration) {
	if c.sum == nil {
		c.sum, c.n = make(map[costKey]time.Duration), make(map[costKey]int)
	}
	k := costKey{cell, kind}
	c.sum[k] += d
	c.n[k]++
}

func (c *costs) addKernels(d time.Duration) {
	c.block = (c.block*time.Duration(c.nth) + d) / time.Duration(c.nth+1)
	c.nth++
}

// kernels is what a block's calibration kernels take for n levels of T.
func (c *costs) kernels(levels int) time.Duration {
	if c.nth > 0 {
		return c.block
	}
	return time.Duration(levels) * 400 * time.Millisecond
}

// run predicts one run of a cell.
func (c *costs) run(cell *record.Cell, kind record.Kind, cpus int) time.Duration {
	if n := c.n[costKey{cell.ID, kind}]; n > 0 {
		return c.sum[costKey{cell.ID, kind}] / time.Duration(n)
	}
	if kind != record.Timed {
		// Writing profiles and a slightly longer window.
		return c.run(cell, record.Timed, cpus)*11/10 + 200*time.Millisecond
	}
	p, ok := c.pilot[cell.Target]
	if !ok {
		return time.Second
	}
	d := p.window
	if t := min(cell.Threads, cpus); t < p.threads {
		// Fewer workers take longer; real speed-ups are below the ideal one.
		d = time.Duration(float64(p.window) * (1 + 0.8*(float64(p.threads)/float64(t)-1)))
	}
	over := p.overhead
	if cell.Mode == record.Process {
		over += time.Duration(cell.Threads) * 10 * time.Millisecond
	}
	return d + over
}

func (s *session) cost(cell string, kind record.Kind) time.Duration {
	c := s.cells[cell]
	return s.costs.run(&c, kind, s.plan.info.CPUs)
}

// costOf predicts a list of items.
func (s *session) costOf(items []item) time.Duration {
	var sum time.Duration
	for _, it := range items {
		sum += s.cost(it.cell, it.kind)
	}
	return sum
}

// Bounds of the default budget: what a person waits for on a small machine,
// and what nobody wants to exceed unasked on a large one.
const (
	leastBudget = 115 * time.Second
	mostBudget  = 10 * time.Minute
)

// settleBudget gives a capture without --budget the time that six blocks and
// the profiled runs need when windows are as long as wanted, and a quarter more
// for arms and repeats. It does not depend on what the pilot measured: a noisy
// machine is not to take longer.
func (s *session) settleBudget() {
	if s.m.Plan.BudgetNS != 0 {
		return
	}
	measured := s.costs.pilot
	s.guess()
	s.m.Plan.BudgetNS = int64(min(max(s.estimate()*5/4, leastBudget), mostBudget))
	s.costs.pilot = measured
}

// guess stands in for the pilot: windows are as long as wanted. Only of a target
// whose operations are given is the length of a window known from elsewhere.
func (s *session) guess() {
	guessed := make(map[string]pilotCost)
	full := s.pilotThreads()
	for _, t := range s.m.Plan.Targets {
		cost := pilotCost{full, s.windowWanted(), 100 * time.Millisecond}
		if target := s.targets[t.Name]; target.FixedOps || s.opts.Ops > 0 {
			if measured, ok := s.costs.pilot[t.Name]; ok {
				cost = measured
			} else if target.OpNS > 0 && t.Ops > 0 {
				cost.window = time.Duration(float64(t.Ops) * float64(target.OpNS) / float64(full))
			}
		}
		guessed[t.Name] = cost
	}
	s.costs.pilot = guessed
}

// estimate predicts the whole plan without arms that are still to be chosen.
func (s *session) estimate() time.Duration {
	blocks := time.Duration(s.plannedBlocks())
	total := blocks * s.blockCost()
	for _, c := range s.m.Cells {
		if c.Arm != record.Baseline {
			total += blocks * s.cost(c.ID, record.Timed)
		}
		for _, kind := range []record.Kind{record.Profiled, record.Events, record.Wall} {
			total += time.Duration(s.wanted(&c, kind)) * s.cost(c.ID, kind)
		}
	}
	return total
}

// blockCost predicts one block of timed baseline runs with its kernels.
func (s *session) blockCost() time.Duration {
	total := s.costOf(s.timed())
	if !s.opts.NoKernels {
		total += s.costs.kernels(len(s.m.Plan.Threads))
	}
	return total
}
