package capture

import (
	"math/rand/v2"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// item is a run that a block wants, before the order is drawn.
type item struct {
	cell     string
	kind     record.Kind
	ops      int64 // 0 for the target's
	profiles *recorder.Profiles
}

// order puts a block's items into the random order that belongs to the
// capture's seed and the block, so that a resumed capture draws the same.
func order(items []item, seed uint64, block, firstSeq int) []record.Planned {
	r := rand.New(rand.NewPCG(seed, uint64(block)))
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	planned := make([]record.Planned, len(items))
	for i, it := range items {
		planned[i] = record.Planned{
			Seq: firstSeq + i, Block: block, Cell: it.cell, Kind: it.kind,
			Ops: it.ops, Profiles: it.profiles,
		}
	}
	return planned
}

// due is how many of the wanted extra runs of a kind a cell should have had by
// the end of a block, when they are spread evenly over the planned blocks.
// early puts the first one into the first block, where the pilot needs it.
func due(want, block, blocks int, early bool) int {
	if want == 0 || blocks < 1 {
		return 0
	}
	n := want * (block + 1)
	if early {
		n += blocks - 1 // round up
	} else {
		n += blocks / 2 // to the nearest
	}
	return min(want, n/blocks)
}

// Extra runs wanted for each baseline cell. Three profiled runs give cause
// rows an interval. fgprof shows nothing that the trace does not: one run.
const (
	profiledThread  = 3
	profiledProcess = 1
	wallThread      = 1
)

// wanted is the number of extra runs of a kind for a cell.
func (s *session) wanted(c *record.Cell, kind record.Kind) int {
	if s.givenUp(c.ID) {
		return 0
	}
	if c.Arm != record.Baseline {
		return 0 // an arm's effect is a difference of slot times
	}
	has := s.recorders(c.Target)
	switch kind {
	case record.Profiled, record.Events:
		any := has["cpu"] || has["trace"] || has["mutex"] || has["block"] || has["allocs"]
		if kind == record.Events {
			any = (has["mutex"] || has["block"]) && s.load[c.Target].heavy()
		}
		switch {
		case !any:
			return 0
		case s.quick():
			return 1
		case c.Mode == record.Thread:
			return profiledThread
		}
		return profiledProcess
	case record.Wall:
		if has["wall"] && c.Mode == record.Thread && !s.quick() {
			return wallThread
		}
	}
	return 0
}

// recorders are the names of the recorders that profiled runs of a target carry.
func (s *session) recorders(target string) map[string]bool {
	has := make(map[string]bool)
	for _, name := range s.m.Plan.Profiles {
		has[name] = true
	}
	if t := s.targets[target]; t != nil && t.Recorders != nil {
		can := make(map[string]bool)
		for _, name := range t.Recorders {
			can[name] = true
		}
		for name := range has {
			if !can[name] {
				delete(has, name)
			}
		}
	}
	return has
}

// cpuRateHz is how often a thread's CPU time is sampled. A window of half a
// second has few samples at the usual 100 Hz. Where the kernel's clock ticks
// more slowly than this (CONFIG_HZ) fewer samples come, each for more time; the
// analysis scales them to the CPU time that the system counted in any case.
const cpuRateHz = 250

// profiles are the recorders of a run of the given kind.
func (s *session) profiles(target string, kind record.Kind) *recorder.Profiles {
	has := s.recorders(target)
	p := &recorder.Profiles{}
	switch kind {
	case record.Profiled:
		p.CPU, p.Trace, p.Allocs = has["cpu"], has["trace"], has["allocs"]
		if t := s.targets[target]; p.CPU && (t == nil || !t.External) {
			p.CPURateHz = cpuRateHz
		}
		if !s.load[target].heavy() {
			p.Mutex, p.Block = oneIf(has["mutex"]), oneIf(has["block"])
		}
	case record.Events:
		p.Mutex = oneIf(has["mutex"])
		if has["block"] {
			p.Block = heavyBlockRate
		}
	case record.Wall:
		p.Wall = has["wall"]
	default:
		return nil
	}
	return p
}

func oneIf(on bool) int {
	if on {
		return 1
	}
	return 0
}
