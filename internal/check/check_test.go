package check

import (
	"testing"

	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/report"
)

func number(v float64) *float64 { return &v }

func interval(lo, hi float64) report.Interval { return &[2]float64{lo, hi} }

// sample is a report of one target that keeps 80% at T=4 and loses 0.6 of 4 cores
// to the collector.
func sample() *report.Report {
	return &report.Report{
		Series: []report.Series{{Target: "x", Mode: "thread", Arm: baseline, Points: []report.Point{
			{Threads: 1, Efficiency: number(1)},
			{Threads: 4, Efficiency: number(0.8), EfficiencyCI: interval(0.76, 0.84)},
		}}, {Target: "x", Mode: "thread", Arm: "gogc=400", Points: []report.Point{{Threads: 4}}}},
		Comparisons: []report.Comparison{{
			Target: "x", Mode: "thread", Arm: baseline, Base: 1, Peak: 4, ClosureError: number(0),
			Rows:   []report.Row{{Cause: "gc/mark", Group: "gc", CoresLost: 0.6, CoresLostCI: interval(0.5, 0.7)}},
			Groups: []report.Group{{Group: "gc", CoresLost: 0.6, CoresLostCI: interval(0.5, 0.7)}},
		}},
	}
}

func TestCheck(t *testing.T) {
	loss := func(name string, limit float64) Options {
		return Options{MaxLoss: map[string]float64{name: limit}, Order: []string{name}}
	}
	cases := []struct {
		name   string
		change func(*report.Report)
		opt    Options
		want   Outcome
	}{
		{"whole interval above", nil, Options{MinEfficiency: number(0.7)}, Kept},
		{"at the interval's low end", nil, Options{MinEfficiency: number(0.76)}, Kept},
		{"within the interval", nil, Options{MinEfficiency: number(0.82)}, CannotTell},
		{"whole interval below", nil, Options{MinEfficiency: number(0.9)}, Broken},
		{"no interval", func(r *report.Report) { r.Series[0].Points[1].EfficiencyCI = nil }, Options{MinEfficiency: number(0.9)}, CannotTell},
		{"not measured there", nil, Options{MinEfficiency: number(0.9), At: 3}, CannotTell},
		{"the lowest T", nil, Options{MinEfficiency: number(0.9), At: 1}, CannotTell},
		{"a neighbour excuses what is broken", func(r *report.Report) {
			r.Series[0].Points[1].Gates = []report.Gate{{ID: gate.Neighbour}}
		}, Options{MinEfficiency: number(0.9)}, CannotTell},
		{"a neighbour does not spoil what is kept", func(r *report.Report) {
			r.Series[0].Points[1].Gates = []report.Gate{{ID: gate.Neighbour}}
		}, Options{MinEfficiency: number(0.7)}, Kept},
		{"other work tells nothing", func(r *report.Report) {
			r.Series[0].Points[1].Gates = []report.Gate{{ID: gate.WorkChanged}}
		}, Options{MinEfficiency: number(0.7)}, CannotTell},
		{"cause within its share", nil, loss("gc/mark", 0.2), Kept},
		{"cause beyond its share", nil, loss("gc/mark", 0.1), Broken},
		{"group beyond its share", nil, loss("gc", 0.1), Broken},
		{"share within the interval", nil, loss("gc", 0.15), CannotTell},
		{"a cause that took nothing", nil, loss("lock", 0.1), Kept},
		{"waits without a trace", func(r *report.Report) { r.Comparisons[0].ClosureError = nil }, loss("lock", 0.1), CannotTell},
		{"no profiled run", func(r *report.Report) { r.Comparisons[0].Rows = nil }, loss("lock", 0.1), CannotTell},
		{"a report of before groups", func(r *report.Report) { r.Comparisons[0].Groups = nil }, loss("gc", 0.1), CannotTell},
		{"nothing compared", func(r *report.Report) { r.Comparisons = nil }, loss("gc", 0.1), CannotTell},
		{"no drop", nil, Options{Baseline: sample(), MaxDrop: number(0.1)}, Kept},
		{"a drop as small as the noise", nil, Options{Baseline: sample(), MaxDrop: number(0.01)}, CannotTell},
		{"a drop", func(r *report.Report) {
			r.Series[0].Points[1].Efficiency, r.Series[0].Points[1].EfficiencyCI = number(0.6), interval(0.58, 0.62)
		}, Options{Baseline: sample(), MaxDrop: number(0.05)}, Broken},
		{"a baseline without the target", nil, Options{Baseline: &report.Report{}, MaxDrop: number(0.05)}, CannotTell},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := sample()
			if c.change != nil {
				c.change(r)
			}
			got := Check(r, c.opt)
			if len(got.Findings) != 1 || got.Outcome != c.want {
				t.Fatalf("%s of %+v, want %s of one finding", got.Outcome, got.Findings, c.want)
			}
			if f := got.Findings[0]; f.Outcome == CannotTell && f.Why == "" {
				t.Error("cannot tell, without a reason")
			}
		})
	}
}

// TestWorst: one broken threshold breaks the check, whatever the others say.
func TestWorst(t *testing.T) {
	opt := Options{MinEfficiency: number(0.82), MaxLoss: map[string]float64{"gc": 0.1, "lock": 0.1}, Order: []string{"gc", "lock"}}
	if got := Check(sample(), opt); got.Outcome != Broken || len(got.Findings) != 3 {
		t.Errorf("%s of %d findings", got.Outcome, len(got.Findings))
	}
}
