package recorder

import (
	"math"
	"runtime/metrics"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubtract(t *testing.T) {
	inf := math.Inf(1)
	edges := []float64{-inf, 1, 2, 4, inf}
	a := &metrics.Float64Histogram{Counts: []uint64{1, 0, 2, 5}, Buckets: edges}
	b := &metrics.Float64Histogram{Counts: []uint64{2, 0, 5, 6}, Buckets: edges}
	got := subtract(a, b, true)
	want := Hist{Count: 5, Sum: 1 + 3*3 + 4, Max: 4, Buckets: [][2]float64{{1, 1}, {2, 3}, {4, 1}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := subtract(b, b, true); got.Count != 0 || got.Buckets != nil {
		t.Errorf("nothing happened, got %+v", got)
	}
	if got := subtract(b, a, true); got.Count != 0 {
		t.Errorf("counts that fall give %+v", got)
	}
}

func TestThreadsDiff(t *testing.T) {
	a := map[int]Threads{1: {100, 10, 1}, 2: {200, 20, 2}, 3: {900, 90, 9}}
	b := map[int]Threads{1: {150, 15, 3}, 3: {50, 5, 1}, 4: {7, 1, 1}} // 2 ended, 3 is another, 4 is new
	if got, want := threadsDiff(a, b, false), (Threads{50 + 50 + 7, 5 + 5 + 1, 2 + 1 + 1}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	if got, want := threadsDiff(nil, b, true), (Threads{207, 21, 5}); *got != want {
		t.Errorf("whole: got %+v, want %+v", *got, want)
	}
	if threadsDiff(nil, b, false) != nil || threadsDiff(a, nil, true) != nil {
		t.Error("an unknown reading gives a figure")
	}
}
