package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableRows: the line that is named is there, small ones of its group are
// not, and what is shown adds up to what there is.
func TestTableRows(t *testing.T) {
	group := "gc"
	c := &Comparison{CoresLost: 1, Rows: []Row{
		{Cause: "gc/mark", CoresLost: 0.5, BaseNS: 1, PeakNS: 6},
		{Cause: "gc/assist", CoresLost: 0.05, BaseNS: 1, PeakNS: 2},
		{Cause: "lock/mutex", CoresLost: 0.2, BaseNS: 1, PeakNS: 3},
		{Cause: "sched/find", CoresLost: 0.1, BaseNS: 1, PeakNS: 2, Distinguishable: true},
		{Cause: "work/user", CoresLost: 0.1, BaseNS: 1, PeakNS: 2},
		{Cause: "unexplained", CoresLost: 0.05},
	}, Verdict: Verdict{Group: &group}}
	names := func() []string {
		var out []string
		var base, peak int64
		for _, r := range tableRows(c) {
			out = append(out, r.name)
			base, peak = base+r.BaseNS, peak+r.PeakNS
		}
		if base != 5 || peak != 15 {
			t.Errorf("shown rows add up to %d and %d, want 5 and 15", base, peak)
		}
		return out
	}
	if d := cmp.Diff([]string{"gc/mark", "sched/find", "work/user", "unexplained", "within noise (2 rows)"}, names()); d != "" {
		t.Error(d)
	}
	named, of := "lock/mutex", "lock"
	c.Verdict = Verdict{Cause: &named, Group: &of}
	if d := cmp.Diff([]string{"lock/mutex", "sched/find", "work/user", "unexplained", "within noise (2 rows)"}, names()); d != "" {
		t.Error(d)
	}
}
