package stats

import "math"

// Difference is a - b of two estimates from independent captures, with the
// interval that their own intervals imply:
//
//	low  = (a - b) - sqrt((a - aLow)² + (bHigh - b)²)
//	high = (a - b) + sqrt((aHigh - a)² + (b - bLow)²)
//
// the method of variance estimates recovery (Zou and Donner 2008, Statistics in
// Medicine 27:1693), which keeps intervals that are not symmetric and needs no
// more than what a report says. Two captures share no block, so no resample can
// be drawn for both at once. Between runs on one machine the truth may still
// drift; no interval knows of that. nil where one of the two has none.
func Difference(a float64, aCI Interval, b float64, bCI Interval) (float64, Interval) {
	d := a - b
	if aCI == nil || bCI == nil || math.IsNaN(d) || math.IsInf(d, 0) {
		return d, nil
	}
	// A bootstrap interval need not hold its own point estimate.
	aLow, aHigh := math.Min(aCI[0], a), math.Max(aCI[1], a)
	bLow, bHigh := math.Min(bCI[0], b), math.Max(bCI[1], b)
	iv := [2]float64{d - math.Hypot(a-aLow, bHigh-b), d + math.Hypot(aHigh-a, b-bLow)}
	if math.IsNaN(iv[0]) || math.IsNaN(iv[1]) || math.IsInf(iv[0], 0) || math.IsInf(iv[1], 0) {
		return d, nil
	}
	return d, &iv
}

// Ratio is a / b in the same way, by the logarithms: NaN where a or b is not
// positive, without an interval where one of the ends is not.
func Ratio(a float64, aCI Interval, b float64, bCI Interval) (float64, Interval) {
	if !(a > 0) || !(b > 0) {
		return math.NaN(), nil
	}
	_, iv := Difference(math.Log(a), logs(aCI), math.Log(b), logs(bCI))
	if iv != nil {
		iv = &[2]float64{math.Exp(iv[0]), math.Exp(iv[1])}
	}
	return a / b, iv
}

func logs(iv Interval) Interval {
	if iv == nil || !(iv[0] > 0) || !(iv[1] > 0) {
		return nil
	}
	return &[2]float64{math.Log(iv[0]), math.Log(iv[1])}
}

// NotZero is the two-sided p-value of "the figure is not zero" that an interval
// at Confidence implies, taking the side towards zero for normal: 1 without one.
func NotZero(v float64, iv Interval) float64 {
	if iv == nil || math.IsNaN(v) || v == 0 {
		return 1
	}
	half := v - iv[0]
	if v < 0 {
		half = iv[1] - v
	}
	if half <= 0 {
		return 0
	}
	z := math.Abs(v) / half * normalTwoSided
	return math.Erfc(z / math.Sqrt2)
}

// normalTwoSided is the normal quantile of Confidence.
const normalTwoSided = 1.959963984540054
