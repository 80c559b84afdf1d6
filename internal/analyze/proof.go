package analyze

import (
	"math"
	"slices"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/experiment"
	"github.com/scaleprof/scaleprof/internal/report"
)

const (
	// maxTested is how many causes or groups an arm may test and still say something
	// about each.
	maxTested = 4
	// alone is the part of what the profiles give to all that a broad arm tests
	// which one group must carry for the arm to be a test of that group.
	alone = 0.8
	// partOfEffect is the part of a broad arm's effect that the profiles must give to the
	// group: of what only the arm shows, it cannot be said whose it is.
	partOfEffect = 0.3
)

// experimentOn is the experiment that says most about a group: one that proves it,
// else one with an interval, else the one with most effect; nil of none. Of the
// doses of GOGC only the highest counts, and their fit: to choose among all of them
// the one that agrees would be to ask until the answer pleases.
func experimentOn(c *report.Comparison, group string) *report.Experiment {
	var best *report.Experiment
	top := 0
	for i := range c.Experiments {
		top = max(top, gogcOf(c.Experiments[i].Arm))
	}
	consider := func(e report.Experiment) {
		if best == nil || stronger(e, *best) {
			best = &e
		}
	}
	for _, e := range c.Experiments {
		if n := gogcOf(e.Arm); n != 0 && n < top || !testsGroup(c, &e, group) {
			continue
		}
		e.Arm += " arm"
		consider(e)
	}
	if d := c.Dose; d != nil && group == "gc" && d.Why == "" && d.GCCoresCI != nil {
		consider(report.Experiment{
			Arm: "fit over GOGC", Tests: []string{"gc"}, EffectCores: d.GCCores, EffectCI: d.GCCoresCI, AttributedCores: d.AttributedCores,
			Verdict: d.Verdict, Why: d.VerdictWhy, Potential: d.Potential,
		})
	}
	return best
}

func stronger(a, b report.Experiment) bool {
	if x, y := experiment.Proves(a), experiment.Proves(b); x != y {
		return x
	}
	if x, y := a.EffectCI != nil, b.EffectCI != nil; x != y {
		return x
	}
	return a.EffectCores > b.EffectCores
}

// testsGroup says whether an experiment speaks for or against one group. Processes
// remove sharing of every kind at once, and give each a heap of its own: that is
// a test of a group only where nearly all that the profiles give to the arm's
// causes is that group's, and never of the collector or the allocator.
func testsGroup(c *report.Comparison, e *report.Experiment, group string) bool {
	tested := slices.ContainsFunc(e.Tests, func(t string) bool { return cause.ID(t).Group() == group })
	if !tested || len(e.Tests) <= maxTested {
		return tested
	}
	if group == "gc" || group == "alloc" {
		return false
	}
	own, all := 0.0, 0.0
	for _, r := range c.Rows {
		if r.CoresLost > 0 && (slices.Contains(e.Tests, r.Cause) || slices.Contains(e.Tests, r.Group)) {
			all += r.CoresLost
			if r.Group == group {
				own += r.CoresLost
			}
		}
	}
	return all > 0 && own >= alone*all && own >= partOfEffect*e.EffectCores
}

// underCeiling keeps a promise within what the machine gives to code that shares
// nothing (within ideal scaling where that was not measured): profiled shares that
// overstate a cause would else promise more. It is not below what was measured.
func underCeiling(p *report.Potential, measured, ceiling float64) *report.Potential {
	if p == nil {
		return nil
	}
	limit := 1.0
	if ceiling < limit {
		limit = ceiling
	}
	limit = math.Max(limit, measured)
	out := *p
	out.WithoutCauseEfficiency = math.Min(p.WithoutCauseEfficiency, limit)
	if p.CI != nil {
		out.CI = &[2]float64{math.Min(p.CI[0], limit), math.Min(p.CI[1], limit)}
	}
	return &out
}
