// Package model fits scaling laws to the wall times of one workload over T and
// says where the curve bends, or that these T cannot tell.
//
// Three laws compete: Amdahl's, the Universal Scalability Law, and Amdahl's with
// a knee beyond which an added core is worth only a part of one. The last is
// there because a machine with SMT looks exactly like the second to anyone who
// does not ask (METHOD 3.3). A law is called identified when there are enough
// different T, repeats show no lack of fit, and no other law explains the figures
// as well; at most one is chosen.
package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Point is one T with its wall times in ns by block, NaN where a block lacks the run.
type Point struct {
	Threads int
	WallNS  []float64
}

// Result is what a curve says. Fields are nil where it does not say it.
type Result struct {
	Models   []report.Model
	Knee     *report.Knee
	Best     *int         // T of the shortest median wall time
	Useless  *int         // beyond this T an added core gives under MinGain of itself
	Marginal []Gain       // by point, ascending T
	Notes    []string     // what the reader must know about the above
	Places   []host.Place // those that the curve was held against
}

// Gain is what each core added since the point before gives, in cores: 1 is a
// core that is fully used, below 0 it slows the others down.
type Gain struct {
	Threads int
	Value   float64 // NaN for the first point
	CI      stats.Interval
}

// Analyze fits the laws to points. Places are the numbers of CPUs at which this
// machine may bend a curve (host.Places). Points that name the same T twice are
// merged; points without any usable time are left out.
func Analyze(points []Point, places []host.Place) Result {
	c := newCurve(points)
	out := Result{Models: []report.Model{}, Places: places}
	if len(c.threads) == 0 {
		return out
	}
	best := c.best()
	out.Best = &c.threads[best]
	out.Marginal, out.Useless = c.gains()
	f := fitAll(c, places)
	out.Models = f.models()
	out.Knee, out.Notes = c.knee(f, places)
	return out
}

// Into puts the result into a series of the report.
func (r Result) Into(s *report.Series) {
	s.Models, s.Knee, s.Best, s.Useless = r.Models, r.Knee, r.Best, r.Useless
	s.Notes = append(s.Notes, r.Notes...)
	for i := range s.Points {
		for _, g := range r.Marginal {
			if v := g.Value; g.Threads == s.Points[i].Threads && !math.IsNaN(v) {
				s.Points[i].Marginal = &v
			}
		}
	}
}

// curve is the points in the form that the fits need.
type curve struct {
	threads []int
	wall    [][]float64 // by T and block, NaN where missing; equal lengths
	median  []float64   // ns, by T
	blocks  int
	obs     []observation // finite ones, outliers pulled in
	noise   float64       // standard deviation of log wall time within a T; NaN with single repeats
}

// observation is one run.
type observation struct {
	point int
	n     float64 // T
	wall  float64 // in units of the first point's median
}

func newCurve(points []Point) *curve {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Threads, b.Threads) })
	c := &curve{}
	for _, p := range points {
		w := make([]float64, len(p.WallNS))
		for i, v := range p.WallNS {
			if w[i] = v; !(v > 0) || math.IsInf(v, 0) {
				w[i] = math.NaN()
			}
		}
		if p.Threads < 1 || len(stats.Finite(w)) == 0 {
			continue
		}
		if n := len(c.threads); n > 0 && c.threads[n-1] == p.Threads {
			c.wall[n-1] = append(c.wall[n-1], w...)
			continue
		}
		c.threads = append(c.threads, p.Threads)
		c.wall = append(c.wall, w)
	}
	for _, w := range c.wall {
		c.blocks = max(c.blocks, len(w))
	}
	for i, w := range c.wall {
		for len(w) < c.blocks {
			w = append(w, math.NaN())
		}
		c.wall[i] = w
		c.median = append(c.median, stats.Median(w))
	}
	c.observe()
	return c
}

// clip is how many standard deviations from its cell's median an observation
// may stand before it is pulled in: least squares would follow a slow outlier.
const clip = 3

// observe collects the observations, outliers pulled in to clip standard
// deviations; the deviation is the MAD of all runs about the medians of their T.
func (c *curve) observe() {
	var dev []float64
	extra := 0
	for i, w := range c.wall {
		n := 0
		for _, v := range stats.Finite(w) {
			dev = append(dev, math.Abs(math.Log(v/c.median[i])))
			n++
		}
		extra += n - 1
	}
	c.noise = math.NaN()
	limit := math.Inf(1)
	if extra > 0 {
		// Each median took one degree of freedom.
		c.noise = 1.4826 * stats.Median(dev) * math.Sqrt(float64(len(dev))/float64(extra))
		if extra >= len(c.wall)*2 {
			limit = clip * c.noise
		}
	}
	for i, w := range c.wall {
		for _, v := range stats.Finite(w) {
			d := math.Log(v / c.median[i])
			d = math.Max(-limit, math.Min(limit, d))
			c.obs = append(c.obs, observation{i, float64(c.threads[i]), c.median[i] / c.median[0] * math.Exp(d)})
		}
	}
}

// repeats is the number of observations beyond one for each T: the degrees of
// freedom of pure error.
func (c *curve) repeats() int { return len(c.obs) - len(c.threads) }

// pureError is the sum of squares of log wall times about the mean of their T.
func (c *curve) pureError() float64 {
	sum, n := make([]float64, len(c.threads)), make([]float64, len(c.threads))
	for _, o := range c.obs {
		sum[o.point] += math.Log(o.wall)
		n[o.point]++
	}
	ss := 0.0
	for _, o := range c.obs {
		d := math.Log(o.wall) - sum[o.point]/n[o.point]
		ss += d * d
	}
	return ss
}

// best is the index of the shortest median wall time; of equal ones the fewest threads.
func (c *curve) best() int {
	best := 0
	for i, m := range c.median {
		if m < c.median[best] {
			best = i
		}
	}
	return best
}
