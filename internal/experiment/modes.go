package experiment

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Modes compares thread mode, as the baseline, with process mode, as the arm:
// what threads lose and processes do not is the price of sharing one runtime, one
// heap and their locks; what both lose is the machine's, the operating system's
// and that of small heaps (METHOD 5.4). other names the mode in c.Arm, whose
// efficiency the contrast reports. nil where a cell is missing.
func Modes(other string, c Contrast) *report.Contrast {
	// Slot times of the two modes are not on one scale (a process has start-up and
	// a heap of its own): each mode's loss is taken against its own, q(1-E).
	q := float64(c.PeakThreads)
	est, _ := estimate(
		[][]float64{c.Baseline.Base, c.Baseline.Peak, c.Arm.Base, c.Arm.Peak},
		func(s []float64) []float64 { return []float64{q * (s[2]/s[3] - s[0]/s[1]), s[2] / s[3]} })
	lost, efficiency := est[0], est[1]
	if math.IsNaN(lost.Value) || math.IsInf(lost.Value, 0) || math.IsNaN(efficiency.Value) {
		return nil
	}
	shared, ci := lost.Value, lost.CI
	if other == "thread" {
		shared = -shared // the baseline is process mode
		if ci != nil {
			ci = &[2]float64{-ci[1], -ci[0]}
		}
	}
	out := &report.Contrast{Mode: other, Efficiency: efficiency.Value, CI: efficiency.CI, SharedCores: shared, SharedCI: ci}
	switch {
	case ci == nil:
		out.Text = fmt.Sprintf("threads lose %.2f cores more than processes do; below 6 blocks no interval can be given", shared)
		if shared < 0 {
			out.Text = fmt.Sprintf("processes lose %.2f cores more than threads do; below 6 blocks no interval can be given", -shared)
		}
	case ci[0] > 0:
		out.Text = fmt.Sprintf("threads lose %.2f cores (%.2f to %.2f) that processes do not: the price of sharing one runtime, heap and locks", shared, ci[0], ci[1])
	case ci[1] < 0:
		out.Text = fmt.Sprintf("processes lose %.2f cores (%.2f to %.2f) that threads do not: small heaps of their own, start-up, or memory", -shared, -ci[1], -ci[0])
	default:
		out.Text = "threads and processes lose alike within noise: what is lost is not the price of sharing one runtime"
	}
	return out
}
