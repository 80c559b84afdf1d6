package lanes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/lab"
)

// TestLab prints the accounts of lab workloads at T=1 and T=2 side by side:
//
//	SCALEPROF_LAB='lab/mutex*' go test -run TestLab -v ./internal/analyze/lanes
//
// It is for people who change how time is booked; it asserts nothing.
func TestLab(t *testing.T) {
	pattern := os.Getenv("SCALEPROF_LAB")
	if pattern == "" {
		t.Skip("set SCALEPROF_LAB to a pattern of workload names")
	}
	peak := 2
	if s := os.Getenv("SCALEPROF_LAB_T"); s != "" {
		peak, _ = strconv.Atoi(s)
	}
	for _, w := range append(lab.All(), programs()...) {
		info := w.Info()
		if ok, _ := path.Match(pattern, info.Name); !ok || info.Unavailable != "" {
			continue
		}
		ops := int64(500e6) / max(info.OpNS, 1)
		base, peakP := runtime.NumCPU(), runtime.NumCPU()
		p := peak
		if info.OverCPUs {
			p = 4
		}
		if info.ProcsThreads {
			base, peakP = 1, p
		}
		if info.QuotaCPUs > 0 || info.Name == os.Getenv("SCALEPROF_LAB_SKIP") {
			continue
		}
		one := read(t, runChild(t, info.Name, 1, base, ops, true))
		two := read(t, runChild(t, info.Name, p, peakP, ops, true))
		fmt.Print(sideBySide(info, one, two))
	}
}

func read(t testing.TB, c capture) *lanes.Account {
	t.Helper()
	a, err := lanes.Read(context.Background(), bytes.NewReader(c.trace), lanes.Input{Result: c.result, System: c.system})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func byCause(a *lanes.Account) map[cause.ID]int64 {
	m := make(map[cause.ID]int64)
	for _, p := range a.Parts {
		m[p.Cause] += p.NS
	}
	return m
}

func sideBySide(info workload.Info, one, two *lanes.Account) string {
	var b strings.Builder
	x := two.SlotNS - one.SlotNS
	fmt.Fprintf(&b, "\n== %s (expects %s): slot %.0f -> %.0f ms, efficiency %.2f, closure %.1f%% %.1f%%, samples %d %d, scale %.2f %.2f %v\n", info.Name, info.Expect,
		ms(one.SlotNS), ms(two.SlotNS), float64(one.SlotNS)/float64(two.SlotNS), 100*float64(one.ClosureNS)/float64(one.SlotNS),
		100*float64(two.ClosureNS)/float64(two.SlotNS), one.Samples, two.Samples, one.Scale, two.Scale, append(one.Warnings, two.Warnings...))
	m1, m2 := byCause(one), byCause(two)
	var ids []cause.ID
	for id := range m2 {
		ids = append(ids, id)
	}
	for id := range m1 {
		if _, ok := m2[id]; !ok {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool { return m2[ids[i]]-m1[ids[i]] > m2[ids[j]]-m1[ids[j]] })
	for _, id := range ids {
		d := m2[id] - m1[id]
		if max(d, -d) < two.SlotNS/200 && id != cause.WorkUser {
			continue
		}
		states := map[lanes.State]int64{}
		var top *lanes.Part
		for i, p := range two.Parts {
			if p.Cause == id {
				states[p.State] += p.NS
				if top == nil {
					top = &two.Parts[i]
				}
			}
		}
		var st []string
		for s, ns := range states {
			st = append(st, fmt.Sprintf("%s %.0f", s, ms(ns)))
		}
		sort.Strings(st)
		fmt.Fprintf(&b, "  %-22s %8.1f -> %8.1f  excess %8.1f (%.0f%%)  %s", id, ms(m1[id]), ms(m2[id]), ms(d), 100*float64(d)/float64(x), strings.Join(st, ", "))
		if top != nil {
			fmt.Fprintf(&b, " | %s <- %s", short(top.Victim), short(top.Culprit))
		}
		b.WriteByte('\n')
	}
	g := two.GC
	fmt.Fprintf(&b, "  gc: %d cycles mark %.0fms pauses %d %.1fms ded %.0f frac %.0f idle %.0f; sched idle %.0f search %.0f busy %.0f lat n=%d p50=%d p99=%d\n", g.Cycles, ms(g.MarkNS), g.Pauses, ms(g.PauseNS), ms(g.DedicatedNS), ms(g.FractionalNS), ms(g.IdleNS),
		ms(two.Sched.PIdleNS), ms(two.Sched.PSearchNS), ms(two.Sched.PBusyNS), two.Sched.Latencies, two.Sched.P50NS, two.Sched.P99NS)
	return b.String()
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func short(s *lanes.Stack) string {
	if s == nil {
		return "-"
	}
	var out []string
	for _, f := range s.Frames {
		name := f.Func[strings.LastIndexByte(f.Func, '/')+1:]
		out = append(out, name)
		if len(out) == 4 {
			break
		}
	}
	return strings.Join(out, "<")
}
