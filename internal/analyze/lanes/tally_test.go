package lanes

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A tally is a map of sums, and numbers are a map of first appearances.
func TestTallyIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got tally
		var names numbers
		want, first := map[uint64]int64{}, map[uint64]int{}
		for range rapid.IntRange(0, 300).Draw(t, "n") {
			key := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, 1<<63)).Draw(t, "key")
			ns := rapid.Int64Range(0, 50).Draw(t, "ns")
			got.add(key, ns)
			want[key] += ns
			if _, ok := first[key]; !ok {
				first[key] = len(first)
			}
			if n := names.of(key); n != first[key] {
				t.Fatalf("number of %d is %d, want %d", key, n, first[key])
			}
		}
		if d := cmp.Diff(want, maps.Collect(got.all)); d != "" {
			t.Errorf("sums (-want +got):\n%s", d)
		}
		for key := range want {
			if !got.has(key) {
				t.Errorf("%d is missing", key)
			}
		}
		if got.clear(); got.has(3) || len(maps.Collect(got.all)) != 0 {
			t.Errorf("not empty after clear")
		}
	})
}
