package experiment

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Verdicts of an experiment, as in the report.
const (
	Agree       = "agree"       // the arm recovers what attribution says
	Shifted     = "shifted"     // it recovers less: another bottleneck took over
	Unexplained = "unexplained" // it recovers something else, or the intervals cannot tell
)

const (
	// systematic is the error that attribution may have beyond what its interval
	// says, as a part of the figure: it is measured in profiled runs, which are
	// allowed to take 5% longer, and divided by samples and counts.
	systematic = 0.15
	// nothingCores is an effect or a loss too small to act on.
	nothingCores = 0.05
)

// Judge sets an arm's effect beside what attribution says of the causes that it
// tests, both in cores (METHOD 5.4), and says why. Two intervals that overlap
// agree only if the effect is there beyond noise, or if both say that there is
// nothing: an experiment that shows nothing proves nothing.
func Judge(effect, attributed stats.Estimate) (verdict, why string) {
	e, a := effect.CI, attributed.CI
	switch {
	case math.IsNaN(effect.Value):
		return Unexplained, "the arm was not run at base and peak"
	case math.IsNaN(attributed.Value):
		return Unexplained, "attribution has no figure for these causes"
	case e == nil:
		return Unexplained, fmt.Sprintf("below %d blocks no interval can be given", stats.MinBlocks)
	}
	slack := systematic * math.Max(math.Abs(effect.Value), math.Abs(attributed.Value))
	if a == nil {
		// Attribution without an interval is a point: held against the effect's.
		a = &[2]float64{attributed.Value, attributed.Value}
	}
	overlap := e[0] <= a[1]+slack && a[0]-slack <= e[1]
	nothing := func(v float64, ci stats.Interval) bool {
		return ci[0] <= 0 && 0 <= ci[1] || math.Abs(v) < nothingCores
	}
	noEffect, noLoss := nothing(effect.Value, e), nothing(attributed.Value, a)
	switch {
	case noEffect && noLoss:
		return Agree, "neither finds a loss beyond noise"
	case overlap && noEffect:
		return Unexplained, "the effect is not distinguishable from noise: more blocks would tell"
	case overlap:
		return Agree, ""
	case effect.Value < attributed.Value:
		return Shifted, "less is recovered than was attributed: another bottleneck takes over"
	}
	return Unexplained, "more is recovered than was attributed: the cause has costs that profiles book elsewhere"
}

// Of makes the report's entry for an arm.
func Of(arm string, tests []string, effect Effect, attributed stats.Estimate, confounds string) report.Experiment {
	out := report.Experiment{Arm: arm, Tests: tests, Confounds: confounds, EffectCI: effect.Cores.CI}
	out.Verdict, out.Why = Judge(effect.Cores, attributed)
	if v := knownValue(effect.Cores.Value); v != nil {
		out.EffectCores = *v
	}
	out.AttributedCores = knownValue(attributed.Value)
	out.Efficiency = knownValue(effect.Efficiency.Value)
	out.Potential = potential(effect.Potential, "the "+arm+" arm")
	return out
}

// Proves reports whether an experiment turns an attribution into a proven cause:
// it agrees and its effect is a gain beyond noise.
func Proves(e report.Experiment) bool {
	return e.Verdict == Agree && e.EffectCI != nil && e.EffectCI[0] > 0
}

func knownValue(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
