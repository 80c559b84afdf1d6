package experiment

import (
	"fmt"
	"math/bits"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// MaxCombined is the number of arms whose combinations are worth running: three
// cost eight cells at two T each.
const MaxCombined = 3

// Shares are Shapley's: what each of several arms recovers, averaged over all
// orders of applying them, so that the shares add up to what all together recover
// (METHOD 5.5).
type Shares struct {
	Cores []stats.Estimate // by arm
	All   stats.Estimate   // with every arm applied, cores
	// Interaction is All minus what the arms recover one at a time: negative where
	// they remove the same loss, positive where only both together do.
	Interaction stats.Estimate
	Blocks      int
}

// Shapley computes the shares of k arms from the slot times of every
// combination: sets[m] has the arms whose bits are set in m applied, sets[0] is
// the baseline. All 2^k must be there.
func Shapley(peakThreads int, sets []Slots) (Shares, error) {
	k := bits.Len(uint(len(sets))) - 1
	if k < 1 || k > MaxCombined || len(sets) != 1<<k {
		return Shares{}, fmt.Errorf("shares of %d combinations: want all 2, 4 or 8 combinations of one to %d arms", len(sets), MaxCombined)
	}
	var series [][]float64
	for _, s := range sets {
		series = append(series, s.Base, s.Peak)
	}
	est, blocks := estimate(series, func(s []float64) []float64 {
		recovered := func(set int) float64 {
			d := (s[1] - s[0]) - (s[2*set+1] - s[2*set])
			return d * float64(peakThreads) / s[1]
		}
		all := recovered(len(sets) - 1)
		out := append(shares(k, recovered), all)
		single := 0.0
		for i := range k {
			single += recovered(1 << i)
		}
		return append(out, all-single)
	})
	return Shares{Cores: est[:k], All: est[k], Interaction: est[k+1], Blocks: blocks}, nil
}

// shares are phi_i = sum over sets A without i of |A|! (k-|A|-1)!/k! (v(A+i) - v(A)).
func shares(k int, v func(set int) float64) []float64 {
	factorial := [...]float64{1, 1, 2, 6}
	phi := make([]float64, k)
	for i := range phi {
		for set := range 1 << k {
			if set&(1<<i) != 0 {
				continue
			}
			size := bits.OnesCount(uint(set))
			w := factorial[size] * factorial[k-size-1] / factorial[k]
			phi[i] += w * (v(set|1<<i) - v(set))
		}
	}
	return phi
}

// Combined puts shares into the report's form, nil where they are not numbers.
func Combined(arms []string, s Shares) *report.Combined {
	out := &report.Combined{All: s.All.Value, AllCI: s.All.CI, Interaction: s.Interaction.Value, InteractionCI: s.Interaction.CI, Blocks: s.Blocks}
	if knownValue(out.All) == nil || knownValue(out.Interaction) == nil || len(arms) != len(s.Cores) {
		return nil
	}
	for i, e := range s.Cores {
		out.Shares = append(out.Shares, report.ArmShare{Arm: arms[i], Cores: e.Value, CI: e.CI})
	}
	return out
}
