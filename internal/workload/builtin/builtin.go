// Package builtin is the registry of the workloads that come with scaleprof.
package builtin

import (
	"slices"

	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/jsonlib"
	"github.com/scaleprof/scaleprof/internal/workload/lab"
	"github.com/scaleprof/scaleprof/internal/workload/lab/unseen"
)

// All holds the JSON libraries, the lab, and the set against which the analysis
// was checked after it was built on the lab.
func All() *workload.Registry {
	return workload.NewRegistry(slices.Concat(jsonlib.All(), lab.All(), unseen.All())...)
}
