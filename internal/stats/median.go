package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Finite copies the values that are neither NaN nor infinite.
func Finite(values []float64) []float64 {
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// Median is the median of the finite values, NaN when there are none.
func Median(values []float64) float64 {
	s := Finite(values)
	slices.Sort(s)
	return sortedMedian(s)
}

// MedianOf is the median of values[i] for i in idx, skipping what is not
// finite. buf is scratch space that is returned for the next call: a bootstrap
// calls this a million times.
func MedianOf(values []float64, idx []int, buf []float64) (float64, []float64) {
	buf = buf[:0]
	for _, i := range idx {
		if v := values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			buf = append(buf, v)
		}
	}
	slices.Sort(buf)
	return sortedMedian(buf), buf
}

func sortedMedian(s []float64) float64 {
	n := len(s)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}

// Mean is the mean of the finite values, NaN when there are none.
func Mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// Summary describes the repeats of one cell.
type Summary struct {
	N      int
	Median float64
	CI     Interval // order statistics of the median, at least 95%; nil below MinBlocks
	Min    float64  // a diagnostic only: at T > 1 it picks lucky schedules (METHOD 6.4)
	CV     float64  // standard deviation over mean; NaN below two values
}

// Summarize summarizes the finite values. No distribution is assumed.
func Summarize(values []float64) Summary {
	v := Finite(values)
	out := Summary{N: len(v), Median: math.NaN(), Min: math.NaN(), CV: CV(v)}
	if len(v) == 0 {
		return out
	}
	// NewSample sorts in place; v is already our own copy.
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(v, &benchmath.DefaultThresholds), Confidence)
	out.Median, out.Min = s.Center, v[0]
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) && len(v) >= MinBlocks {
		out.CI = &[2]float64{s.Lo, s.Hi}
	}
	return out
}

// CV is the coefficient of variation of the finite values, NaN below two.
func CV(values []float64) float64 {
	v := Finite(values)
	if len(v) < 2 {
		return math.NaN()
	}
	m := Mean(v)
	ss := 0.0
	for _, x := range v {
		ss += (x - m) * (x - m)
	}
	return math.Sqrt(ss/float64(len(v)-1)) / math.Abs(m)
}

// MAD is the median absolute deviation from the median, times 1.4826 so that it
// estimates the standard deviation of normal values.
func MAD(values []float64) float64 {
	v := Finite(values)
	m := Median(v)
	for i := range v {
		v[i] = math.Abs(v[i] - m)
	}
	return 1.4826 * Median(v)
}
