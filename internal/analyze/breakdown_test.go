package analyze

import (
	"math"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/record"
)

func TestBreakdown(t *testing.T) {
	traced := func(threads int, work, wait int64) *cell {
		a := &lanes.Account{LanesOf: "Ps", WallNS: 100, SlotNS: work + wait, Parts: []lanes.Part{
			{Cause: cause.WorkUser, NS: work}, {Cause: cause.LockMutex, NS: wait, Victim: &lanes.Stack{Frames: []lanes.Frame{{Func: "main.f", File: "/a/b/c.go", Line: 7}}}},
		}}
		return &cell{Cell: record.Cell{Threads: threads, Arm: record.Baseline}, wall: []float64{math.NaN()}, profiled: []*observation{{run: &record.Run{}, account: a}}}
	}
	l := &loaded{paths: pathTable{}}
	b := l.breakdown(&group{target: "x", mode: "thread", arm: record.Baseline, cells: []*cell{traced(1, 100, 0), traced(4, 100, 300)}})
	if b == nil || b.Unit != "P-seconds" || len(b.Threads) != 2 || len(b.Rows) != 2 {
		t.Fatalf("%+v", b)
	}
	if r := b.Rows[0]; r.Cause != "lock/mutex" || r.Shares[0] != 0 || r.Shares[1] != 0.75 || len(r.Paths) != 1 || r.Paths[0].Share != 0.75 || r.Paths[0].Source != "b/c.go:7" {
		t.Errorf("%+v", r)
	}
	// A profile of CPU time beside a trace cannot be compared with it.
	sampled := &cell{Cell: record.Cell{Threads: 8}, wall: []float64{math.NaN()}, profiled: []*observation{{run: &record.Run{}, onCPU: []cpuSample{{cause: cause.WorkUser, ns: 3, path: &callPath{frames: []string{"main.g"}}}}}}}
	b = l.breakdown(&group{target: "x", mode: "thread", arm: record.Baseline, cells: []*cell{traced(1, 100, 0), sampled}})
	if b == nil || len(b.Threads) != 1 || len(l.warnings) != 1 {
		t.Errorf("%+v, warnings %v", b, l.warnings)
	}
	b = l.breakdown(&group{target: "x", mode: "thread", arm: record.Baseline, cells: []*cell{sampled}})
	if b == nil || b.Unit != "CPU time" || b.Rows[0].Shares[0] != 1 || b.Rows[0].Paths[0].Share != 1 {
		t.Errorf("%+v", b)
	}
	timed := traced(2, 10, 10)
	timed.wall = []float64{5}
	if b := l.breakdown(&group{target: "x", arm: record.Baseline, cells: []*cell{timed}}); b != nil {
		t.Errorf("a timed group has a comparison: %+v", b)
	}
	if b := l.breakdown(&group{target: "x", arm: record.Baseline, cells: []*cell{{Cell: record.Cell{Threads: 1}}}}); b != nil {
		t.Errorf("nothing is known: %+v", b)
	}
}
