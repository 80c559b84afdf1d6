//go:build !unix

package lab

import (
	"errors"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

func pageFaultPair() pair {
	const why = "giving pages back to the system needs madvise"
	no := func(workload.Params) (workload.Instance, error) { return nil, errors.New(why) }
	return pair{
		info: workload.Info{
			Name: "page-fault", Title: "fresh pages touched and given back",
			Expect: string(cause.AllocPageFault), OpNS: 4_000, Unavailable: why,
		},
		bad: no, fixed: no, cure: "the pages are kept",
	}
}
