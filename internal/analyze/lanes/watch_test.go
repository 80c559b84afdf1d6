package lanes

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWatchTellsSpans(t *testing.T) {
	s := newScript(2, 2)
	s.at_(10).rng(evRangeBegin, rngMark, -1, "", "")
	s.at_(20).rng(evRangeBegin, rngAssist, 100, "", "")
	s.at_(30).rng(evRangeEnd, rngAssist, 100, "", "")
	s.at_(40).block(101, reasonSync, lockA)
	s.procStop(1)
	s.at_(60).wake(101, 100, unlockA)
	s.at_(65).procStart(1)
	s.at_(70).run(101, 1)
	s.at_(80).rng(evRangeEnd, rngMark, -1, "", "")
	s.at_(90).finish(101)
	s.at_(100).finish(100)
	got := map[Track]map[int][]Span{}
	_, err := account(context.Background(), s, Input{Watch: func(x Span) {
		if got[x.Track] == nil {
			got[x.Track] = map[int][]Span{}
		}
		got[x.Track][x.N] = append(got[x.Track][x.N], x)
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Span{
		{LaneTrack, 1, Running, -10, 40},
		{LaneTrack, 1, InLock, 40, 60},
		{LaneTrack, 1, Ready, 60, 70},
		{LaneTrack, 1, Running, 70, 90},
	}
	if d := cmp.Diff(want, got[LaneTrack][1]); d != "" {
		t.Errorf("lane 1 (-want +got):\n%s", d)
	}
	want = []Span{
		{LaneTrack, 0, Running, -10, 20},
		{LaneTrack, 0, Assisting, 20, 30},
		{LaneTrack, 0, Running, 30, 100},
	}
	if d := cmp.Diff(want, got[LaneTrack][0]); d != "" {
		t.Errorf("lane 0 (-want +got):\n%s", d)
	}
	want = []Span{
		{ProcTrack, 1, Running, -10, 40},
		{ProcTrack, 1, Free, 40, 65},
		{ProcTrack, 1, Searching, 65, 70},
		{ProcTrack, 1, Running, 70, 100},
	}
	if d := cmp.Diff(want, got[ProcTrack][1]); d != "" {
		t.Errorf("P 1 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Span{{MarkTrack, 0, Running, 10, 80}}, got[MarkTrack][0]); d != "" {
		t.Errorf("marking (-want +got):\n%s", d)
	}
}
