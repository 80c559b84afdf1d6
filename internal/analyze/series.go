package analyze

import (
	"fmt"
	"math"
	"sort"

	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/model"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// group is the cells of one target in one mode under one arm, by rising T.
type group struct {
	target, mode, arm string
	cells             []*cell
}

// groups gathers the cells, in the order in which the manifest names them.
func (l *loaded) groups() []*group {
	var out []*group
	at := map[[3]string]*group{}
	for _, c := range l.cells {
		key := [3]string{c.Target, string(c.Mode), c.Arm}
		g := at[key]
		if g == nil {
			g = &group{target: c.Target, mode: string(c.Mode), arm: c.Arm}
			at[key] = g
			out = append(out, g)
		}
		g.cells = append(g.cells, c)
	}
	for _, g := range out {
		sort.SliceStable(g.cells, func(i, j int) bool { return g.cells[i].Threads < g.cells[j].Threads })
	}
	return out
}

// find is the cell at T, nil if there is none with a timing.
func (g *group) find(threads int) *cell {
	for _, c := range g.cells {
		if c.Threads == threads && !math.IsNaN(stats.Median(c.wall)) {
			return c
		}
	}
	return nil
}

// series is a group's curve with what it says.
func (l *loaded) series(g *group) report.Series {
	s := report.Series{Target: g.target, Mode: g.mode, Arm: g.arm, Points: l.points(g), Models: []report.Model{}}
	l.curve(g).Into(&s)
	return s
}

// curve fits the laws to a group's timings.
func (l *loaded) curve(g *group) model.Result {
	var points []model.Point
	for _, c := range g.cells {
		points = append(points, model.Point{Threads: c.Threads, WallNS: c.wall})
	}
	return model.Analyze(points, host.Places(l.manifest.Host))
}

// knee is the T at which a group's curve bends, 0 if it does not.
func (l *loaded) knee(g *group) int {
	if k := l.curve(g).Knee; k != nil {
		return k.Threads
	}
	return 0
}

// points are a group's cells with their figures. Speed-ups are against the
// lowest T that has a timing.
func (l *loaded) points(g *group) []report.Point {
	var out []report.Point
	var first *cell
	for _, c := range g.cells {
		sum := stats.Summarize(c.wall)
		if sum.N == 0 {
			continue
		}
		if first == nil {
			first = c
		}
		p := report.Point{
			Threads: c.Threads, Procs: c.Procs, Runs: sum.N, Ops: c.ops,
			WallNS: int64(math.Round(sum.Median)), OpsPerS: float64(c.ops) / sum.Median * 1e9,
			Gates: gatesOf(c, sum.N),
		}
		p.WallsNS, p.CPUsNS = runsOf(c)
		if sum.CI != nil {
			p.WallCINS = &[2]int64{int64(sum.CI[0]), int64(sum.CI[1])}
		}
		if cpu := stats.Median(c.cpu); !math.IsNaN(cpu) {
			v := int64(cpu)
			p.CPUNS = &v
		}
		if !math.IsNaN(c.perturbed) {
			v := c.perturbed
			p.Perturbation = &v
		}
		p.Speedup, p.SpeedupCI, p.Efficiency, p.EfficiencyCI = speedups(first, c)
		p.CeilingSpeedup = number(l.ceiling.speedup(kernelALU, first.Threads, c.Threads))
		p.MemoryCeiling = number(math.Min(l.ceiling.speedup(kernelStream, first.Threads, c.Threads), l.ceiling.speedup(kernelRandom, first.Threads, c.Threads)))
		out = append(out, p)
	}
	return out
}

// runsOf are the wall and CPU times of a cell's timed runs, in order of blocks;
// no CPU times where a run has none.
func runsOf(c *cell) (walls, cpus []int64) {
	for b, w := range c.wall {
		if !math.IsNaN(w) {
			walls = append(walls, int64(w))
			if b < len(c.cpu) && !math.IsNaN(c.cpu[b]) {
				cpus = append(cpus, int64(c.cpu[b]))
			}
		}
	}
	if len(cpus) != len(walls) {
		cpus = nil
	}
	return walls, cpus
}

func speedups(first, c *cell) (s *float64, sci report.Interval, e *float64, eci report.Interval) {
	p := pairOf(first, c)
	if len(p.baseWall) == 0 {
		return nil, nil, nil, nil
	}
	ratio := float64(first.Threads) / float64(c.Threads)
	speed := stats.Median(p.baseWall) / stats.Median(p.peakWall)
	if first == c {
		one := 1.0
		return &one, nil, &one, nil
	}
	eff := speed * ratio
	iv, _ := p.timings()
	if iv != nil {
		sci = &[2]float64{iv[0] / ratio, iv[1] / ratio}
	}
	return &speed, sci, &eff, iv
}

func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// gatesOf folds the gates of a cell's runs: one entry for each kind, with the
// runs that broke it and the worst text. n is how many runs count.
func gatesOf(c *cell, n int) []report.Gate {
	out := []report.Gate{}
	at := map[string]int{}
	worst := map[string]float64{}
	for _, r := range c.timed {
		if r == nil {
			continue
		}
		for _, g := range r.Gates {
			i, seen := at[g.ID]
			if !seen {
				i = len(out)
				at[g.ID] = i
				out = append(out, report.Gate{ID: g.ID, Text: g.Text})
				worst[g.ID] = g.Value
			}
			if g.Value > worst[g.ID] {
				worst[g.ID], out[i].Text = g.Value, g.Text
			}
			out[i].Runs = append(out[i].Runs, r.ID)
		}
	}
	kept := out[:0]
	for _, g := range out {
		rule, _ := gate.RuleOf(g.ID)
		// One disturbed run in many does not move a median.
		if 3*len(g.Runs) < n && !rule.Always {
			continue
		}
		if len(g.Runs) > 1 {
			g.Text = fmt.Sprintf("%s (%d of %d runs)", g.Text, len(g.Runs), n)
		}
		kept = append(kept, g)
	}
	for _, g := range gate.Cell(c.wall, c.profiledWall) {
		kept = append(kept, report.Gate{ID: g.ID, Text: g.Text})
	}
	return kept
}
