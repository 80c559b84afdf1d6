package analyze

import (
	"math"
	"testing"

	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/report"
)

func row(id string, cores float64, sure bool) report.Row {
	group := id
	for i := range id {
		if id[i] == '/' {
			group = id[:i]
			break
		}
	}
	return report.Row{Cause: id, Group: group, CoresLost: cores, Distinguishable: sure}
}

// broad is what T processes in place of T goroutines test.
var broad = []string{"lock", "gc", "sched", "alloc", "memory/contended-line", "balance/serial", "balance/queue", "io/sleep"}

func TestJudge(t *testing.T) {
	tests := []struct {
		name       string
		efficiency float64
		lost       float64
		ci         report.Interval
		rows       []report.Row
		exps       []report.Experiment
		groups     []report.Group
		gates      []report.Gate
		cause      string // "" for none
		confidence string
	}{
		{
			name: "within noise of ideal", efficiency: 0.97, lost: 0.06,
			rows: []report.Row{row("lock/mutex", 0.06, true)}, confidence: "likely",
		},
		{
			name: "interval includes no loss", efficiency: 0.9, lost: 0.2, ci: &[2]float64{-0.1, 0.5},
			rows: []report.Row{row("lock/mutex", 0.2, false)}, confidence: "unclear",
		},
		{
			name: "one clear row", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("lock/mutex", 0.9, true), row("sched/find", 0.1, true)}, cause: "lock/mutex", confidence: "likely",
		},
		{
			name: "a group whose rows are all small leads", efficiency: 0.5, lost: 1,
			rows:  []report.Row{row("lock/mutex", 0.3, true), row("gc/assist", 0.25, true), row("gc/sweep", 0.2, true), row("gc/mark", 0.2, true)},
			cause: "gc/assist", confidence: "likely",
		},
		{
			name: "nothing distinguishable", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("lock/mutex", 0.9, false)}, confidence: "unclear",
		},
		{
			name: "the program's own code takes longer, and nobody knows why", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("work/user", 0.6, true), row("balance/tail", 0.25, true)}, confidence: "unclear",
		},
		{
			name: "own code slows down beside a cause that is large by itself", efficiency: 0.6, lost: 0.8,
			rows: []report.Row{row("work/user", 0.4, true), row("lock/cond", 0.32, true)}, cause: "lock/cond", confidence: "unclear",
		},
		{
			name: "own code within noise stands in nobody's way", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("work/user", 0.6, false), row("balance/tail", 0.35, true)}, cause: "balance/tail", confidence: "likely",
		},
		{
			name: "the recorder and the unknown are never a verdict", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("observer/profiling", 0.6, true), row("unexplained", 0.4, true)}, confidence: "unclear",
		},
		{
			name: "work/user is no cause by itself", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("work/user", 0.9, true)}, confidence: "unclear",
		},
		{
			name: "an experiment sees what profiles cannot", efficiency: 0.6, lost: 0.8,
			rows:  []report.Row{row("memory/bandwidth", 0.3, true), row("gc/write-barrier", 0.1, true)},
			exps:  []report.Experiment{{Arm: "gogc=400", Tests: []string{"gc"}, EffectCores: 0.6, EffectCI: &[2]float64{0.5, 0.7}, Verdict: "unexplained"}},
			cause: "gc/write-barrier", confidence: "proven",
		},
		{
			name: "an experiment that agrees proves", efficiency: 0.6, lost: 0.8,
			rows:  []report.Row{row("gc/mark", 0.6, true)},
			exps:  []report.Experiment{{Arm: "gogc=400", Tests: []string{"gc"}, EffectCores: 0.55, EffectCI: &[2]float64{0.5, 0.6}, Verdict: "agree"}},
			cause: "gc/mark", confidence: "proven",
		},
		{
			name: "of several doses the highest decides", efficiency: 0.6, lost: 0.8,
			rows: []report.Row{row("gc/mark", 0.6, true)},
			exps: []report.Experiment{
				{Arm: "gogc=400", Tests: []string{"gc"}, EffectCores: 0.45, EffectCI: &[2]float64{0.4, 0.5}, Verdict: "agree"},
				{Arm: "gogc=800", Tests: []string{"gc"}, EffectCores: 0.3, EffectCI: &[2]float64{-0.1, 0.6}, Verdict: "unexplained"},
			},
			cause: "gc/mark", confidence: "likely",
		},
		{
			name: "processes prove a lock that is all there is", efficiency: 0.5, lost: 1,
			rows:  []report.Row{row("lock/mutex", 0.95, true), row("sched/find", 0.04, true)},
			exps:  []report.Experiment{{Arm: "mode=process", Tests: broad, EffectCores: 0.97, EffectCI: &[2]float64{0.9, 1}, Verdict: "agree"}},
			cause: "lock/mutex", confidence: "proven",
		},
		{
			name: "processes do not choose between a lock and the scheduler", efficiency: 0.5, lost: 1,
			rows:  []report.Row{row("lock/mutex", 0.6, true), row("sched/find", 0.4, true)},
			exps:  []report.Experiment{{Arm: "mode=process", Tests: broad, EffectCores: 0.97, EffectCI: &[2]float64{0.9, 1}, Verdict: "agree"}},
			cause: "lock/mutex", confidence: "likely",
		},
		{
			name: "processes prove nothing of a collector that each of them has", efficiency: 0.5, lost: 1,
			rows:  []report.Row{row("gc/mark", 0.95, true)},
			exps:  []report.Experiment{{Arm: "mode=process", Tests: broad, EffectCores: 0.97, EffectCI: &[2]float64{0.9, 1}, Verdict: "agree"}},
			cause: "gc/mark", confidence: "likely",
		},
		{
			name: "more workers than CPUs is how it was run", efficiency: 0.5, lost: 2,
			rows:  []report.Row{row("balance/queue", 1.9, true)},
			gates: []report.Gate{{ID: gate.Oversubscribed, Text: "T=4 is above the 2 CPUs"}}, confidence: "unclear",
		},
		{
			name: "more goroutines than Ps within the CPUs is the program's", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("balance/queue", 0.9, true)}, cause: "balance/queue", confidence: "likely",
		},
		{
			name: "uneven ends of equal work are the machine's", efficiency: 0.7, lost: 0.6,
			rows:  []report.Row{row("balance/tail", 0.3, true)},
			gates: []report.Gate{{ID: unevenCPUs, Text: "another one each time"}}, confidence: "unclear",
		},
		{
			name: "a lock stays a lock above the CPUs", efficiency: 0.3, lost: 2.8,
			rows:  []report.Row{row("lock/mutex", 1.8, true), row("balance/queue", 0.9, true)},
			gates: []report.Gate{{ID: gate.Oversubscribed, Text: "T=4 is above the 2 CPUs"}}, cause: "lock/mutex", confidence: "likely",
		},
		{
			name: "a machine that is slow is named as what it is", efficiency: 0.6, lost: 0.8,
			rows: []report.Row{row("hardware/ceiling", 0.7, true), row("sched/find", 0.05, true)}, cause: "hardware/ceiling", confidence: "likely",
		},
		{
			name: "a busy machine distorts what it leaves", efficiency: 0.45, lost: 1.1,
			rows: []report.Row{row("gc/mark", 0.55, true), row("os/neighbour", 0.45, true)}, confidence: "unclear",
		},
		{
			name: "a neighbour that takes most is named as what it is", efficiency: 0.45, lost: 1.1,
			rows: []report.Row{row("os/neighbour", 0.9, true), row("gc/mark", 0.2, true)}, cause: "os/neighbour", confidence: "likely",
		},
		{
			name: "a small neighbour does not hide a large lock", efficiency: 0.45, lost: 1.1,
			rows: []report.Row{row("lock/mutex", 0.85, true), row("os/neighbour", 0.2, true)}, cause: "lock/mutex", confidence: "likely",
		},
		{
			name: "two groups that nothing decides between", efficiency: 0.5, lost: 1,
			rows: []report.Row{row("lock/mutex", 0.5, true), row("memory/bandwidth", 0.49, true)}, cause: "lock/mutex", confidence: "unclear",
		},
		{
			name: "a group whose sum is sure, though no row of it is", efficiency: 0.5, lost: 1,
			rows:   []report.Row{row("os/throttled", 0.77, false), row("os/neighbour", 0.22, false)},
			groups: []report.Group{{Group: "os", CoresLost: 0.99, CoresLostCI: &[2]float64{0.85, 1.16}}},
			cause:  "os/throttled", confidence: "likely",
		},
		{
			name: "a group whose sum may be nothing", efficiency: 0.5, lost: 1,
			rows:   []report.Row{row("gc/mark", 0.77, false)},
			groups: []report.Group{{Group: "gc", CoresLost: 0.77, CoresLostCI: &[2]float64{-0.1, 1.6}}}, confidence: "unclear",
		},
		{
			name: "what only a broad arm shows is not given to the one group with a trace of it", efficiency: 0.5, lost: 1,
			rows:  []report.Row{row("net/poll", 0.82, true), row("sched/preempt", 0.004, true)},
			exps:  []report.Experiment{{Arm: "mode=process", Tests: broad, EffectCores: 0.93, EffectCI: &[2]float64{0.9, 1.3}, Verdict: "unexplained"}},
			cause: "net/poll", confidence: "likely",
		},
		{
			name: "a loss in many small parts", efficiency: 0.5, lost: 1,
			rows: []report.Row{
				row("lock/mutex", 0.22, true), row("memory/bandwidth", 0.2, true), row("alloc/malloc", 0.2, true), row("io/syscall", 0.2, true),
			}, confidence: "unclear",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &report.Comparison{Base: 1, Peak: 2, Efficiency: tt.efficiency, CoresLost: tt.lost, CoresLostCI: tt.ci, Rows: tt.rows, Groups: tt.groups, Experiments: tt.exps}
			v := judge(c, tt.gates)
			got := ""
			if v.Cause != nil {
				got = *v.Cause
			}
			if got != tt.cause || v.Confidence != tt.confidence {
				t.Errorf("judge = %q, %s (%s); want %q, %s", got, v.Confidence, v.Text, tt.cause, tt.confidence)
			}
		})
	}
}

// TestPromiseStaysUnderTheCeiling: what the profiles overstate is not promised.
func TestPromiseStaysUnderTheCeiling(t *testing.T) {
	of := func(v float64) *report.Potential {
		return &report.Potential{WithoutCauseEfficiency: v, CI: &[2]float64{v - 0.1, v + 0.1}}
	}
	for _, tt := range []struct{ promised, measured, ceiling, want float64 }{
		{1.09, 0.6, 0.99, 0.99},
		{1.09, 0.6, math.NaN(), 1},
		{0.80, 0.6, 0.99, 0.80},
		{1.10, 0.97, 0.95, 0.97}, // no less than was measured
		{1.30, 1.20, 1.05, 1.20},
	} {
		got := underCeiling(of(tt.promised), tt.measured, tt.ceiling)
		if got.WithoutCauseEfficiency != tt.want || (*got.CI)[1] > math.Max(tt.want, tt.promised+0.1) {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
	if underCeiling(nil, 1, 1) != nil {
		t.Error("nothing became a promise")
	}
}
