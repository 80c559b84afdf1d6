package analyze

import (
	"testing"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

func TestUnevenMachine(t *testing.T) {
	run := func(opsA, opsB, endA, endB int64) *record.Run {
		end := max(endA, endB)
		return &record.Run{WallNS: end, Processes: []recorder.Result{{EndNS: end, Lanes: []recorder.Lane{{EndNS: endA, Ops: opsA}, {EndNS: endB, Ops: opsB}}}}}
	}
	repeat := func(n int, f func(i int) *record.Run) []*record.Run {
		var out []*record.Run
		for i := range n {
			out = append(out, f(i))
		}
		return out
	}
	for name, test := range map[string]struct {
		runs []*record.Run
		want bool
	}{
		"another one each time": {repeat(8, func(i int) *record.Run { return run(50, 50, 100-30*int64(i%2), 70+30*int64(i%2)) }), true},
		"always the same one":   {repeat(8, func(int) *record.Run { return run(50, 50, 60, 100) }), false},
		"whoever takes the last": {repeat(8, func(i int) *record.Run {
			return run(30+20*int64(i%2), 50-20*int64(i%2), 100-30*int64(i%2), 70+30*int64(i%2))
		}), false},
		"too few runs":              {repeat(3, func(i int) *record.Run { return run(50, 50, 100-30*int64(i%2), 70+30*int64(i%2)) }), false},
		"ends that nobody wrote":    {repeat(8, func(int) *record.Run { return &record.Run{WallNS: 100} }), false},
		"a run that is missing too": {append(repeat(8, func(i int) *record.Run { return run(50, 50, 100-30*int64(i%2), 70+30*int64(i%2)) }), nil), true},
	} {
		c := &cell{Cell: record.Cell{Threads: 2}, timed: test.runs}
		if got := c.unevenMachine() != nil; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
