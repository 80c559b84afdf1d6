package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

func p[T any](v T) *T { return &v }

const ms = int64(1e6)

// quiet is a machine and a run as measured where nothing disturbed it: the figures are
// those of half a second of arithmetic on an idle virtual machine of 2 CPUs.
func quiet() (*record.Manifest, *record.Run) {
	m := &record.Manifest{
		Host: host.Info{CPUs: 2, OnlineCPUs: 2, Virtual: true},
		Plan: record.Plan{Targets: []record.Target{{Name: "json/std", Kind: "workload", Ops: 1000}}},
		Cells: []record.Cell{
			{ID: "t1", Target: "json/std", Mode: record.Thread, Threads: 1, Procs: 2, Arm: record.Baseline},
			{ID: "t2", Target: "json/std", Mode: record.Thread, Threads: 2, Procs: 2, Arm: record.Baseline},
		},
		Runs: []record.Run{{ID: 0, Cell: "t1", Kind: record.Timed, WallNS: 900 * ms, Ops: 1000, Checksum: 7}},
	}
	run := &record.Run{
		ID: 1, Seq: 1, Cell: "t2", Kind: record.Timed, WallNS: 500 * ms, Ops: 1000, Checksum: 7,
		Processes: []recorder.Result{{Procs: 2, NumCPU: 2, Threads: &recorder.Threads{RunNS: 980 * ms, WaitNS: 20 * ms}}},
		System: &record.System{
			BusyNS: p(1004 * ms), BusyFrom: host.BusyCpuacct, OwnNS: p(995 * ms),
			StealNS: p(20 * ms), ThrottledNS: p(int64(0)), NrThrottled: p(int64(0)),
			BounceNS: p(52.0), BounceEndNS: p(251.0), ALUDrift: p(0.03),
		},
	}
	return m, run
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*record.Manifest, *record.Run)
		want   string // ids, in order
		text   string // part of the first one's text
	}{
		{"quiet", func(*record.Manifest, *record.Run) {}, "", ""},
		{"nothing known", func(_ *record.Manifest, r *record.Run) { r.System, r.Processes = nil, nil }, "", ""},
		{"failed", func(_ *record.Manifest, r *record.Run) { r.Error = "killed"; r.WallNS = 1 }, "", ""},
		{"of no cell", func(_ *record.Manifest, r *record.Run) { r.Cell = "t9"; r.WallNS = 1 }, "", ""},
		{
			"a burner on one of the CPUs",
			func(_ *record.Manifest, r *record.Run) {
				r.System.OwnNS = p(760 * ms)
				r.Processes[0].Threads.WaitNS = 240 * ms
			},
			"neighbour run-queue", "other processes used 0.49 CPUs",
		},
		{
			"the own threads queue behind each other",
			func(_ *record.Manifest, r *record.Run) { r.Processes[0].Threads.WaitNS = 320 * ms },
			"", "",
		},
		{
			"a tick-sampled count within its rounding",
			func(_ *record.Manifest, r *record.Run) {
				r.System.BusyFrom = host.BusyStat
				r.System.OwnNS = p(970 * ms)
			},
			"", "",
		},
		{
			"the same by an exact count",
			func(_ *record.Manifest, r *record.Run) { r.System.OwnNS = p(970 * ms) },
			"neighbour", "0.07 CPUs",
		},
		{
			"own CPU above all CPU",
			func(_ *record.Manifest, r *record.Run) { r.System.OwnNS = p(1100 * ms) },
			"", "",
		},
		{
			"throttled",
			func(_ *record.Manifest, r *record.Run) {
				r.System.ThrottledNS, r.System.NrThrottled = p(400*ms), p(int64(5))
				r.Processes[0].Threads.WaitNS = 500 * ms
			},
			"throttled run-queue", "400 ms in all, 5 times",
		},
		{
			"stolen",
			func(_ *record.Manifest, r *record.Run) { r.System.StealNS = p(60 * ms) },
			"steal", "6.0% of the slot time",
		},
		{
			"a CPU was taken after the window",
			func(_ *record.Manifest, r *record.Run) { r.System.BounceEndNS = p(4184.0) },
			"bounce", "4.18 µs from core to core after",
		},
		{
			"the clock dropped",
			func(_ *record.Manifest, r *record.Run) { r.System.ALUDrift = p(0.12) },
			"drift", "12% longer",
		},
		{
			"other GOMAXPROCS",
			func(_ *record.Manifest, r *record.Run) { r.Processes[0].Procs = 1 },
			"gomaxprocs", "process 0 ran with GOMAXPROCS=1, the cell is about 2",
		},
		{
			"GOMAXPROCS in the environment",
			func(m *record.Manifest, _ *record.Run) { m.Host.EnvProcs = "1" },
			"gomaxprocs", "GOMAXPROCS=1 is set in the environment; this cell ran with 2",
		},
		{
			"affinity to one CPU",
			func(m *record.Manifest, r *record.Run) {
				m.Host.CPUs, r.Processes[0].NumCPU, r.System.StealNS = 1, 1, p(10*ms)
			},
			"affinity oversubscribed", "only 1 of the machine's 2 CPUs",
		},
		{
			"affinity to enough CPUs",
			func(m *record.Manifest, _ *record.Run) { m.Host.OnlineCPUs = 16 },
			"", "",
		},
		{
			"more workers than CPUs",
			func(m *record.Manifest, _ *record.Run) { m.Cells[1].Threads = 4 },
			"oversubscribed", "T=4 is more than the 2 usable CPUs",
		},
		{
			"quota below T",
			func(m *record.Manifest, _ *record.Run) { m.Host.QuotaCPUs = p(1.0) },
			"quota", "quota of 1 CPUs feeds less than T=2",
		},
		{
			"fractional quota",
			func(m *record.Manifest, _ *record.Run) {
				m.Host.CPUs, m.Host.OnlineCPUs, m.Host.QuotaCPUs = 8, 8, p(2.5)
			},
			"quota", "2.5 CPUs is no whole number",
		},
		{
			"quota that does not bind",
			func(m *record.Manifest, _ *record.Run) { m.Host.QuotaCPUs = p(2.0) },
			"", "",
		},
		{
			"short",
			func(_ *record.Manifest, r *record.Run) {
				r.WallNS, r.System.StealNS = 150*ms, p(int64(0))
			},
			"short", "150 ms is under 200 ms",
		},
		{
			"fewer operations",
			func(_ *record.Manifest, r *record.Run) { r.Ops = 999 },
			"work-changed", "999 operations where other runs have 1000",
		},
		{
			"fewer, as planned",
			func(m *record.Manifest, r *record.Run) {
				r.Ops, r.Kind, r.Checksum = 100, record.Profiled, 3
				m.Schedule = []record.Planned{{Seq: 1, Cell: "t2", Ops: 100}}
			},
			"", "",
		},
		{
			"another result",
			func(_ *record.Manifest, r *record.Run) { r.Checksum = 8 },
			"work-changed", "0x8 as the result's checksum where other runs have 0x7",
		},
		{
			"a server that answered a few more",
			func(m *record.Manifest, r *record.Run) {
				m.Plan.Targets[0].Kind = "exec"
				r.Ops, r.Checksum = 1005, 0
			},
			"", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, run := quiet()
			test.change(m, run)
			got := Run(m, run)
			var ids []string
			for _, g := range got {
				ids = append(ids, g.ID)
				if strings.ContainsAny(g.Text, "{}") {
					t.Errorf("text with a hole: %s", g.Text)
				}
			}
			if s := strings.Join(ids, " "); s != test.want {
				t.Fatalf("gates %q, want %q: %+v", s, test.want, got)
			}
			if len(got) > 0 && !strings.Contains(got[0].Text, test.text) {
				t.Errorf("text %q, want it to contain %q", got[0].Text, test.text)
			}
		})
	}
}

