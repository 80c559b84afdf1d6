package lanes

import (
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

func TestMergeAddsUp(t *testing.T) {
	process := func(begin, end int64) *Account {
		a := &Account{BeginNS: begin, EndNS: end, WallNS: end - begin, SlotNS: end - begin, Lanes: make([]Lane, 1), LanesOf: "workers", Procs: 1, Samples: 3, Scale: 1}
		a.Lanes[0].ByState[OnCPU] = a.WallNS
		a.Parts = []Part{{Cause: cause.WorkUser, State: OnCPU, NS: a.WallNS}}
		return a
	}
	m := Merge([]*Account{process(110, 500), process(100, 900), nil}, 100, 900)
	if m.WallNS != 800 || m.SlotNS != 1600 || len(m.Lanes) != 2 {
		t.Fatalf("wall %d, slot %d, %d lanes; want 800, 1600, 2", m.WallNS, m.SlotNS, len(m.Lanes))
	}
	got := map[cause.ID]int64{}
	var sum int64
	for _, p := range m.Parts {
		got[p.Cause] += p.NS
		sum += p.NS
	}
	if sum != m.SlotNS || got[cause.BalanceTail] != 400 || got[cause.OSStartUp] != 10 || got[cause.WorkUser] != 1190 {
		t.Errorf("parts %v add up to %d, want %d", got, sum, m.SlotNS)
	}
	for i, l := range m.Lanes {
		var lane int64
		for _, ns := range l.ByState {
			lane += ns
		}
		if lane != m.WallNS {
			t.Errorf("lane %d adds up to %d, want %d", i, lane, m.WallNS)
		}
	}
}
