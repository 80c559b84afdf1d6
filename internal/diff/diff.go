// Package diff compares two reports of the same work: did a change help, at
// which T, by which cause, and what took its place. It is pure: two
// report.Report values in, one Diff out.
//
// The two captures are independent, so the interval of each difference is made
// of both captures' intervals (stats.Difference); where one has none, neither
// has the difference, and nothing is called better or worse.
package diff

import (
	"math"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Schema names the JSON form.
const Schema = "scaleprof.diff/1"

const baseline = "baseline"

// Direction is what an interval says of a difference.
type Direction string

const (
	Better     Direction = "better"
	Worse      Direction = "worse"
	Noise      Direction = "within noise"
	CannotTell Direction = "cannot tell" // no interval
)

// Diff is two reports side by side.
type Diff struct {
	Schema     string     `json:"schema"`
	Mismatches []Mismatch `json:"mismatches"` // compared all the same, because it was forced
	Changes    []Mismatch `json:"changes"`
	Pairs      []Pair     `json:"pairs"`
	OnlyOld    []string   `json:"only_old"` // "target, mode" without a counterpart
	OnlyNew    []string   `json:"only_new"`
}

// Pair is one target in one mode before and after.
type Pair struct {
	Target  string       `json:"target"`
	Mode    string       `json:"mode"`
	Points  []Point      `json:"points"`
	OldKnee *report.Knee `json:"old_knee"`
	NewKnee *report.Knee `json:"new_knee"`
	Causes  *Causes      `json:"causes"`
	Why     string       `json:"why,omitempty"` // causes are not compared
	Text    []string     `json:"text"`          // the answer, a sentence each
}

// Figure is one figure before and after with the difference, after - before.
type Figure struct {
	Old    float64         `json:"old"`
	New    float64         `json:"new"`
	OldCI  report.Interval `json:"old_ci"`
	NewCI  report.Interval `json:"new_ci"`
	Diff   float64         `json:"diff"`
	DiffCI report.Interval `json:"diff_ci"`
	Says   Direction       `json:"says"`
}

// Point is one T that both have.
type Point struct {
	Threads    int             `json:"threads"`
	OldWallNS  int64           `json:"old_wall_ns"`
	NewWallNS  int64           `json:"new_wall_ns"`
	Faster     *float64        `json:"faster"` // operations in the same time, after over before
	FasterCI   report.Interval `json:"faster_ci"`
	FasterSays Direction       `json:"faster_says"`
	Efficiency *Figure         `json:"efficiency"` // against the lowest T; nil at it, or where that differs
}

// Causes is what was lost between two T before and after, in cores at peak.
type Causes struct {
	Base   int    `json:"base"`
	Peak   int    `json:"peak"`
	Lost   Figure `json:"cores_lost"`
	Rows   []Row  `json:"rows"`
	Groups []Row  `json:"groups"`
}

// Row is one cause or group; a cause that one side did not see is 0 there.
type Row struct {
	Name string `json:"name"`
	Figure
}

// Compare compares what both reports have. It does not look at Mismatches: the
// caller decides whether they matter.
func Compare(before, after *report.Report) *Diff {
	d := &Diff{Schema: Schema, Mismatches: []Mismatch{}, Pairs: []Pair{}, OnlyOld: []string{}, OnlyNew: []string{}}
	d.Changes = append([]Mismatch{}, Changes(before, after)...)
	for i := range before.Series {
		o := &before.Series[i]
		if o.Arm != baseline {
			continue
		}
		n := find(after, o.Target, o.Mode)
		if n == nil {
			d.OnlyOld = append(d.OnlyOld, o.Target+", "+o.Mode)
			continue
		}
		p := Pair{Target: o.Target, Mode: o.Mode, Points: points(o, n), OldKnee: o.Knee, NewKnee: n.Knee}
		oc, nc := comparison(before, o.Target, o.Mode), comparison(after, o.Target, o.Mode)
		p.Causes, p.Why = causes(oc, nc)
		p.Text = answer(&p, nc)
		d.Pairs = append(d.Pairs, p)
	}
	for i := range after.Series {
		if n := &after.Series[i]; n.Arm == baseline && find(before, n.Target, n.Mode) == nil {
			d.OnlyNew = append(d.OnlyNew, n.Target+", "+n.Mode)
		}
	}
	return d
}

func find(r *report.Report, target, mode string) *report.Series {
	for i := range r.Series {
		if s := &r.Series[i]; s.Target == target && s.Mode == mode && s.Arm == baseline {
			return s
		}
	}
	return nil
}

func comparison(r *report.Report, target, mode string) *report.Comparison {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target && c.Mode == mode && c.Arm == baseline {
			return c
		}
	}
	return nil
}

func pointAt(s *report.Series, threads int) *report.Point {
	for i := range s.Points {
		if s.Points[i].Threads == threads {
			return &s.Points[i]
		}
	}
	return nil
}

