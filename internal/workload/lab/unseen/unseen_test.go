package unseen

import (
	"strings"
	"sync"
	"testing"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// TestWorkIsTheSame runs every workload at several T and in two phases: the
// operations and the checksum do not depend on T.
func TestWorkIsTheSame(t *testing.T) {
	for _, w := range All() {
		t.Run(w.Info().Name, func(t *testing.T) {
			t.Parallel()
			want := second(t, w, 1)
			for _, workers := range []int{2, 3} {
				if got := second(t, w, workers); got != want {
					t.Errorf("T=%d: got %+v, want %+v as at T=1", workers, got, want)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		info := w.Info()
		if !strings.HasPrefix(info.Name, "unseen/") || info.Expect == "" || info.OpNS <= 0 || info.Title == "" {
			t.Errorf("incomplete: %+v", info)
		}
		if seen[info.Name] {
			t.Errorf("two workloads named %s", info.Name)
		}
		seen[info.Name] = true
	}
}

// second returns what an instance did in its second phase.
func second(t *testing.T, w workload.Workload, workers int) workload.Tally {
	t.Helper()
	const ops = 101
	in, err := w.Prepare(workload.Params{Workers: workers, Ops: ops, Total: ops})
	if err != nil {
		t.Fatal(err)
	}
	run(in, workers, 5)
	tally := run(in, workers, ops)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if tally.Ops != ops {
		t.Errorf("T=%d did %d operations, not %d", workers, tally.Ops, ops)
	}
	return tally
}

func run(in workload.Instance, workers int, ops int64) workload.Tally {
	parts := make([]workload.Tally, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			parts[w] = in.Work(w, ops*int64(w)/int64(workers), ops*int64(w+1)/int64(workers))
		})
	}
	done.Wait()
	var sum workload.Tally
	for _, p := range parts {
		sum.Ops += p.Ops
		sum.Sum += p.Sum
	}
	return sum
}
