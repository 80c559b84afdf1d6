package record

import (
	"strings"

	"github.com/google/pprof/profile"
)

// ownPackages begin the names of functions that belong to the measurement. Packages
// of scaleprof that are built into a user's test binary have "scaleprof_" in their path.
var ownPackages = []string{
	"github.com/scaleprof/scaleprof/internal/capture/recorder.",
	"github.com/scaleprof/scaleprof/internal/capture/child.",
}

// harnessPackages begin the names of functions of others that wait on the
// measurement's behalf: the join of the workers, the recorders.
var harnessPackages = []string{
	"github.com/felixge/fgprof.",
	"runtime/trace.",
	"runtime/pprof.",
	"net/http/pprof.",
	"testing.",
	"os/signal.",
}

// servantPackages begin the names of functions that act for whoever called them.
var servantPackages = []string{"runtime.", "sync.", "internal/sync.", "sync/atomic.", "internal/poll.", "os.", "syscall.", "runtime/metrics.", "time."}

// harness reports whether a sample is the measurement's own: of a mutex or
// block profile, the wait of a function that belongs to it, and of a wall-clock
// profile, also a goroutine that is parked for nothing but the end; of a CPU profile,
// the time at the barrier and in reading counters. What testing's frame around
// a benchmark costs in CPU is kept. A block event, or a wall-clock sample, of one
// of the runtime's own goroutines is the measurement's (the execution trace's
// wait for data); contention on the runtime's own locks is not.
func harness(s *profile.Sample, kind string) bool {
	first, root := "", ""
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if strings.HasPrefix(name, "runtime.traceStartReadCPU") || strings.HasPrefix(name, "runtime.(*traceAdvancerState)") {
				return kind != "cpu"
			}
			if first == "" && !hasAnyPrefix(name, servantPackages) {
				first = name
			}
			if name != "runtime.goexit" {
				root = name
			}
		}
	}
	if hasAnyPrefix(first, ownPackages) || strings.Contains(first, "scaleprof_") {
		return true
	}
	if kind == "cpu" {
		return false
	}
	if first != "" {
		return hasAnyPrefix(first, harnessPackages)
	}
	return kind != "mutex" && strings.HasPrefix(root, "runtime.") && root != "runtime.main"
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
