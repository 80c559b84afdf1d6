// Package check holds a report against thresholds, for CI. It is pure: report.Report
// values in, findings out.
//
// A threshold is broken only where the whole 95% interval is on the wrong side,
// and kept only where the whole interval is on the right one. Anything else, and
// whatever the report cannot know, is "cannot tell": a build does not fail on noise.
package check

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Schema names the JSON form.
const Schema = "scaleprof.check/1"

const baseline = "baseline"

// Outcome of one threshold.
type Outcome string

const (
	Kept       Outcome = "kept"
	Broken     Outcome = "broken"
	CannotTell Outcome = "cannot tell"
)

// Options are the thresholds; a nil pointer asks nothing.
type Options struct {
	At            int                // T; 0 for the highest of each series
	MinEfficiency *float64           // fraction of 1, against the lowest T of the series
	MaxLoss       map[string]float64 // cause or group to the share of the slot time at peak that it may have grown by
	Order         []string           // keys of MaxLoss as they were given
	Baseline      *report.Report     // nil for none
	MaxDrop       *float64           // of efficiency against Baseline, in points as a fraction: 0.05 allows 80% to become 75%
}

// Finding is one threshold held against one target in one mode.
type Finding struct {
	Target    string          `json:"target"`
	Mode      string          `json:"mode"`
	Threads   int             `json:"threads"`
	Threshold string          `json:"threshold"` // min-efficiency, max-loss gc, max-drop
	Limit     float64         `json:"limit"`
	Value     *float64        `json:"value"` // fraction of 1
	CI        report.Interval `json:"ci"`
	Outcome   Outcome         `json:"outcome"`
	Why       string          `json:"why,omitempty"` // where it cannot be told: the reason and what to do
}

// Result is all findings.
type Result struct {
	Schema   string    `json:"schema"`
	Outcome  Outcome   `json:"outcome"` // the worst of the findings
	Findings []Finding `json:"findings"`
}

// moreBlocks is what to do about an interval that is missing or too wide.
const moreBlocks = "`scaleprof capture --blocks 12` runs more blocks"

// Check holds every baseline series of r against the thresholds.
func Check(r *report.Report, opt Options) *Result {
	out := &Result{Schema: Schema, Outcome: Kept, Findings: []Finding{}}
	add := func(f Finding) {
		out.Findings = append(out.Findings, f)
		if f.Outcome == Broken || f.Outcome == CannotTell && out.Outcome == Kept {
			out.Outcome = f.Outcome
		}
	}
	for i := range r.Series {
		s := &r.Series[i]
		if s.Arm != baseline || len(s.Points) == 0 {
			continue
		}
		p := pointOf(s, opt.At)
		if opt.MinEfficiency != nil {
			add(efficiency(s, p, opt))
		}
		for _, name := range opt.Order {
			add(loss(r, s, name, opt))
		}
		if opt.Baseline != nil && opt.MaxDrop != nil {
			add(drop(s, p, opt))
		}
	}
	if len(out.Findings) == 0 {
		out.Outcome = CannotTell
	}
	return out
}

// pointOf is the point at T, the highest for 0, nil where it was not measured.
func pointOf(s *report.Series, threads int) *report.Point {
	if threads == 0 && len(s.Points) > 0 {
		return &s.Points[len(s.Points)-1]
	}
	for i := range s.Points {
		if s.Points[i].Threads == threads {
			return &s.Points[i]
		}
	}
	return nil
}

// judge decides by the whole interval. least says that the value must be at
// least the limit, else at most.
func (f *Finding) judge(least bool) {
	low, high := 0.0, 0.0
	if f.CI != nil {
		low, high = f.CI[0], f.CI[1]
	}
	switch {
	case f.CI == nil:
		f.tell("too few blocks for an interval; " + moreBlocks)
	case least && high < f.Limit, !least && low > f.Limit:
		f.Outcome = Broken
	case least && low >= f.Limit, !least && high <= f.Limit:
		f.Outcome = Kept
	default:
		f.tell("the threshold lies within the interval; " + moreBlocks)
	}
}

func (f *Finding) tell(why string) { f.Outcome, f.Why = CannotTell, why }

// disturbed turns a finding into "cannot tell" where a gate says that the work
// differed, or a broken one where others took the time.
func (f *Finding) disturbed(points ...*report.Point) {
	for _, p := range points {
		if p == nil {
			continue
		}
		for _, g := range p.Gates {
			rule, ok := gate.RuleOf(g.ID)
			switch {
			case g.ID == gate.WorkChanged, ok && rule.Voids && g.ID != gate.Throttled && f.Outcome == Broken:
				f.tell(fmt.Sprintf("the runs at T=%d were disturbed: %s", p.Threads, g.Text))
				return
			}
		}
	}
}

