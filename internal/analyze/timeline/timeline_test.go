package timeline

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// byHand is a stretch of 100 ns in ten buckets, of two lanes and two Ps.
func byHand() *Timeline {
	g := grid{from: 1000, to: 1100, n: 10}
	s := newSums(g)
	for _, x := range []lanes.Span{
		{Track: lanes.LaneTrack, N: 0, Activity: lanes.Running, From: 900, To: 1040},
		{Track: lanes.LaneTrack, N: 0, Activity: lanes.Assisting, From: 1040, To: 1054},
		{Track: lanes.LaneTrack, N: 0, Activity: lanes.InLock, From: 1054, To: 1080},
		{Track: lanes.LaneTrack, N: 0, Activity: lanes.Running, From: 1080, To: 1200},
		{Track: lanes.LaneTrack, N: 1, Activity: lanes.Ready, From: 1010, To: 1020},
		{Track: lanes.LaneTrack, N: 1, Activity: lanes.Running, From: 1020, To: 1070},
		{Track: lanes.MarkTrack, Activity: lanes.Running, From: 1030, To: 1055},
		{Track: lanes.ProcTrack, N: 0, Activity: lanes.Running, From: 1000, To: 1100},
		{Track: lanes.ProcTrack, N: 1, Activity: lanes.Free, From: 1000, To: 1030},
		{Track: lanes.ProcTrack, N: 1, Activity: lanes.Marking, From: 1030, To: 1060},
	} {
		s.take(x)
	}
	t := &Timeline{LanesOf: "workers", WallNS: 400, FromNS: 0, ToNS: 100}
	t.rows(g, s, &lanes.Account{LanesOf: "workers"}, 0, 1)
	t.levels(g, s, 1)
	return t
}

func TestBucketsAddUp(t *testing.T) {
	tl := byHand()
	for _, r := range tl.Rows {
		var sum int64
		for _, ns := range r.NS {
			sum += ns
		}
		if sum != 100 {
			t.Errorf("%s adds up to %d of 100 ns", r.Name, sum)
		}
	}
	if got := tl.Rows[0].NS[lanes.Assisting]; got != 14 {
		t.Errorf("assists take %d ns, want 14", got)
	}
}

func TestDrawing(t *testing.T) {
	var b bytes.Buffer
	if err := byHand().Write(&b, Style{Width: 80, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
            0 ns
worker 1    ####ALLL##
worker 2     r#####
GC marking     995
Ps in GC       444
Ps free     555

blank not there: begins later or is done 20%   # running 55%   A GC assist 7%
r runnable, no P 5%   L waits for a lock 13%
GC and P rows are levels, in tenths (digits) of the time and of the 2 Ps.
`, "\n")
	// 15 of 30 ns are shares of one half: five tenths.
	want = strings.ReplaceAll(want, "444", "555")
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	b.Reset()
	if err := byHand().Write(&b, Style{Width: 80, Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\x1b[32m████\x1b[0m\x1b[31mA\x1b[0m\x1b[35mLLL\x1b[0m") {
		t.Errorf("no colours in %q", b.String())
	}
}

func TestGridCoversEachInstantOnce(t *testing.T) {
	for _, g := range []grid{{0, 7, 3}, {5, 5 + 1<<62, 68}, {0, 100, 100}, {-3, 10, 4}} {
		if lo, _ := g.bucket(0); lo != g.from {
			t.Errorf("%v begins at %d", g, lo)
		}
		if _, hi := g.bucket(g.n - 1); hi != g.to {
			t.Errorf("%v ends at %d", g, hi)
		}
		for i := range g.n {
			lo, hi := g.bucket(i)
			if lo >= hi || g.at(lo) != i || g.at(hi-1) != i {
				t.Errorf("%v: bucket %d is [%d, %d), whose ends are in %d and %d", g, i, lo, hi, g.at(lo), g.at(hi-1))
			}
		}
	}
}

func TestStretchOutsideIsRefused(t *testing.T) {
	for _, opt := range []Options{{At: 100}, {At: -1}, {For: -1}} {
		if err := (&Timeline{WallNS: 100}).choose(opt); err == nil {
			t.Errorf("%+v is taken", opt)
		}
	}
	tl := &Timeline{WallNS: 100}
	if err := tl.choose(Options{At: 90, For: 50}); err != nil || tl.FromNS != 90 || tl.ToNS != 100 {
		t.Errorf("[%d, %d), %v", tl.FromNS, tl.ToNS, err)
	}
}
