package model

import (
	"math"
	"slices"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

const (
	// sameWall is the relative difference of wall times that is taken for none:
	// with repeats, and where one repeat leaves the noise unknown.
	sameWall       = 0.02
	sameWallSingle = 0.05
	// kneeResamples is fewer than for other intervals: each is a search.
	kneeResamples = 200
)

// knee says where the curve bends: at the knee of the broken line where that is
// the law, else where the wall time gets longer again. nil where the curve does
// neither.
func (c *curve) knee(f *fits, places []host.Place) (*report.Knee, []string) {
	if len(c.threads) < 2 {
		return nil, nil
	}
	if l := f.broken; l != nil && l.knee != nil && (f.chosen == l || slices.Contains(f.rivals, l)) {
		return c.bend(l, places), nil
	}
	return c.turn(places)
}

// bend is the knee of a broken line. Its interval is that of the searched knee,
// also where a known place explains the figures: it says how well the figures
// alone would have found it.
func (c *curve) bend(l *law, places []host.Place) *report.Knee {
	k := &report.Knee{Threads: int(math.Round(*l.knee)), Place: l.place}
	if len(c.threads) >= minSearch {
		k.CI = c.interval(func(data []datum) float64 {
			f, ok := brokenSearch(data)
			if !ok {
				return math.NaN()
			}
			return f.k
		})
	}
	if k.Place == "" {
		k.Place = placeIn(k, places)
	}
	if k.CI != nil {
		k.CI[0], k.CI[1] = min(k.CI[0], k.Threads), max(k.CI[1], k.Threads)
	}
	return k
}

// turn is where a curve turns down that no broken line describes: the fastest T,
// or, where repeats tell the noise, a known place that is as fast within it. nil
// where the most threads are as fast as any.
func (c *curve) turn(places []host.Place) (*report.Knee, []string) {
	single := c.repeats() < 2
	same := sameWall
	if single {
		same = sameWallSingle
	} else if n := len(c.obs) / len(c.threads); n > 0 {
		// Twice the standard error of a difference of two medians of n.
		same = math.Max(same, 2*1.25*c.noise*math.Sqrt(2/float64(n)))
	}
	best := c.best()
	asFast := func(i int) bool { return c.median[i] <= c.median[best]*(1+same) }
	if asFast(len(c.threads) - 1) {
		return nil, nil
	}
	k := &report.Knee{Threads: c.threads[best]}
	k.CI = c.interval(func(data []datum) float64 {
		fastest := data[0]
		for _, d := range data {
			if d.wall < fastest.wall {
				fastest = d
			}
		}
		return fastest.n
	})
	closest := math.Inf(1)
	for _, p := range places {
		i := slices.Index(c.threads, p.Threads)
		// With one repeat the noise is not known, and the figures are taken as they are.
		if i < 0 || !asFast(i) || single && i != best {
			continue
		}
		if d := math.Abs(math.Log(float64(p.Threads) / float64(c.threads[best]))); d < closest {
			closest, k.Threads, k.Place = d, p.Threads, p.Name
		}
	}
	if k.CI != nil {
		k.CI[0], k.CI[1] = min(k.CI[0], k.Threads), max(k.CI[1], k.Threads)
	}
	if single {
		return k, []string{"one repeat: the bend is at the fastest T as it was measured, and no interval can be given"}
	}
	return k, nil
}

// interval resamples blocks; nil below stats.MinBlocks.
func (c *curve) interval(knee func([]datum) float64) *[2]int {
	if c.blocks < stats.MinBlocks {
		return nil
	}
	var buf []float64
	ci := stats.NewBootstrap(c.blocks, stats.SeedOf(c.wall...), kneeResamples).Interval(func(idx []int) float64 {
		data := make([]datum, 0, len(c.threads))
		for i, t := range c.threads {
			var m float64
			if m, buf = stats.MedianOf(c.wall[i], idx, buf); !math.IsNaN(m) {
				data = append(data, datum{float64(t), m / c.median[0], 1})
			}
		}
		if len(data) < len(c.threads) {
			return math.NaN()
		}
		return knee(data)
	})
	if ci == nil {
		return nil
	}
	return &[2]int{int(math.Floor(ci[0] + 1e-9)), int(math.Ceil(ci[1] - 1e-9))}
}

// placeIn names the known place closest to a searched knee within its interval;
// without an interval, only a place on the knee itself.
func placeIn(k *report.Knee, places []host.Place) string {
	lo, hi := k.Threads, k.Threads
	if k.CI != nil {
		lo, hi = min(lo, k.CI[0]), max(hi, k.CI[1])
	}
	name, closest := "", math.MaxInt
	for _, p := range places {
		d := p.Threads - k.Threads
		if d < 0 {
			d = -d
		}
		if p.Threads >= lo && p.Threads <= hi && d < closest {
			name, closest = p.Name, d
		}
	}
	return name
}
