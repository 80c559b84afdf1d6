package analyze

import (
	"testing"

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

func TestJudge(t *testing.T) {
	tests := []struct {
		name       string
		efficiency float64
		lost       float64
		ci         report.Interval
		rows       []report.Row
		exps       []report.Experiment
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
			name: "a loss in many small parts", efficiency: 0.5, lost: 1,
			rows: []report.Row{
				row("lock/mutex", 0.22, true), row("memory/bandwidth", 0.2, true), row("alloc/malloc", 0.2, true), row("io/syscall", 0.2, true),
			}, confidence: "unclear",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &report.Comparison{Base: 1, Peak: 2, Efficiency: tt.efficiency, CoresLost: tt.lost, CoresLostCI: tt.ci, Rows: tt.rows, Experiments: tt.exps}
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