func points(o, n *report.Series) []Point {
	out := []Point{}
	for i := range o.Points {
		p := &o.Points[i]
		q := pointAt(n, p.Threads)
		if q == nil {
			continue
		}
		pt := Point{Threads: p.Threads, OldWallNS: p.WallNS, NewWallNS: q.WallNS, FasterSays: CannotTell}
		// Time for an operation: what --force compares may differ in operations.
		ow, nw := float64(p.WallNS)/float64(max(p.Ops, 1)), float64(q.WallNS)/float64(max(q.Ops, 1))
		ratio, iv := stats.Ratio(ow, perOp(p), nw, perOp(q))
		if !math.IsNaN(ratio) {
			pt.Faster, pt.FasterCI = &ratio, iv
			pt.FasterSays = says(ratio-1, shift(iv, -1))
		}
		same := o.Points[0].Threads == n.Points[0].Threads
		if same && i > 0 && p.Efficiency != nil && q.Efficiency != nil {
			f := figure(*p.Efficiency, p.EfficiencyCI, *q.Efficiency, q.EfficiencyCI)
			f.Says = says(f.Diff, f.DiffCI)
			pt.Efficiency = &f
		}
		out = append(out, pt)
	}
	return out
}

func perOp(p *report.Point) report.Interval {
	if p.WallCINS == nil {
		return nil
	}
	n := float64(max(p.Ops, 1))
	return &[2]float64{float64(p.WallCINS[0]) / n, float64(p.WallCINS[1]) / n}
}

func shift(iv report.Interval, by float64) report.Interval {
	if iv == nil {
		return nil
	}
	return &[2]float64{iv[0] + by, iv[1] + by}
}

func figure(o float64, oci report.Interval, n float64, nci report.Interval) Figure {
	f := Figure{Old: o, New: n, OldCI: oci, NewCI: nci}
	f.Diff, f.DiffCI = stats.Difference(n, nci, o, oci)
	return f
}

// says reads a difference in which more is better.
func says(d float64, iv report.Interval) Direction {
	switch {
	case iv == nil:
		return CannotTell
	case iv[0] > 0:
		return Better
	case iv[1] < 0:
		return Worse
	}
	return Noise
}

// causes compares two comparisons of the same two T.
func causes(o, n *report.Comparison) (*Causes, string) {
	switch {
	case o == nil || n == nil:
		return nil, "one of the two compares no two T"
	case o.Base != n.Base || o.Peak != n.Peak:
		return nil, "the two compare different T; choose them with --from and --to"
	}
	c := &Causes{Base: n.Base, Peak: n.Peak, Rows: []Row{}, Groups: []Row{}}
	c.Lost = figure(o.CoresLost, o.CoresLostCI, n.CoresLost, n.CoresLostCI)
	c.Lost.Says = says(-c.Lost.Diff, negate(c.Lost.DiffCI))
	switch {
	case len(o.Rows) == 0 || len(n.Rows) == 0:
		return c, "one of the two has no profiled runs, so its causes are not known"
	case (o.ClosureError == nil) != (n.ClosureError == nil):
		return c, "one of the two was accounted without a trace, so its waits are not known"
	}
	type side = map[string]*report.Row
	index := func(rows []report.Row) side {
		m := side{}
		for i := range rows {
			m[rows[i].Cause] = &rows[i]
		}
		return m
	}
	a, b := index(o.Rows), index(n.Rows)
	add := func(name string) {
		f := figure(value(a[name]), interval(a[name]), value(b[name]), interval(b[name]))
		c.Rows = append(c.Rows, Row{name, f})
	}
	for i := range o.Rows {
		add(o.Rows[i].Cause)
	}
	for i := range n.Rows {
		if a[n.Rows[i].Cause] == nil {
			add(n.Rows[i].Cause)
		}
	}
	c.Groups = groups(o, n)
	judge(c.Rows)
	judge(c.Groups)
	return c, ""
}

func groups(o, n *report.Comparison) []Row {
	find := func(c *report.Comparison, name string) *report.Row {
		for _, g := range c.Groups {
			if g.Group == name {
				return &report.Row{CoresLost: g.CoresLost, CoresLostCI: g.CoresLostCI}
			}
		}
		return nil
	}
	out := []Row{}
	seen := map[string]bool{}
	for _, c := range []*report.Comparison{o, n} {
		for _, g := range c.Groups {
			if seen[g.Group] {
				continue
			}
			seen[g.Group] = true
			a, b := find(o, g.Group), find(n, g.Group)
			out = append(out, Row{g.Group, figure(value(a), interval(a), value(b), interval(b))})
		}
	}
	return out
}

func value(r *report.Row) float64 {
	if r == nil {
		return 0
	}
	return r.CoresLost
}

// interval of a row; a cause that was never seen in runs with rows took nothing.
func interval(r *report.Row) report.Interval {
	if r == nil {
		return &[2]float64{}
	}
	return r.CoresLostCI
}

// judge says of each row whether it changed, with Holm's correction over all.
func judge(rows []Row) {
	p := make([]float64, len(rows))
	for i := range rows {
		p[i] = stats.NotZero(rows[i].Diff, rows[i].DiffCI)
	}
	for i, adjusted := range stats.Holm(p) {
		r := &rows[i]
		switch {
		case r.DiffCI == nil:
			r.Says = CannotTell
		case adjusted >= stats.Alpha || math.Abs(r.Diff) < leastCores:
			r.Says = Noise
		case r.Diff < 0:
			r.Says = Better
		default:
			r.Says = Worse
		}
	}
}

// leastCores is the change of a cause below which it is not spoken of, in cores:
// two captures of one program differ by more than their intervals know.
const leastCores = 0.02

func negate(iv report.Interval) report.Interval {
	if iv == nil {
		return nil
	}
	return &[2]float64{-iv[1], -iv[0]}
}
