package lab

import (
	"sync"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// churn starts a goroutine for each of an operation's small parts and waits for
// them. Under GOMAXPROCS = T one worker pays for creation and exit only; with
// more Ps each start also wakes a searching P, the small goroutines are stolen
// and handed about, and the free lists and the scheduler's lock are shared. The
// twin does the parts in line.
type churn struct {
	noClose
	inLine bool
}

const churnParts = 16

func (c churn) Work(_ int, lo, hi int64) workload.Tally {
	var sum uint64
	var parts [churnParts]padded[uint64]
	for i := lo; i < hi; i++ {
		if c.inLine {
			for k := range parts {
				churnPart(&parts[k].value, i, k)
			}
		} else {
			var done sync.WaitGroup
			done.Add(churnParts)
			for k := range parts {
				go func() {
					churnPart(&parts[k].value, i, k)
					done.Done()
				}()
			}
			done.Wait()
		}
		for k := range parts {
			sum += parts[k].value
		}
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func churnPart(to *uint64, i int64, k int) {
	*to = burn(uint64(i)+uint64(k)<<40, micro/20)
}

func newChurn(inLine bool) maker {
	return func(workload.Params) (workload.Instance, error) { return churn{inLine: inLine}, nil }
}

func schedPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "goroutine-churn", Title: "a goroutine for every few tens of nanoseconds of work",
				Expect: "sched", OpNS: 5_500, ProcsThreads: true,
			},
			bad: newChurn(false), fixed: newChurn(true), cure: "the small parts are done in line", cheap: 700,
		},
		{
			// More workers and Ps than CPUs cannot lose for a subtle reason: each
			// has its turn. No code can scale there, so the twin is the same code
			// within the CPUs.
			info: workload.Info{
				Name: "too-many-procs", Title: "arithmetic with more workers and Ps than CPUs",
				Expect: string(cause.OSRunQueue), OpNS: 5_000, ProcsThreads: true, OverCPUs: true,
			},
			bad: newCompute, fixed: newCompute, cure: "the same with no more workers than CPUs",
			fixedInfo: func(i *workload.Info) { i.OverCPUs = false },
		},
		{
			info: workload.Info{
				Name: "quota", Title: "arithmetic under a quota of one CPU",
				Expect: string(cause.OSThrottled), OpNS: 5_000, QuotaCPUs: 1,
			},
			bad: newCompute, fixed: newCompute, cure: "the same without a quota",
			fixedInfo: func(i *workload.Info) { i.QuotaCPUs = 0 },
		},
	}
}
