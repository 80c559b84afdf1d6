package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed html.tmpl
var htmlPage string

// HTML writes one self-contained page: no script, no request to anywhere, and a
// policy that forbids both. html/template escapes what comes from the capture.
func HTML(w io.Writer, r *Report) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"wall": signedWall, "percent": percent, "cores": cores, "coresRange": coresRange,
		"ratio":      func(v *float64) string { return optional(v, ratio) },
		"efficiency": func(p Point) string { return withRange(optional(p.Efficiency, percent), p.EfficiencyCI) },
		"path":       func(s Stack) string { return pathLine(s, 160) },
		"share":      func(v float64, c Comparison) string { return share(v, &c) },
		"curve":      htmlCurve,
		"bars":       htmlBars,
	}).Parse(htmlPage)
	if err != nil {
		return err
	}
	return t.Execute(w, cleaned(r))
}

// htmlPoint is a point of the curve, in the units of the drawing.
type htmlPoint struct {
	X, Y, Low, High float64
	Label           string
}

// htmlLine is one series of a target as drawn.
type htmlLine struct {
	Points []htmlPoint
	IdealX float64
	IdealY float64
	X0, Y0 float64
}

// The drawing is htmlWide by htmlHigh with a margin.
const (
	htmlWide, htmlHigh, htmlMargin = 560.0, 240.0, 36.0
)

// htmlCurve places a series' speed-ups in cores' worth over T; nil below two points.
func htmlCurve(s Series) *htmlLine {
	var pts []Point
	for _, p := range s.Points {
		if finitePositive(p.Speedup) && p.Threads > 0 {
			pts = append(pts, p)
		}
	}
	if len(pts) < 2 {
		return nil
	}
	first, last := float64(pts[0].Threads), float64(pts[len(pts)-1].Threads)
	if last <= first {
		return nil
	}
	x := func(t float64) float64 { return htmlMargin + (t-first)/(last-first)*(htmlWide-2*htmlMargin) }
	y := func(v float64) float64 {
		return htmlHigh - htmlMargin - min(max(v, 0), 1.1*last)/(1.1*last)*(htmlHigh-2*htmlMargin)
	}
	out := &htmlLine{X0: x(first), Y0: y(first), IdealX: x(last), IdealY: y(last)}
	for _, p := range pts {
		v := *p.Speedup * first
		pt := htmlPoint{X: x(float64(p.Threads)), Y: y(v), Low: y(v), High: y(v), Label: fmt.Sprintf("T=%d: %.2f cores' worth", p.Threads, v)}
		if iv := p.SpeedupCI; iv != nil {
			pt.Low, pt.High = y(iv[0]*first), y(iv[1]*first)
		}
		out.Points = append(out.Points, pt)
	}
	return out
}

// htmlBar is a cause or a call path of it in the picture of the loss: a width in
// percent of all that grew.
type htmlBar struct {
	Name        string
	Left, Width float64
	Cores       float64
	Y           int
}

// htmlBars is the loss as an icicle: causes that grew, and below each the call
// paths that the report names. What shrank has no width and is left out.
func htmlBars(c Comparison) []htmlBar {
	total := 0.0
	for _, r := range c.Rows {
		total += max(r.CoresLost, 0)
	}
	if total <= 0 {
		return nil
	}
	var out []htmlBar
	left := 0.0
	for _, r := range c.Rows {
		width := 100 * max(r.CoresLost, 0) / total
		if width < 0.5 {
			continue
		}
		out = append(out, htmlBar{Name: r.Cause, Left: left, Width: width, Cores: r.CoresLost})
		at := left
		for _, s := range r.Stacks {
			part := 100 * max(s.CoresLost, 0) / total
			if part < 0.5 || at+part > left+width+0.01 {
				continue
			}
			out = append(out, htmlBar{Name: pathLine(s, 200), Left: at, Width: part, Cores: s.CoresLost, Y: 24})
			at += part
		}
		left += width
	}
	return out
}
