package capture

import (
	"runtime"
	"slices"
	"strconv"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// planner makes cells. It knows all that their settings depend on.
type planner struct {
	threads    []int
	modes      []record.Mode
	armThreads []int
	procsRule  string
	info       host.Info
	freeMemory int64
}

// baseline lists the cells of the plan without any arm: targets in the order
// given, T rising.
func (p *planner) baseline(t *Target) []record.Cell {
	var cells []record.Cell
	for _, mode := range p.modes {
		if mode == record.Process && t.ThreadsOnly {
			continue
		}
		for _, threads := range p.threads {
			cells = append(cells, record.Cell{
				ID:     record.CellID(t.Record.Name, mode, threads, record.Baseline),
				Target: t.Record.Name, Mode: mode, Threads: threads,
				Procs: p.procs(p.procsRule, mode, threads), Arm: record.Baseline,
			})
		}
	}
	return cells
}

// armed lists an arm's cells for a target, or says in one line why it cannot
// be run there. Arms vary thread mode, where it is planned: that is where a
// runtime, a heap and locks are shared.
func (p *planner) armed(t *Target, a arm.Arm) ([]record.Cell, error) {
	mode := p.modes[0]
	if slices.Contains(p.modes, record.Thread) || t.ThreadsOnly {
		mode = record.Thread
	}
	room := arm.Room{
		Peak: slices.Max(p.armThreads), Mode: string(mode), ProcsRule: p.procsRule,
		OS: runtime.GOOS, CoreFirst: p.info.CoreFirst, FreeMemory: p.freeMemory,
		Delays: t.Delays, NoMode: t.ThreadsOnly, External: t.External,
	}
	if err := a.Possible(room); err != nil {
		return nil, err
	}
	set := a.Apply(arm.Setting{Mode: mode, ProcsRule: p.procsRule}, room)
	var cells []record.Cell
	for _, threads := range p.armThreads {
		c := record.Cell{
			ID:     record.CellID(t.Record.Name, set.Mode, threads, a.Name),
			Target: t.Record.Name, Mode: set.Mode, Threads: threads,
			Procs: p.procs(set.ProcsRule, set.Mode, threads), Arm: a.Name,
			Env: set.Env, DelayNS: set.DelayNS,
		}
		if set.Pin {
			c.Pin = slices.Clone(p.info.CoreFirst[:threads])
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// procs is GOMAXPROCS of each process of a cell.
func (p *planner) procs(rule string, mode record.Mode, threads int) int {
	switch rule {
	case "cpus":
		return p.info.CPUs
	case "threads":
		if mode == record.Process {
			return 1
		}
		return threads
	}
	n, err := strconv.Atoi(rule)
	if err != nil {
		return p.info.CPUs // Options.check has refused such a rule
	}
	return n
}

// defaultArmThreads is the pair that the report compares: from the largest T of
// at most half of the CPUs to the largest T.
func defaultArmThreads(threads []int, cpus int) []int {
	base := threads[0]
	for _, t := range threads {
		if t <= cpus/2 {
			base = t
		}
	}
	peak := threads[len(threads)-1]
	if base == peak {
		return []int{peak}
	}
	return []int{base, peak}
}

// addCells appends cells and makes their IDs unique: two targets may differ
// only in characters that file names cannot have.
func addCells(all []record.Cell, more []record.Cell) []record.Cell {
	for _, c := range more {
		id := c.ID
		for n := 2; slices.ContainsFunc(all, func(o record.Cell) bool { return o.ID == c.ID }); n++ {
			c.ID = id + "-" + strconv.Itoa(n)
		}
		all = append(all, c)
	}
	return all
}
