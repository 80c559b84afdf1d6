package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/scaleprof/scaleprof/internal/host"
)

// next names the T that would help most: where two laws differ most, else where
// the curve has its largest hole. "" where no T would.
func (f *fits) next(a, b *law) string {
	have := f.c.threads
	if len(have) == 0 {
		return ""
	}
	top := have[len(have)-1]
	cpus := f.cpus()
	if a != nil && b != nil {
		within, beyond := 0, 0
		var bestW, bestB float64
		for t := 1; t <= 2*max(top, cpus); t++ {
			if slices.Contains(have, t) {
				continue
			}
			d := math.Abs(math.Log(a.predict(float64(t)) / b.predict(float64(t))))
			switch {
			case math.IsNaN(d) || math.IsInf(d, 0):
			case (cpus == 0 || t <= cpus) && d > bestW:
				within, bestW = t, d
			case t > cpus && d > bestB:
				beyond, bestB = t, d
			}
		}
		// Told apart when they differ by a few times the noise of one run.
		if within > 0 && (bestW > 2*f.c.noise || beyond == 0) {
			return fmt.Sprintf("add T=%d, where they differ by %.1f%%", within, 100*bestW)
		}
		if beyond > 0 {
			return fmt.Sprintf("add T=%d on a machine with more CPUs", 2*max(top, cpus))
		}
	}
	if t := f.hole(); t > 0 {
		return fmt.Sprintf("add T=%d", t)
	}
	if cpus > 0 && 2*top > cpus {
		return fmt.Sprintf("add T=%d on a machine with more CPUs", 2*top)
	}
	return fmt.Sprintf("add T=%d", 2*top)
}

// cpus is the number of CPUs among the places, 0 where it is not known.
func (f *fits) cpus() int {
	n := 0
	for _, p := range f.places {
		if p.Name == "CPUs" {
			n = p.Threads
		}
	}
	return n
}

// hole is a T worth adding to any curve: one worker, the known places, then the
// middle of the largest ratio between neighbours; 0 where there is none.
func (f *fits) hole() int {
	have := f.c.threads
	if have[0] != 1 {
		return 1
	}
	places := slices.Clone(f.places)
	slices.SortFunc(places, func(a, b host.Place) int { return a.Threads - b.Threads })
	for _, p := range places {
		if p.Threads > 1 && !slices.Contains(have, p.Threads) {
			return p.Threads
		}
	}
	at, widest := 0, 1.5
	for i := 1; i < len(have); i++ {
		r := float64(have[i]) / float64(have[i-1])
		mid := int(math.Round(math.Sqrt(float64(have[i]) * float64(have[i-1]))))
		if r > widest && mid > have[i-1] && mid < have[i] {
			at, widest = mid, r
		}
	}
	return at
}
