package gate

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Run finds the gates that one run broke. The manifest may still be growing: what
// later runs would show is not yet judged.
func Run(m *record.Manifest, run *record.Run) []record.Gate {
	if run.Error != "" || run.WallNS <= 0 {
		return nil
	}
	cell := findCell(m, run.Cell)
	if cell == nil || cell.Threads < 1 {
		return nil
	}
	s := subject{run: run, cell: cell, info: &m.Host, slot: float64(cell.Threads) * float64(run.WallNS)}
	if run.System != nil {
		s.sys = *run.System
	}
	var out []record.Gate
	for _, check := range []func(subject) []record.Gate{
		throttled, steal, neighbour, runQueue, bounce, drift, procs, placement, quota, short,
	} {
		out = append(out, check(s)...)
	}
	return append(out, work(m, run, cell)...)
}

func findCell(m *record.Manifest, id string) *record.Cell {
	for i := range m.Cells {
		if m.Cells[i].ID == id {
			return &m.Cells[i]
		}
	}
	return nil
}

// subject is a run with what it is judged by.
type subject struct {
	run  *record.Run
	cell *record.Cell
	info *host.Info
	sys  record.System // empty where nothing is known
	slot float64       // T * wall, ns
}

func throttled(s subject) []record.Gate {
	ns := s.sys.ThrottledNS
	if ns == nil || float64(*ns) <= threshold(Throttled) {
		return nil
	}
	times := "an unknown number of"
	if n := s.sys.NrThrottled; n != nil {
		times = fmt.Sprint(*n)
	}
	return []record.Gate{broken(Throttled, float64(*ns), 0, "value", duration(float64(*ns)), "times", times)}
}

// steal is counted in ticks: less than what rounding may have made of nothing is no steal.
func steal(s subject) []record.Gate {
	stolen := s.stolen()
	share := stolen / s.slot
	limit := threshold(Steal)
	if share-rounding(s.info.CPUs)/s.slot <= limit {
		return nil
	}
	return []record.Gate{broken(Steal, share, limit, "value", percent(share), "limit", percent(limit))}
}

func (s subject) stolen() float64 {
	if s.sys.StealNS == nil {
		return 0
	}
	return float64(*s.sys.StealNS)
}

// rounding is by how much a sum of tick counters over so many CPUs may be wrong, ns.
func rounding(cpus int) float64 { return tickNS * math.Ceil(math.Sqrt(float64(max(cpus, 1)))) }

// foreign is the CPU time of other processes in the window, ns, never negative: the two counts that
// it is the difference of are not read at one instant, and may be sampled. False where unknown.
func (s subject) foreign() (float64, bool) {
	if s.sys.BusyNS == nil || s.sys.OwnNS == nil {
		return 0, false
	}
	ns := float64(*s.sys.BusyNS - *s.sys.OwnNS)
	if s.sys.BusyFrom == host.BusyStat {
		ns -= rounding(s.info.CPUs)
	}
	return max(ns, 0), true
}

// neighbourLimit is how many CPUs others may use beside T workers.
func neighbourLimit(threads int) float64 {
	return min(max(threshold(Neighbour)*float64(threads), neighbourLeastCPUs), neighbourMostCPUs)
}

func neighbour(s subject) []record.Gate {
	ns, ok := s.foreign()
	wall := float64(s.run.WallNS)
	limit := neighbourLimit(s.cell.Threads)
	if !ok || ns <= neighbourLeastNS || ns/wall <= limit {
		return nil
	}
	return []record.Gate{broken(Neighbour, ns/wall, limit,
		"value", fmt.Sprintf("%.2f", ns/wall), "limit", fmt.Sprintf("%.2f", limit))}
}

// runQueue counts the waiting that others explain.
func runQueue(s subject) []record.Gate {
	if len(throttled(s)) == 0 && len(neighbour(s)) == 0 && len(steal(s)) == 0 {
		return nil
	}
	var waited, known float64
	for _, p := range s.run.Processes {
		if p.Threads != nil {
			known++
			waited += math.Max(float64(p.Threads.WaitNS), 0)
		}
	}
	others, _ := s.foreign()
	if t := s.sys.ThrottledNS; t != nil {
		others += float64(*t)
	}
	others += s.stolen()
	share := min(waited, others) / s.slot
	limit := threshold(RunQueue)
	if known == 0 || share <= limit {
		return nil
	}
	return []record.Gate{broken(RunQueue, share, limit, "value", percent(share), "limit", percent(limit))}
}

