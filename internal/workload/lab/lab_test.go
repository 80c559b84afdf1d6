package lab

import (
	"testing"

	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/lab/unseen"
)

// measured is what -lab.measure can name.
func measured() []workload.Workload { return append(All(), unseen.All()...) }

// TestWorkIsTheSame runs every form at several T and in two phases: the
// operations and the checksum depend neither on T nor on the form.
func TestWorkIsTheSame(t *testing.T) {
	const warm, ops = 7, 131
	for _, w := range All() {
		info := w.Info()
		if info.Unavailable != "" {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			want := sums(t, w, 1, warm, ops)
			for _, workers := range []int{2, 3, 8} {
				if got := sums(t, w, workers, warm, ops); got != want {
					t.Errorf("T=%d: got %+v, want %+v as at T=1", workers, got, want)
				}
			}
			if info.Twin == "" {
				return
			}
			twin, err := workload.NewRegistry(All()...).Lookup(info.Twin)
			if err != nil {
				t.Fatal(err)
			}
			if got := sums(t, twin, 2, warm, ops); got != want {
				t.Errorf("%s: got %+v, want %+v as in %s", info.Twin, got, want, info.Name)
			}
		})
	}
}

// sums warms an instance up and returns what it did in its second phase.
func sums(t *testing.T, w workload.Workload, workers int, warm, ops int64) workload.Tally {
	t.Helper()
	in, err := w.Prepare(workload.Params{Workers: workers, Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	if got := warmUp(in, workers, 0, ops, warm); got.Ops != warm {
		t.Errorf("warm-up did %d operations, not %d", got.Ops, warm)
	}
	tally := phase(in, workers, 0, ops)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if tally.Ops != ops {
		t.Errorf("T=%d did %d operations, not %d", workers, tally.Ops, ops)
	}
	return tally
}