func TestCell(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name            string
		timed, profiled []float64
		want            string
	}{
		{"none", nil, nil, ""},
		{"close", []float64{100, 101, 99, 100.5, nan, 99.5, 100}, []float64{103, nan}, ""},
		{"wide", []float64{100, 110, 90, 105, 95, 112}, nil, Spread},
		{"two values say nothing", []float64{100, 150}, nil, ""},
		{"two modes", []float64{100, 100.4, 99.8, 120, 120.3, 119.9, 100.1, 120.2, 99.9, 120.1}, nil, TwoModes},
		{"perturbed", []float64{100, 100, 100}, []float64{107}, Perturbation},
		{"nothing to compare with", nil, []float64{107}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ids []string
			for _, g := range Cell(test.timed, test.profiled) {
				ids = append(ids, g.ID)
				if strings.ContainsAny(g.Text, "{}") {
					t.Errorf("text with a hole: %s", g.Text)
				}
			}
			if got := strings.Join(ids, " "); got != test.want {
				t.Errorf("gates %q, want %q", got, test.want)
			}
		})
	}
}

// Repeats with the noise of a good machine break no cell gate more often than their statistics allow.
func TestCellFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alarms := 0
	const cells = 2000
	for range cells {
		wall := make([]float64, 10)
		for i := range wall {
			wall[i] = 500e6 * (1 + 0.015*r.NormFloat64())
		}
		if len(Cell(wall, nil)) > 0 {
			alarms++
		}
	}
	if alarms > cells*3/100 {
		t.Errorf("%d of %d quiet cells are flagged", alarms, cells)
	}
}