func efficiency(s *report.Series, p *report.Point, opt Options) Finding {
	f := Finding{Target: s.Target, Mode: s.Mode, Threads: opt.At, Threshold: "min-efficiency", Limit: *opt.MinEfficiency}
	if !f.at(s, p) {
		return f
	}
	f.Value, f.CI = p.Efficiency, p.EfficiencyCI
	f.judge(true)
	f.disturbed(&s.Points[0], p)
	return f
}

// at takes the point's efficiency for there; false where there is none to judge.
func (f *Finding) at(s *report.Series, p *report.Point) bool {
	switch {
	case p == nil:
		f.tell(fmt.Sprintf("it was not measured at T=%d", f.Threads))
		return false
	case p == &s.Points[0]:
		f.Threads = p.Threads
		f.tell("it is the lowest T, against which the others are held; capture a lower one, too")
		return false
	case p.Efficiency == nil:
		f.Threads = p.Threads
		f.tell(fmt.Sprintf("T=%d and T=%d were never timed in one block", s.Points[0].Threads, p.Threads))
		return false
	}
	f.Threads = p.Threads
	return true
}

// loss judges a cause or group: what it grew by between the base and the peak of
// the comparison, over the slot time at peak. All of them add up to 1 - efficiency.
func loss(r *report.Report, s *report.Series, name string, opt Options) Finding {
	f := Finding{Target: s.Target, Mode: s.Mode, Threads: opt.At, Threshold: "max-loss " + name, Limit: opt.MaxLoss[name]}
	var c *report.Comparison
	for i := range r.Comparisons {
		if x := &r.Comparisons[i]; x.Target == s.Target && x.Mode == s.Mode && x.Arm == baseline {
			c = x
		}
	}
	switch {
	case c == nil:
		f.tell("no two T are compared")
		return f
	case opt.At != 0 && c.Peak != opt.At:
		f.tell(fmt.Sprintf("the report accounts for T=%d", c.Peak))
		return f
	}
	f.Threads = c.Peak
	if len(c.Rows) == 0 {
		f.tell("no run was profiled, so causes are not known")
		return f
	}
	lost, ci, seen := lostBy(c, name)
	if seen {
		v := lost / float64(c.Peak)
		f.Value = &v
		if ci != nil {
			f.CI = &[2]float64{ci[0] / float64(c.Peak), ci[1] / float64(c.Peak)}
		}
		f.judge(false)
	} else {
		zero := 0.0
		f.Value, f.Outcome = &zero, Kept
	}
	if c.ClosureError == nil && f.Outcome == Kept {
		f.tell("it was accounted without a trace, so waits are not known")
	}
	f.disturbed(pointOf(s, c.Base), pointOf(s, c.Peak))
	return f
}

// lostBy is what a cause or a group lost in cores; seen is false where it took no
// time at either T.
func lostBy(c *report.Comparison, name string) (lost float64, ci report.Interval, seen bool) {
	for _, r := range c.Rows {
		if r.Cause == name {
			return r.CoresLost, r.CoresLostCI, true
		}
	}
	for _, g := range c.Groups {
		if g.Group == name {
			return g.CoresLost, g.CoresLostCI, true
		}
	}
	for _, r := range c.Rows {
		if r.Group == name { // a report without groups: the sum is known, its interval is not
			lost, seen = lost+r.CoresLost, true
		}
	}
	return lost, nil, seen
}

// drop judges by how many points the efficiency fell against the baseline.
func drop(s *report.Series, p *report.Point, opt Options) Finding {
	f := Finding{Target: s.Target, Mode: s.Mode, Threads: opt.At, Threshold: "max-drop", Limit: *opt.MaxDrop}
	if !f.at(s, p) {
		return f
	}
	var old *report.Series
	for i := range opt.Baseline.Series {
		if x := &opt.Baseline.Series[i]; x.Target == s.Target && x.Mode == s.Mode && x.Arm == baseline {
			old = x
		}
	}
	if old == nil || len(old.Points) == 0 {
		f.tell("the baseline does not have it")
		return f
	}
	was := pointOf(old, p.Threads)
	switch {
	case was == nil || was.Efficiency == nil:
		f.tell(fmt.Sprintf("the baseline was not measured at T=%d", p.Threads))
		return f
	case old.Points[0].Threads != s.Points[0].Threads:
		f.tell(fmt.Sprintf("the baseline's lowest T is %d, here it is %d", old.Points[0].Threads, s.Points[0].Threads))
		return f
	}
	d, ci := stats.Difference(*was.Efficiency, was.EfficiencyCI, *p.Efficiency, p.EfficiencyCI)
	f.Value, f.CI = &d, ci
	f.judge(false)
	f.disturbed(&s.Points[0], p, &old.Points[0], was)
	return f
}
