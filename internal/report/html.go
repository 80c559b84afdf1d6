package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed html.tmpl
var htmlPage string

// htmlTarget is what the page says of one target.
type htmlTarget struct {
	Name        string
	Comparisons []*Comparison
	Series      []Series // baseline
	Curve       *htmlCurve
}

// HTML writes one self-contained page: no script, no request to anywhere, and a
// policy that forbids both. html/template escapes what comes from the capture.
func HTML(w io.Writer, r *Report) error {
	r = cleaned(r)
	notes := &footnotes{}
	t, err := template.New("report").Funcs(template.FuncMap{
		"wall": signedWall, "percent": percent, "cores": cores, "coresRange": coresRange, "percentRange": percentRange, "unit": unit,
		"ratio":      func(v *float64) string { return optional(v, ratio) },
		"coresOr":    func(v *float64) string { return optional(v, cores) },
		"efficiency": func(p Point) string { return withRange(optional(p.Efficiency, percent), p.EfficiencyCI) },
		"path":       func(s Stack) string { return pathLine(s, 200) },
		"source":     source,
		"share":      func(v float64, c *Comparison) string { return share(v, c) },
		"bar":        bar,
		"factors":    factorLine,
		"outcome":    outcome,
		"dose":       doseText,
		"combined":   combinedText,
		"flame":      newFlame,
		"below":      func(rows, by int) int { return rows*by + 1 },
		"times":      func(a, b int) int { return a * b },
		"command":    func(s string) string { return inCapture(r, s) },
		"shape":      shapeText,
		"marks":      notes.marks,
		"footnotes":  notes.list,
		"targets":    func() []htmlTarget { return htmlTargets(r) },
	}).Parse(htmlPage)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

func htmlTargets(r *Report) []htmlTarget {
	var out []htmlTarget
	for _, name := range targets(r) {
		t := htmlTarget{Name: name, Comparisons: comparisons(r, name)}
		for _, s := range r.Series {
			if s.Target == name && s.Arm == "baseline" {
				t.Series = append(t.Series, s)
			}
		}
		t.Curve = newHTMLCurve(t.Series)
		out = append(out, t)
	}
	return out
}

// bar is a row's part of the loss in percent, for the bar behind its figure.
func bar(r Row, c *Comparison) float64 {
	if c.CoresLost <= 0 {
		return 0
	}
	return 100 * min(max(r.CoresLost/c.CoresLost, 0), 1)
}
