package stats

import (
	"math"
	"slices"
)

// minModeGap is the relative distance below which two modes do not matter to
// anyone: a fifth of what makes a noticeable loss.
const minModeGap = 0.02

// modeCritical is the gap between two modes in units of the MAD within them
// that one mode of n normal values exceeds in 1 of 100 samples, from 6 values
// on (20000 simulated samples for each n; TestModesFalseAlarms checks it).
// Below it the MAD of a few residuals is too small too often for METHOD 6.5's
// plain 3 MAD, which is what counts from there on.
var modeCritical = [...]float64{18, 19.1, 10.5, 9.1, 6.7, 6.4, 4.7, 4.5, 3.7, 3.6}

// Modes divides repeats of one cell into two modes and returns the median of
// each, lowest first; nil where the repeats are one cluster. A mode has at least
// two values and a fifth of all: a single slow run is an outlier, not a mode.
func Modes(values []float64) []float64 {
	v := Finite(values)
	n := len(v)
	if n < MinBlocks {
		return nil
	}
	slices.Sort(v)
	least := max(2, (n+4)/5)
	gap, at := 0.0, 0
	for i := least; i <= n-least; i++ {
		if g := v[i] - v[i-1]; g > gap {
			gap, at = g, i
		}
	}
	if at == 0 || gap < minModeGap*math.Abs(sortedMedian(v)) {
		return nil
	}
	lo, hi := sortedMedian(v[:at]), sortedMedian(v[at:])
	within := make([]float64, n)
	for i, x := range v {
		within[i] = math.Abs(x - lo)
		if i >= at {
			within[i] = math.Abs(x - hi)
		}
	}
	// Two medians were fitted.
	mad := 1.4826 * Median(within) * float64(n) / float64(n-2)
	critical := 3.0
	if k := n - MinBlocks; k < len(modeCritical) {
		critical = modeCritical[k]
	}
	if gap <= critical*mad {
		return nil
	}
	return []float64{lo, hi}
}