func bounce(s subject) []record.Gate {
	value, when := 0.0, ""
	if b := s.sys.BounceNS; b != nil {
		value, when = *b, "before"
	}
	if b := s.sys.BounceEndNS; b != nil && *b > value {
		value, when = *b, "after"
	}
	limit := threshold(Bounce)
	if value <= limit {
		return nil
	}
	return []record.Gate{broken(Bounce, value, limit, "value", duration(value), "when", when)}
}

func drift(s subject) []record.Gate {
	d := s.sys.ALUDrift
	limit := threshold(DriftID)
	if d == nil || math.Abs(*d) <= limit || math.IsNaN(*d) {
		return nil
	}
	direction := "longer"
	if *d < 0 {
		direction = "less"
	}
	return []record.Gate{broken(DriftID, math.Abs(*d), limit,
		"value", percent(math.Abs(*d)), "limit", percent(limit), "direction", direction)}
}

// procs: the processes must have run with the GOMAXPROCS that the cell is about; and one that is set in
// the environment is worth knowing even so, as the program by itself would obey it.
func procs(s subject) []record.Gate {
	want := s.cell.Procs
	for _, p := range s.run.Processes {
		if want > 0 && p.Procs > 0 && p.Procs != want {
			what := fmt.Sprintf("process %d ran with GOMAXPROCS=%d, the cell is about %d", p.Process, p.Procs, want)
			return []record.Gate{broken(GOMAXPROCS, float64(p.Procs), float64(want), "what", what)}
		}
	}
	if env := s.info.EnvProcs; env != "" {
		what := fmt.Sprintf("GOMAXPROCS=%s is set in the environment; this cell ran with %d", short40(env), want)
		if want <= 0 {
			what = fmt.Sprintf("GOMAXPROCS=%s is set in the environment", short40(env))
		}
		return []record.Gate{broken(GOMAXPROCS, 1, 0, "what", what)}
	}
	return nil
}

func short40(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// placement: more workers than CPUs, by their number or because the others may not be used.
func placement(s subject) []record.Gate {
	usable := s.info.CPUs
	for _, p := range s.run.Processes { // what the processes themselves were given
		if p.NumCPU > 0 && len(s.cell.Pin) == 0 && (usable == 0 || p.NumCPU < usable) {
			usable = p.NumCPU
		}
	}
	if usable == 0 {
		return nil
	}
	var out []record.Gate
	t := s.cell.Threads
	if online := s.info.OnlineCPUs; usable < online && (t > usable || usable == 1) {
		out = append(out, broken(Affinity, float64(usable), float64(min(t, online)),
			"value", fmt.Sprint(usable), "online", fmt.Sprint(online)))
	}
	if t > usable {
		out = append(out, broken(Oversubscribed, float64(t), float64(usable),
			"value", fmt.Sprint(t), "limit", fmt.Sprint(usable)))
	}
	return out
}

func quota(s subject) []record.Gate {
	q := s.info.QuotaCPUs
	t := float64(s.cell.Threads)
	if q == nil || *q <= 0 || s.info.CPUs > 0 && *q >= float64(s.info.CPUs) && *q >= t {
		return nil
	}
	why := ""
	switch {
	case *q < t:
		why = fmt.Sprintf("feeds less than T=%d workers", s.cell.Threads)
	case *q != math.Floor(*q):
		why = "is no whole number: the program is stopped in the middle of a period when more are busy"
	default:
		return nil
	}
	return []record.Gate{broken(Quota, *q, t, "value", fmt.Sprintf("%.4g", *q), "why", why)}
}

func short(s subject) []record.Gate {
	limit := threshold(Short)
	if v := float64(s.run.WallNS) / 1e9; v < limit {
		return []record.Gate{broken(Short, v, limit, "value", duration(float64(s.run.WallNS)), "limit", duration(limit*1e9))}
	}
	return nil
}
