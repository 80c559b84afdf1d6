package analyze

import (
	"math"
	"strings"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// trial is a comparison's two cells beside the same two under an arm.
type trial struct {
	arm        string
	tests      []string
	confounds  string
	base, peak *cell
}

// trials are the experiments of a group: its arms, and for threads the same
// target in process mode, which is the arm mode=process.
func trials(groups []*group, g *group, base, peak int) []trial {
	var out []trial
	for _, other := range groups {
		if other == g || other.target != g.target {
			continue
		}
		name := other.arm
		switch {
		case other.mode == g.mode && other.arm != record.Baseline:
		case g.mode == string(record.Thread) && other.mode == string(record.Process) && other.arm == record.Baseline:
			name = "mode=process"
		default:
			continue
		}
		t := trial{arm: name, base: other.find(base), peak: other.find(peak)}
		if t.base == nil || t.peak == nil {
			continue
		}
		if arms, err := arm.ParseList(name); err == nil && len(arms) == 1 {
			t.tests = arms[0].Tests()
			var confounds []string
			for _, about := range arms[0].About() {
				confounds = append(confounds, about.Confound)
			}
			t.confounds = strings.Join(confounds, "; ")
		}
		out = append(out, t)
	}
	return out
}

// experiments sets the effect of each arm beside what attribution says, by
// difference in differences (F10): (S_peak - S_base) - (S_peak^arm - S_base^arm).
// The base is the arm's own control, so that what an arm costs or saves at every
// T cancels.
func (l *loaded) experiments(c *report.Comparison, groups []*group, g *group, base, peak *cell) {
	for _, t := range trials(groups, g, base.Threads, peak.Threads) {
		slots, _ := aligned(base, peak, t.base, t.peak)
		if len(slots[0]) == 0 {
			continue
		}
		e := report.Experiment{Arm: t.arm, Tests: t.tests, Confounds: t.confounds}
		e.EffectCores = effect(slots, identity(len(slots[0])), peak.Threads)
		b := stats.NewBootstrap(len(slots[0]), stats.SeedOf(slots...), resamples)
		e.EffectCI = b.Interval(func(idx []int) float64 { return effect(slots, idx, peak.Threads) })
		eff := stats.Median(slots[2]) / stats.Median(slots[3])
		e.Efficiency = &eff
		lo, hi, at := attributed(c.Rows, t.tests)
		if !math.IsNaN(at) {
			e.AttributedCores = &at
		}
		e.Verdict = agreement(&e, lo, hi, at)
		c.Experiments = append(c.Experiments, e)
	}
	c.Dose = dose(groups, g, base, peak)
}

// aligned gives the slot times of cells over the blocks that all of them have.
func aligned(cells ...*cell) (slots [][]float64, blocks int) {
	slots = make([][]float64, len(cells))
	n := math.MaxInt
	for _, c := range cells {
		n = min(n, len(c.wall))
	}
	for b := range n {
		whole := true
		for _, c := range cells {
			whole = whole && !math.IsNaN(c.wall[b])
		}
		if !whole {
			continue
		}
		blocks++
		for i, c := range cells {
			slots[i] = append(slots[i], c.wall[b]*float64(c.Threads))
		}
	}
	return slots, blocks
}

// effect is F10 in cores at peak, from slot times of base, peak, and both under the arm.
func effect(slots [][]float64, idx []int, threads int) float64 {
	m := func(i int) float64 { return stats.Median(pick(slots[i], idx)) }
	return ((m(1) - m(0)) - (m(3) - m(2))) * float64(threads) / m(1)
}

// attributed is what the rows give to the causes and groups that an arm tests,
// with the sum of their intervals' ends; NaN where there are no rows.
func attributed(rows []report.Row, tests []string) (lo, hi, at float64) {
	if len(rows) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	var spread float64
	for _, r := range rows {
		for _, t := range tests {
			if r.Cause == t || r.Group == t {
				at += r.CoresLost
				if r.CoresLostCI != nil {
					// Errors of rows add up in squares.
					half := (r.CoresLostCI[1] - r.CoresLostCI[0]) / 2
					spread += half * half
				}
				break
			}
		}
	}
	half := math.Sqrt(spread)
	return at - half, at + half, at
}

// near is how far an effect may be from what attribution says, as a part of the
// larger, and still be taken for the same: two estimates of one thing from
// different runs.
const near = 0.35

// agreement says what an experiment means for the attribution.
func agreement(e *report.Experiment, lo, hi, at float64) string {
	clear := e.EffectCI == nil && math.Abs(e.EffectCores) > looseCores || e.EffectCI != nil && e.EffectCI[0] > 0
	if math.IsNaN(at) {
		return "unexplained"
	}
	elo, ehi := e.EffectCores, e.EffectCores
	if e.EffectCI != nil {
		elo, ehi = e.EffectCI[0], e.EffectCI[1]
	}
	overlap := elo <= hi && lo <= ehi
	close := math.Abs(e.EffectCores-at) <= near*math.Max(math.Abs(e.EffectCores), math.Abs(at))
	switch {
	case clear && at > 0 && (close || overlap && math.Abs(e.EffectCores-at) <= looseCores):
		return "agree"
	case !clear && math.Abs(at) < looseCores:
		return "agree" // nothing was attributed, and nothing came back
	case at > e.EffectCores && at > 0:
		return "shifted"
	}
	return "unexplained"
}
