// Package builtin is the registry of the workloads that come with scaleprof.
package builtin

import (
	"slices"

	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/jsonlib"
	"github.com/scaleprof/scaleprof/internal/workload/lab"
)

// All holds the JSON libraries and the lab.
func All() *workload.Registry {
	return workload.NewRegistry(slices.Concat(jsonlib.All(), lab.All())...)
}
