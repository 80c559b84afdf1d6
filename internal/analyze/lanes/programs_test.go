package lanes_test

import "github.com/scaleprof/scaleprof/internal/workload"

// programs are short workloads of this package's own tests.
func programs() []workload.Workload { return nil }
