package analyze

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// detail says for one row what there is to act on: the lock with its waits,
// the heap goal, the uneven lanes. "" where the traces show nothing specific.
func detail(id cause.ID, peak *cell) string {
	switch {
	case id.Group() == "lock":
		return lockDetail(id, peak)
	case id == cause.BalanceTail:
		return tailDetail(peak)
	case id.Group() == "gc":
		return joined(heapDetail(peak), allocDetail(id, peak))
	case id.Group() == "alloc":
		return allocDetail(id, peak)
	}
	return ""
}

// lockDetail names the place where lanes waited longest, and for how long each time.
func lockDetail(id cause.ID, peak *cell) string {
	type site struct {
		waits  int
		ns     int64
		wait   string
		holder string
	}
	sites := map[string]*site{}
	for _, o := range peak.profiled {
		if o.account == nil {
			continue
		}
		for i := range o.account.Locks {
			l := &o.account.Locks[i]
			if l.Cause != id {
				continue
			}
			where := userFrame(l.Wait)
			s := sites[where]
			if s == nil {
				s = &site{wait: where}
				sites[where] = s
			}
			s.waits += l.Waits
			s.ns += l.WaitNS + l.HandOver
			if h := userFrame(l.Holder); h != "" {
				s.holder = h
			}
		}
	}
	var all []*site
	for _, s := range sites {
		all = append(all, s)
	}
	if len(all) == 0 {
		return ""
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].ns != all[j].ns {
			return all[i].ns > all[j].ns
		}
		return all[i].wait < all[j].wait
	})
	top := all[0]
	if top.wait == "" || top.waits == 0 {
		return ""
	}
	out := fmt.Sprintf("%s waits %s each time", top.wait, duration(float64(top.ns)/float64(top.waits)))
	if top.holder != "" && top.holder != top.wait {
		out += ", held by " + top.holder
	}
	return out
}

// userFrame is the first frame of a stack that is neither the runtime's nor sync's.
func userFrame(s *lanes.Stack) string {
	if s == nil {
		return ""
	}
	for _, f := range s.Frames {
		if f.Func == "" || isRuntime(f.Func) {
			continue
		}
		name := f.Func[strings.LastIndexByte(f.Func, '/')+1:]
		return at(name, sourceLine(f.File, f.Line))
	}
	return ""
}

// at is a function with its source line, where that is known.
func at(name, line string) string {
	if line == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, line)
}

// tailDetail says how uneven the lanes were.
func tailDetail(peak *cell) string {
	first := peak.firstDone()
	if math.IsNaN(first) {
		first = peak.traced(func(a *lanes.Account) float64 {
			v := math.Inf(1)
			for _, l := range a.Lanes {
				v = math.Min(v, float64(l.EndNS))
			}
			return v / float64(a.WallNS)
		})
	}
	if math.IsNaN(first) || math.IsInf(first, 0) || first >= 0.98 {
		return ""
	}
	return fmt.Sprintf("the first worker is done after %.0f%% of the window", 100*first)
}

func heapDetail(peak *cell) string {
	goal, cycles := peak.metric("/gc/heap/goal:bytes"), peak.metric("/gc/cycles/automatic:gc-cycles")
	alloc := peak.metric("/gc/heap/allocs:bytes")
	if !(goal > 0) || !(cycles > 0) || !(alloc > 0) {
		return ""
	}
	return fmt.Sprintf("%.0f collections at a heap goal of %s", cycles, bytesText(goal/math.Max(1, float64(processes(peak)))))
}

// processes is how many processes a run of the cell has; gauges are summed over them.
func processes(c *cell) int {
	for _, r := range c.timed {
		if r != nil {
			return len(r.Processes)
		}
	}
	return 1
}
