package analyze

import (
	"context"
	"slices"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// topCauses is how many groups of causes `--arms auto` tests.
const topCauses = 2

// gcDoses is the dose response of the collector; the baseline is the dose of
// 100. Two more make a line that can be seen not to fit; further ones are for
// --arms, as a default budget has no room for six blocks of each.
func gcDoses() []string { return []string{"gogc=400", "gogc=800"} }

// smallClaim is the part of the loss below which a group is not worth an arm.
const smallClaim = 0.15

// ChooseArms explains a capture so far and names the arms that test the top
// causes of each target in thread mode, as ARM@TARGET. A target that does not
// lose gets none.
func ChooseArms(ctx context.Context, src *record.Capture) ([]string, error) {
	r, err := Explain(ctx, src, Options{})
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Mode != string(record.Thread) || 1-c.Efficiency < notableLoss {
			continue
		}
		for _, a := range armsFor(c, hasProcesses(r, c.Target)) {
			out = append(out, a+"@"+c.Target)
		}
	}
	return out, nil
}

func hasProcesses(r *report.Report, target string) bool {
	return slices.ContainsFunc(r.Series, func(s report.Series) bool {
		return s.Target == target && s.Mode == string(record.Process)
	})
}

// armsFor are the arms of a comparison's top groups, the collector's as a dose
// response. Process mode is not repeated where it is captured anyway.
func armsFor(c *report.Comparison, processes bool) []string {
	var arms []string
	for i, g := range rank(c) {
		if i == topCauses || g.claim() < smallClaim*c.CoresLost {
			break
		}
		wanted := gcDoses()
		if g.group != "gc" && g.group != "alloc" {
			entry, _ := cause.Lookup(cause.ID(g.top.Cause))
			wanted = entry.Arms
		}
		for _, a := range wanted {
			if a == "mode=process" && processes || slices.Contains(arms, a) {
				continue
			}
			arms = append(arms, a)
		}
	}
	return arms
}
