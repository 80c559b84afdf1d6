package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/experiment"
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
		case other.arm != record.Baseline && (other.mode == g.mode || ofProcesses(other.arm)):
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

// ofProcesses says whether an arm's cells are in process mode by the arm's own doing.
func ofProcesses(name string) bool {
	a, err := arm.Parse(name)
	return err == nil && slices.ContainsFunc(a.Parts, func(p arm.Part) bool { return p.Kind == arm.Mode })
}

// combined shares out what several arms recover, nil where not every combination
// of them was run.
func combined(ts []trial, base, peak *cell) *report.Combined {
	byName := map[string]trial{}
	var names []string
	for _, t := range ts {
		names = append(names, t.arm)
		byName[t.arm] = t
	}
	single, sets := arm.Combined(names)
	if single == nil {
		return nil
	}
	slots := make([]experiment.Slots, len(sets))
	slots[0] = experiment.Slots{Base: base.slot(), Peak: peak.slot()}
	for i, name := range sets[1:] {
		slots[i+1] = experiment.Slots{Base: byName[name].base.slot(), Peak: byName[name].peak.slot()}
	}
	s, err := experiment.Shapley(peak.Threads, slots)
	if err != nil {
		return nil
	}
	return experiment.Combined(single, s)
}

// experiments sets the effect of each arm beside what attribution says (F10).
func (l *loaded) experiments(c *report.Comparison, groups []*group, g *group, p *pair) {
	base, peak := p.base, p.peak
	if len(c.Rows) == 0 {
		return // nothing is attributed that an arm could bear out
	}
	all := trials(groups, g, base.Threads, peak.Threads)
	c.Combined = combined(all, base, peak)
	for _, t := range all {
		contrast := experiment.Contrast{
			BaseThreads: base.Threads, PeakThreads: peak.Threads,
			Baseline: experiment.Slots{Base: base.slot(), Peak: peak.slot()},
			Arm:      experiment.Slots{Base: t.base.slot(), Peak: t.peak.slot()},
		}
		e := contrast.Effect()
		at := p.attributed(c.Rows, t.tests)
		if n := gogcOf(t.arm); n > defaultGOGC {
			at = experiment.Expected(at, defaultGOGC, n)
		}
		c.Experiments = append(c.Experiments, experiment.Of(t.arm, t.tests, e, at, t.confounds))
	}
	c.Dose = dose(groups, g, base, peak, p.attributed(c.Rows, []string{"gc"}))
}

const defaultGOGC = 100

// gogcOf is N of an arm gogc=N, 0 of any other.
func gogcOf(name string) int {
	value, ok := strings.CutPrefix(name, "gogc=")
	n, err := strconv.Atoi(value)
	if !ok || err != nil {
		return 0
	}
	return n
}

// attributed is what the rows give to the causes and groups that an arm tests,
// in cores lost.
func (p *pair) attributed(rows []report.Row, tests []string) stats.Estimate {
	var tested []cause.ID
	for _, r := range rows {
		if slices.Contains(tests, r.Cause) || slices.Contains(tests, r.Group) {
			tested = append(tested, cause.ID(r.Cause))
		}
	}
	return p.resampled(func(f figures) []float64 {
		sum := 0.0
		for _, id := range tested {
			r := f.rows[id]
			sum += r[1] - r[0]
		}
		return []float64{cores(sum, f, p)}
	})[0]
}

// dose gathers the slot times under each GOGC.
func dose(groups []*group, g *group, base, peak *cell, attributed stats.Estimate) *report.Dose {
	responses := []experiment.Response{{GOGC: defaultGOGC, Slots: experiment.Slots{Base: base.slot(), Peak: peak.slot()}}}
	for _, other := range groups {
		n := gogcOf(other.arm)
		if n <= defaultGOGC || other.target != g.target || other.mode != g.mode {
			continue
		}
		if b, p := other.find(base.Threads), other.find(peak.Threads); b != nil && p != nil {
			responses = append(responses, experiment.Response{GOGC: n, Slots: experiment.Slots{Base: b.slot(), Peak: p.slot()}})
		}
	}
	if len(responses) < minDoses {
		return nil
	}
	return experiment.Dose(peak.Threads, responses, attributed)
}

// minDoses is the fewest values of GOGC for which a line is fitted and can be
// seen not to fit.
const minDoses = 3
