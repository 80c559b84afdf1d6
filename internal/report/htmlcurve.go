package report

import (
	"fmt"
	"math"
	"strings"
)

// htmlCurve is the curve of a target as a drawing: what each T gives, in cores'
// worth of the lowest T, as Curve draws it in a terminal.
type htmlCurve struct {
	Wide, High   float64
	Left, Right  float64 // of the plot
	Top, Bottom  float64
	Ideal        string // points of a line
	Ceiling      string
	Series       []htmlSeries
	XTicks       []htmlTick
	YTicks       []htmlTick
	HasIntervals bool
}

type htmlSeries struct {
	Name   string
	Class  int
	Line   string // points of a line
	Points []htmlPoint
	LegendX,
	LegendY float64
}

type htmlPoint struct {
	X, Y, Low, High float64
	Interval        bool
	Label           string
}

type htmlTick struct {
	At    float64
	Label string
}

// newHTMLCurve draws the baseline series of one target; nil below two points.
func newHTMLCurve(series []Series) *htmlCurve {
	p := newPlot(series, 100)
	if p == nil {
		return nil
	}
	c := &htmlCurve{Wide: 640, High: 320, Left: 52, Right: 624, Top: 14, Bottom: 276}
	top := p.top * 1.05
	x := func(t int) float64 {
		return c.Left + 14 + float64(t-p.tLo)/float64(p.tHi-p.tLo)*(c.Right-c.Left-28)
	}
	y := func(v float64) float64 { return c.Bottom - math.Min(math.Max(v, 0), top)/top*(c.Bottom-c.Top) }
	at := func(t int, v float64) string { return fmt.Sprintf("%.1f,%.1f", x(t), y(v)) }
	// The ideal leaves the plot at the top rather than bend there.
	end := math.Min(float64(p.tHi), top)
	c.Ideal = at(p.tLo, float64(p.tLo)) + " " + fmt.Sprintf("%.1f,%.1f", c.Left+14+(end-float64(p.tLo))/float64(p.tHi-p.tLo)*(c.Right-c.Left-28), y(end))
	for i := range p.series {
		s := &p.series[i]
		out := htmlSeries{Name: s.Mode + " mode", Class: i, LegendX: c.Left + 12, LegendY: c.Top + 16 + 17*float64(i)}
		var line, ceiling []string
		for _, pt := range s.Points {
			if pt.Threads <= 0 {
				continue
			}
			if finitePositive(pt.CeilingSpeedup) {
				ceiling = append(ceiling, at(pt.Threads, worth(s, *pt.CeilingSpeedup)))
			}
			if !finitePositive(pt.Speedup) {
				continue
			}
			v := worth(s, *pt.Speedup)
			line = append(line, at(pt.Threads, v))
			hp := htmlPoint{X: x(pt.Threads), Y: y(v), Label: fmt.Sprintf("%s mode, T=%d: %.2f cores' worth", s.Mode, pt.Threads, v)}
			if iv := pt.SpeedupCI; iv != nil && iv[0] > 0 {
				hp.Interval, c.HasIntervals = true, true
				hp.Low, hp.High = y(worth(s, iv[0])), y(worth(s, iv[1]))
				hp.Label += fmt.Sprintf(" (95%%: %.2f to %.2f)", worth(s, iv[0]), worth(s, iv[1]))
			}
			out.Points = append(out.Points, hp)
		}
		out.Line = strings.Join(line, " ")
		if c.Ceiling == "" && len(ceiling) > 1 {
			c.Ceiling = strings.Join(ceiling, " ") // one machine has one ceiling
		}
		c.Series = append(c.Series, out)
	}
	last := math.Inf(-1)
	for _, t := range p.threads {
		if x(t)-last >= 18 || t == p.tHi {
			c.XTicks = append(c.XTicks, htmlTick{x(t), fmt.Sprint(t)})
			last = x(t)
		}
	}
	for v, step := 0.0, niceStep(top); v <= top; v += step {
		c.YTicks = append(c.YTicks, htmlTick{y(v), fmt.Sprintf("%.3g", v)})
	}
	return c
}

// niceStep is 1, 2 or 5 times a power of ten, four to eight of them up to top.
func niceStep(top float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(top/4)))
	for _, m := range []float64{1, 2, 5} {
		if top/(m*power) <= 8 {
			return m * power
		}
	}
	return 10 * power
}
