package model

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scaleprof/scaleprof/internal/stats"
)

// Names of the laws, as in the report.
const (
	amdahlName = "amdahl"
	uslName    = "usl"
	brokenName = "broken-line"
)

// law is one fitted law.
type law struct {
	name    string
	params  []param
	free    int                     // parameters that were fitted, the scale included
	predict func(n float64) float64 // wall time at n threads, in units of the first point's
	rss     float64                 // of log wall time, over all observations
	bic     float64
	lack    float64  // p-value of the lack-of-fit test; NaN where repeats are missing
	off     float64  // root mean square deviation of the T's means from the law, relative
	knee    *float64 // broken line only
	place   string   // broken line at a known place
}

// param is one parameter of a law.
type param struct {
	name  string
	value float64
	se    float64 // NaN where there are no repeats
	df    float64
}

// ci is the t-interval of a parameter, nil without repeats. With n-p degrees of
// freedom it covered 95% in every cell of METHOD 3.3's simulation.
func (p param) ci() stats.Interval {
	if math.IsNaN(p.se) || p.df < 1 {
		return nil
	}
	h := distuv.StudentsT{Sigma: 1, Nu: p.df}.Quantile(0.5+stats.Confidence/2) * p.se
	return &[2]float64{p.value - h, p.value + h}
}

func (l *law) param(name string) *param {
	for i := range l.params {
		if l.params[i].name == name {
			return &l.params[i]
		}
	}
	return nil
}

// finish computes what every law is judged by.
func (l *law) finish(c *curve) bool {
	n, m := float64(len(c.obs)), float64(len(c.threads))
	for _, o := range c.obs {
		p := l.predict(o.n)
		if !(p > 0) || math.IsInf(p, 0) {
			return false // the law would have to be wrong within the data
		}
		d := math.Log(o.wall / p)
		l.rss += d * d
	}
	// A residual below what clocks resolve is a perfect fit, not a proof.
	const floor = 1e-10
	l.bic = n*math.Log(math.Max(l.rss/n, floor)) + float64(l.free)*math.Log(n)
	l.lack = math.NaN()
	free := float64(l.free)
	pure := c.pureError()
	missed := math.Max(0, l.rss-pure)
	l.off = math.Sqrt(missed / n)
	if df := c.repeats(); df >= 2 && m > free {
		l.lack = 1.0
		if f := missed / (m - free) / (math.Max(pure, n*floor) / float64(df)); f > 0 {
			l.lack = distuv.F{D1: m - free, D2: float64(df)}.Survival(f)
		}
	}
	return true
}

// fits reports whether repeats show no lack of fit: either chance explains what
// the law misses, or that is too small to matter.
func (l *law) fits() bool {
	return l.lack > lackLevel || !math.IsNaN(l.lack) && l.off < lackSmall
}

const (
	lackLevel = 0.01
	lackSmall = 0.005 // relative; no law is exact, and many repeats would reject all
)

// amdahl is S(N) = a + b(N-1), serial fraction b/a (METHOD F12 with kappa 0).
func fitAmdahl(c *curve) *law {
	return fitSlot(c, amdahlName, []string{"", "serial_fraction"}, func(n float64) []float64 {
		return []float64{1, n - 1}
	})
}

// usl is S(N) = a + b(N-1) + dN(N-1), sigma b/a and kappa d/a (METHOD F12).
func fitUSL(c *curve) *law {
	l := fitSlot(c, uslName, []string{"", "contention", "coherency"}, func(n float64) []float64 {
		return []float64{1, n - 1, n * (n - 1)}
	})
	if l == nil {
		return nil
	}
	sigma, kappa := l.param("contention"), l.param("coherency")
	if kappa.value > 0 && sigma.value < 1 {
		// The relative error of the peak is half of kappa's; sigma's adds little, as
		// it enters by 1-sigma.
		peak := math.Sqrt((1 - sigma.value) / kappa.value)
		l.params = append(l.params, param{"peak_threads", peak, peak * kappa.se / kappa.value / 2, kappa.df})
	}
	return l
}

// fitSlot fits slot time S(N) = N wall(N), which is linear in a law's
// parameters, with weights 1/S^2.
func fitSlot(c *curve, name string, names []string, columns func(n float64) []float64) *law {
	var x [][]float64
	var y, w []float64
	for _, o := range c.obs {
		x = append(x, columns(o.n))
		y = append(y, o.n*o.wall)
		w = append(w, o.n*c.median[o.point]/c.median[0])
	}
	if len(x) == 0 {
		return nil
	}
	fit, ok := fitLinear(x, y, w)
	if !ok || !(fit.beta[0] > 0) {
		return nil
	}
	l := &law{name: name, free: len(fit.beta)}
	l.predict = func(n float64) float64 {
		s := 0.0
		for j, v := range columns(n) {
			s += fit.beta[j] * v
		}
		return s / n
	}
	if !l.finish(c) {
		return nil
	}
	df := float64(len(c.obs) - l.free)
	sigma := math.NaN()
	if c.repeats() > 0 && df >= 1 {
		sigma = math.Sqrt(l.rss / df)
	}
	for j := 1; j < len(names); j++ {
		v, se := fit.ratio(j)
		l.params = append(l.params, param{names[j], v, se * sigma, df})
	}
	return l
}
