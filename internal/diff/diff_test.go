package diff

import (
	"strings"
	"testing"

	"github.com/scaleprof/scaleprof/internal/report"
)

func number(v float64) *float64 { return &v }

// made is a report of one target at T=1 and 4 with the given walls at both, the
// efficiency that follows and one row.
func made(base, peak int64, cause string, lost float64) *report.Report {
	e := float64(base) / float64(4*peak)
	ci := func(ns int64) *[2]int64 { return &[2]int64{ns * 98 / 100, ns * 102 / 100} }
	row := report.Row{Cause: cause, CoresLost: lost, CoresLostCI: &[2]float64{lost - 0.1, lost + 0.1}}
	row.Group, _, _ = strings.Cut(cause, "/")
	return &report.Report{
		Host: report.Host{CPUs: 4, CPU: "chip", OS: "linux", Arch: "amd64"}, Toolchain: report.Toolchain{Go: "go1.26.8"},
		Series: []report.Series{{Target: "x", Mode: "thread", Arm: baseline, Points: []report.Point{
			{Threads: 1, Ops: 100, WallNS: base, WallCINS: ci(base), Efficiency: number(1)},
			{Threads: 4, Ops: 100, WallNS: peak, WallCINS: ci(peak), Efficiency: &e, EfficiencyCI: &[2]float64{e - 0.02, e + 0.02}},
		}}},
		Comparisons: []report.Comparison{{
			Target: "x", Mode: "thread", Arm: baseline, Base: 1, Peak: 4, CoresLost: lost, CoresLostCI: row.CoresLostCI,
			Rows: []report.Row{row}, Groups: []report.Group{{Group: row.Group, CoresLost: lost, CoresLostCI: row.CoresLostCI}},
		}},
	}
}

func TestCompareFix(t *testing.T) {
	d := Compare(made(4000, 2000, "lock/mutex", 2), made(4000, 1100, "gc/mark", 0.4))
	if len(d.Pairs) != 1 {
		t.Fatalf("%d pairs", len(d.Pairs))
	}
	p := d.Pairs[0]
	if p.Points[0].FasterSays != Noise || p.Points[1].FasterSays != Better || p.Points[1].Efficiency.Says != Better {
		t.Errorf("points say %s, %s, %s", p.Points[0].FasterSays, p.Points[1].FasterSays, p.Points[1].Efficiency.Says)
	}
	if r := p.Causes.Rows; len(r) != 2 || r[0].Says != Better || r[1].Says != Worse {
		t.Errorf("rows %+v", r)
	}
	text := strings.Join(p.Text, "\n")
	for _, want := range []string{"lost less at T=4: lock/mutex by 2.00 cores", "lost more at T=4: gc/mark by 0.40 cores"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestCompareSame(t *testing.T) {
	d := Compare(made(4000, 2000, "lock/mutex", 2), made(4000, 2000, "lock/mutex", 2.05))
	p := d.Pairs[0]
	if p.Points[1].FasterSays != Noise || p.Points[1].Efficiency.Says != Noise || p.Causes.Rows[0].Says != Noise || p.Causes.Lost.Says != Noise {
		t.Errorf("the same program is said to differ: %+v", p)
	}
}

// TestHollow: efficiency rises where only the base became slower.
func TestHollow(t *testing.T) {
	d := Compare(made(4000, 2000, "lock/mutex", 2), made(7000, 2000, "lock/mutex", 0.5))
	if text := strings.Join(d.Pairs[0].Text, "\n"); !strings.Contains(text, "nothing is faster") {
		t.Errorf("praised:\n%s", text)
	}
}

func TestNoInterval(t *testing.T) {
	a, b := made(4000, 2000, "lock/mutex", 2), made(4000, 1100, "lock/mutex", 0.4)
	b.Series[0].Points[1].WallCINS, b.Comparisons[0].Rows[0].CoresLostCI = nil, nil
	p := Compare(a, b).Pairs[0]
	if p.Points[1].FasterSays != CannotTell || p.Causes.Rows[0].Says != CannotTell {
		t.Errorf("%s and %s without an interval", p.Points[1].FasterSays, p.Causes.Rows[0].Says)
	}
}

func TestMismatches(t *testing.T) {
	same := func() *report.Report { return made(4000, 2000, "lock/mutex", 2) }
	cases := []struct {
		name, want string
		change     func(*report.Report)
	}{
		{"the same", "", func(*report.Report) {}},
		{"processor", "processor: chip before, die now", func(r *report.Report) { r.Host.CPU = "die" }},
		{"CPUs", "CPUs: 4 before, 8 now", func(r *report.Report) { r.Host.CPUs = 8 }},
		{"unknown CPUs", "", func(r *report.Report) { r.Host.CPUs = 0 }},
		{"quota", "CPU quota: none before, 2 now", func(r *report.Report) { r.Host.QuotaCPUs = number(2) }},
		{"toolchain", "Go: go1.26.8 before, go1.27 now", func(r *report.Report) { r.Toolchain.Go = "go1.27" }},
		{"library", "", func(r *report.Report) { r.Toolchain.Libraries = map[string]string{"a": "v2"} }},
		{"work", "operations of x in thread mode: 100 before, 200 now", func(r *report.Report) { r.Series[0].Points[1].Ops = 200 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := same()
			c.change(r)
			got := ""
			for _, m := range Mismatches(same(), r) {
				got += m.String()
			}
			if got != c.want {
				t.Errorf("mismatches %q, want %q", got, c.want)
			}
		})
	}
}
