package analyze

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/report"
)

// groups adds up the rows of each group, in the order in which the groups first
// appear, with the interval of the sum over the same resamples as the rows'.
func (p *pair) groups(rows []report.Row) []report.Group {
	var out []report.Group
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.Group]
		if !ok {
			i = len(out)
			at[r.Group] = i
			out = append(out, report.Group{Group: r.Group})
		}
		g := &out[i]
		g.BaseNS += r.BaseNS
		g.PeakNS += r.PeakNS
		g.ExcessNS += r.ExcessNS
		g.CoresLost += r.CoresLost
	}
	est := p.resampled(func(f figures) []float64 {
		sums := make([]float64, len(out))
		for _, r := range rows {
			v := f.rows[cause.ID(r.Cause)]
			sums[at[r.Group]] += cores(v[1]-v[0], f, p)
		}
		return sums
	})
	for i, e := range est {
		if e.CI != nil {
			out[i].CoresLostCI = finite(*e.CI)
		}
	}
	return out
}