// The neighbour's limit is what the table says, kept between a machine's own services and a part of a CPU.
func TestNeighbourLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "threads")
		l := neighbourLimit(n)
		if l < neighbourLeastCPUs || l > neighbourMostCPUs || n > 1 && l < neighbourLimit(n-1) {
			t.Fatalf("limit %v at T=%d", l, n)
		}
	})
}

// No manifest makes a gate panic or report a figure that breaks nothing.
func TestRunOnAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, run := quiet()
		n := rapid.Int64Range(-1<<40, 1<<40)
		run.WallNS, run.Ops = n.Draw(t, "wall"), n.Draw(t, "ops")
		run.System.BusyNS, run.System.OwnNS = p(n.Draw(t, "busy")), p(n.Draw(t, "own"))
		run.System.StealNS, run.System.ThrottledNS = p(n.Draw(t, "steal")), p(n.Draw(t, "throttled"))
		m.Host.CPUs = rapid.IntRange(0, 300).Draw(t, "cpus")
		m.Host.OnlineCPUs = rapid.IntRange(0, 300).Draw(t, "online")
		m.Host.QuotaCPUs = p(rapid.Float64Range(-1, 300).Draw(t, "quota"))
		m.Cells[1].Threads = rapid.IntRange(-1, 300).Draw(t, "threads")
		for _, g := range Run(m, run) {
			if math.IsNaN(g.Value) || math.IsInf(g.Value, 0) || g.Text == "" {
				t.Fatalf("%+v", g)
			}
			if _, ok := RuleOf(g.ID); !ok {
				t.Fatalf("no rule for %s", g.ID)
			}
		}
	})
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.ID] || r.ID == "" || r.Text == "" || r.Do == "" || r.Unit == "" || r.Threshold < 0 {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
	if _, ok := RuleOf("nonsense"); ok {
		t.Error("a rule for nonsense")
	}
	if !Rerunnable([]record.Gate{{ID: Quota}, {ID: Steal}}) || Rerunnable([]record.Gate{{ID: Quota}, {ID: "unknown"}}) || Rerunnable(nil) {
		t.Error("rerunnable")
	}
}

func ExampleRun() {
	busy, own := int64(1_000_000_000), int64(600_000_000)
	m := &record.Manifest{Host: host.Info{CPUs: 2}, Cells: []record.Cell{{ID: "t2", Threads: 2}}}
	run := &record.Run{Cell: "t2", WallNS: 500_000_000, System: &record.System{BusyNS: &busy, OwnNS: &own}}
	for _, g := range Run(m, run) {
		fmt.Println(g.Text)
	}
	// Output: other processes used 0.80 CPUs beside the workers (allowed 0.05)
}
