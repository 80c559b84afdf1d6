package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a figure with what is known of its error.
type Estimate struct {
	Value float64
	CI    Interval
	SE    float64 // standard error; NaN where it cannot be told
	DF    float64 // its degrees of freedom
}

func unknown(v float64) Estimate { return Estimate{Value: v, SE: math.NaN()} }

// Above is the one-sided p-value of "the figure is above zero": 1 where its
// error is not known. floor is a standard error below which the figure cannot
// be known, such as the counting noise of CPU samples; 0 for none. Repeats that
// happen to agree are not taken for certainty below it.
func (e Estimate) Above(floor float64) float64 {
	if math.IsNaN(e.SE) || math.IsNaN(e.Value) {
		return 1
	}
	se := math.Max(e.SE, floor)
	if se == 0 {
		if e.Value > 0 {
			return 0
		}
		return 1
	}
	return distuv.StudentsT{Sigma: 1, Nu: math.Max(e.DF, 1)}.Survival(e.Value / se)
}

// spread is a statistic's variance from resampling one group of runs alone.
type spread struct {
	v    float64
	n    float64
	mean bool // the group enters by means, so that Student's t applies; else by medians
}

// corrected undoes that resampling n values understates their variance.
func (s spread) corrected() float64 { return s.v * s.n / (s.n - 1) }

// combine makes an estimate of the point value, the sorted resamples' ends and
// each group's own spread. Degrees of freedom are Welch's and Satterthwaite's.
func combine(point float64, ends [2]float64, groups []spread) Estimate {
	e := unknown(point)
	if math.IsNaN(ends[0]) || math.IsNaN(point) {
		return e
	}
	var raw, median, means, meansDF, allDF float64
	for _, g := range groups {
		c := g.corrected()
		raw += g.v
		allDF += c * c / (g.n - 1)
		if g.mean {
			means += c
			meansDF += c * c / (g.n - 1)
		} else {
			median += c
		}
	}
	total := median + means
	e.SE = math.Sqrt(total)
	if raw == 0 {
		e.CI = &[2]float64{point, point}
		e.DF = math.Inf(1)
		for _, g := range groups {
			e.DF = math.Min(e.DF, g.n-1)
		}
		return e
	}
	e.DF = total * total / allDF
	t := 1.0
	if meansDF > 0 {
		t = tQuantile(0.5+Confidence/2, means*means/meansDF) / distuv.UnitNormal.Quantile(0.5+Confidence/2)
	}
	stretch := math.Sqrt((median + means*t*t) / raw)
	e.CI = &[2]float64{point + stretch*(ends[0]-point), point + stretch*(ends[1]-point)}
	return e
}

func tQuantile(p, df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: math.Max(df, 1)}.Quantile(p)
}

func variance(values []float64) float64 {
	v := Finite(values)
	if len(v) < 2 {
		return 0
	}
	m, ss := Mean(v), 0.0
	for _, x := range v {
		ss += (x - m) * (x - m)
	}
	return ss / float64(len(v)-1)
}
