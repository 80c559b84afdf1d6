package stats

import "slices"

// Alpha is the probability with which, over all the rows of a comparison
// together, any may be called grown although none did.
const Alpha = 0.05

// Holm adjusts p-values for having tested them all (Holm 1979): rejecting
// where the adjusted value is below Alpha keeps the probability of any false
// rejection below it, however the tests depend on each other.
func Holm(p []float64) []float64 {
	order := identity(len(p))
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-rank)))
		out[i] = worst
	}
	return out
}
