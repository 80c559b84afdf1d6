package model

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/scaleprof/scaleprof/internal/host"
)

// The broken line: up to the knee k every core counts, beyond it each counts for
// a yield y of one,
//
//	cores(N) = min(N, k) + y max(0, N-k)
//	wall(N)  = A/cores(N) + B
//
// so that y = 1 is Amdahl's law with serial fraction B/(A+B), and y < 0 is a curve
// that turns down. With B = 0 throughput is a broken line (METHOD 3.4). For a
// given k and y the rest is linear.
type broken struct {
	k, y, a, b float64
	sse        float64 // of relative wall time
}

func cores(n, k, y float64) float64 {
	return math.Min(n, k) + y*math.Max(0, n-k)
}

// datum is one T for the search: its wall time and how many runs it stands for.
type datum struct{ n, wall, weight float64 }

// at fits A and B for a knee and a yield, closed form.
func brokenAt(data []datum, k, y float64) (broken, bool) {
	var s11, s12, s22, t1, t2 float64
	for _, d := range data {
		eff := cores(d.n, k, y)
		if eff <= 0 {
			return broken{}, false
		}
		x1, x2 := 1/(eff*d.wall), 1/d.wall
		s11 += d.weight * x1 * x1
		s12 += d.weight * x1 * x2
		s22 += d.weight * x2 * x2
		t1 += d.weight * x1
		t2 += d.weight * x2
	}
	det := s11*s22 - s12*s12
	if !(det > 1e-12*s11*s22) {
		return broken{}, false
	}
	f := broken{k: k, y: y, a: (t1*s22 - t2*s12) / det, b: (t2*s11 - t1*s12) / det}
	for _, d := range data {
		r := 1 - (f.a/cores(d.n, k, y)+f.b)/d.wall
		f.sse += d.weight * r * r
	}
	return f, f.a > 0
}

// Golden sections within 0.4 of a yield: to 1e-3 in a search, to 1e-6 once.
const (
	coarse = 12
	fine   = 27
)

// brokenYield finds the best yield for a knee: a coarse look over what machines
// do, then golden sections around the best.
func brokenYield(data []datum, k float64, sections int) (broken, bool) {
	const lo, step, steps = -1.0, 0.2, 13
	best, ok := broken{sse: math.Inf(1)}, false
	try := func(y float64) float64 {
		f, fine := brokenAt(data, k, y)
		if !fine {
			return math.Inf(1)
		}
		if f.sse < best.sse {
			best, ok = f, true
		}
		return f.sse
	}
	for i := range steps + 1 {
		try(lo + float64(i)*step)
	}
	if !ok {
		return best, false
	}
	const ratio = 0.6180339887498949
	a, b := best.y-step, best.y+step
	x1, x2 := b-ratio*(b-a), a+ratio*(b-a)
	f1, f2 := try(x1), try(x2)
	for range sections {
		if f1 < f2 {
			b, x2, f2 = x2, x1, f1
			x1 = b - ratio*(b-a)
			f1 = try(x1)
		} else {
			a, x1, f1 = x1, x2, f2
			x2 = a + ratio*(b-a)
			f2 = try(x2)
		}
	}
	return best, true
}

// brokenSearch finds the best knee between the second and the last but one T.
func brokenSearch(data []datum) (broken, bool) {
	best, ok := broken{sse: math.Inf(1)}, false
	if len(data) < 4 {
		return best, false
	}
	lo, hi := data[1].n, data[len(data)-2].n
	try := func(k float64, sections int) {
		if f, fine := brokenYield(data, k, sections); fine && f.sse < best.sse {
			best, ok = f, true
		}
	}
	// A look at 16 places, halving the step around the best ever after.
	step := (hi - lo) / 16
	for i := range 17 {
		try(lo+float64(i)*step, coarse)
	}
	for step /= 2; step > 0.05; step /= 2 {
		k := best.k
		if k-step >= lo {
			try(k-step, coarse)
		}
		if k+step <= hi {
			try(k+step, coarse)
		}
	}
	if ok {
		try(best.k, fine)
	}
	return best, ok
}

// data are the T's means over the observations.
func (c *curve) data() []datum {
	out := make([]datum, len(c.threads))
	for i := range out {
		out[i].n = float64(c.threads[i])
	}
	for _, o := range c.obs {
		out[o.point].wall += o.wall
		out[o.point].weight++
	}
	for i := range out {
		out[i].wall /= out[i].weight
	}
	return out
}

// fitBroken is the broken line at one knee, or with the knee searched for.
// Two T at or below the knee and one above are the least that place it.
func fitBroken(c *curve, k *host.Place) *law {
	data := c.data()
	var f broken
	var ok bool
	l := &law{name: brokenName, free: 3}
	if k != nil {
		below, above := 0, 0
		for _, t := range c.threads {
			if t <= k.Threads {
				below++
			} else {
				above++
			}
		}
		if below < 2 || above < 1 {
			return nil
		}
		f, ok = brokenYield(data, float64(k.Threads), fine)
		l.place = k.Name
	} else {
		f, ok = brokenSearch(data)
		l.free++
	}
	if !ok {
		return nil
	}
	l.knee = &f.k
	l.predict = func(n float64) float64 { return f.a/cores(n, f.k, f.y) + f.b }
	if !l.finish(c) {
		return nil
	}
	df := float64(len(c.obs) - l.free)
	se := f.errors(c)
	if c.repeats() == 0 || df < 1 {
		se = [2]float64{math.NaN(), math.NaN()}
	}
	sigma := math.Sqrt(l.rss / math.Max(df, 1))
	l.params = []param{
		{"knee", f.k, math.NaN(), df},
		{"yield", f.y, se[0] * sigma, df},
		{"serial_fraction", f.b / (f.a + f.b), se[1] * sigma, df},
	}
	return l
}

// errors are the standard errors of yield and serial fraction in units of the
// relative error, the knee taken as known: from the linearised fit.
func (f broken) errors(c *curve) [2]float64 {
	jac := mat.NewDense(len(c.obs), 3, nil)
	for i, o := range c.obs {
		w := c.median[o.point] / c.median[0]
		eff := cores(o.n, f.k, f.y)
		jac.Set(i, 0, 1/eff/w)
		jac.Set(i, 1, 1/w)
		jac.Set(i, 2, -f.a/(eff*eff)*math.Max(0, o.n-f.k)/w)
	}
	var jtj mat.SymDense
	jtj.SymOuterK(1, jac.T())
	var chol mat.Cholesky
	unknown := [2]float64{math.NaN(), math.NaN()}
	if !chol.Factorize(&jtj) || chol.Cond() > 1e14 {
		return unknown
	}
	var cov mat.SymDense
	if chol.InverseTo(&cov) != nil {
		return unknown
	}
	s := f.a + f.b
	ga, gb := -f.b/(s*s), f.a/(s*s)
	v := ga*ga*cov.At(0, 0) + 2*ga*gb*cov.At(0, 1) + gb*gb*cov.At(1, 1)
	return [2]float64{math.Sqrt(cov.At(2, 2)), math.Sqrt(math.Max(v, 0))}
}
