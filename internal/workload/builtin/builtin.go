// Package builtin is the registry of the workloads that come with scaleprof.
package builtin

import (
	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/jsonlib"
)

// All holds the JSON libraries.
func All() *workload.Registry {
	return workload.NewRegistry(jsonlib.All()...)
}
