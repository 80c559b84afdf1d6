package report

import "testing"

func TestQuote(t *testing.T) {
	gc, eff := "gc/write-barrier", 0.9
	r := &Report{Host: Host{CPUs: 2, CPU: "Some CPU"}, Toolchain: Toolchain{Go: "go1.26", Libraries: map[string]string{
		"github.com/bytedance/sonic": "v1.15.5", "github.com/goccy/go-json": "v0.12.0",
	}}}
	c := &Comparison{
		Target: "json/sonic", Mode: "thread", Base: 1, Peak: 2, Efficiency: 0.69, EfficiencyCI: &[2]float64{0.62, 0.79}, CoresLost: 0.61,
		Rows: []Row{
			{Cause: gc, CoresLost: 0.26, Distinguishable: true},
			{Cause: "gc/mark", CoresLost: 0.14, Distinguishable: true},
			{Cause: "work/user", CoresLost: 0.1},
			{Cause: "gc/stw", CoresLost: 0.01, Distinguishable: true},
		},
		Experiments: []Experiment{{Arm: "gogc=800", Efficiency: &eff}, {Arm: "mode=process"}},
		Dose:        &Dose{Efficiency: 0.95},
		Verdict:     Verdict{Cause: &gc, Confidence: "proven"},
	}
	want := "json/sonic, github.com/bytedance/sonic v1.15.5, go1.26 on 2 CPUs (Some CPU): from 1 to 2 goroutines with the same work in all, " +
		"69% efficiency (95%: 62 to 79%) is kept and 0.61 of 2 cores are lost. By cause: gc/write-barrier 0.26, gc/mark 0.14. " +
		"With gogc=800 it keeps 90%; extrapolated to no collection, 95%. Proven: the cause to act on is gc/write-barrier."
	if got := Quote(r, c); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := Quote(&Report{}, &Comparison{Target: "x", Mode: "process", Base: 2, Peak: 4, Efficiency: 1, Verdict: Verdict{Confidence: "unclear"}}),
		"x: from 2 to 4 processes with the same work in all, 100% efficiency is kept and 0.00 of 4 cores are lost. Unclear: no cause can be named."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
