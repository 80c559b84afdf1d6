package lab

import (
	"runtime"
	"runtime/metrics"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// asking asks the runtime for the size of the heap every few operations.
// runtime.ReadMemStats stops the world to answer: every P must come to a stop
// first, so each call costs all the other workers. The twin reads the same
// figure from runtime/metrics, which stops nobody.
type asking struct {
	noClose
	stops bool
}

const (
	askEvery = 16
	askSteps = 10 * micro
)

func (a asking) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	var stats runtime.MemStats
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for i := lo; i < hi; i++ {
		sum += burn(uint64(i), askSteps)
		if i%askEvery != 0 {
			continue
		}
		if a.stops {
			runtime.ReadMemStats(&stats)
		} else {
			metrics.Read(sample)
		}
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func newAsking(stops bool) maker {
	return func(workload.Params) (workload.Instance, error) { return asking{stops: stops}, nil }
}

func runtimePairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "stop-the-world", Title: "runtime.ReadMemStats every 16th operation",
				Expect: string(cause.GCSTW), OpNS: 10_000, ProcsThreads: true,
			},
			bad: newAsking(true), fixed: newAsking(false), cure: "runtime/metrics every 16th operation",
		},
	}
}
