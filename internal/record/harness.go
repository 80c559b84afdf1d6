package record

import (
	"strings"

	"github.com/google/pprof/profile"
)

// harnessPackages begin the names of functions that wait on the measurement's
// own behalf: the barrier, the join of the workers, the recorders. Packages of
// scaleprof that are built into a user's test binary have "scaleprof_" in their path.
var harnessPackages = []string{
	"github.com/scaleprof/scaleprof/internal/capture/recorder.",
	"github.com/scaleprof/scaleprof/internal/capture/child.",
	"github.com/felixge/fgprof.",
	"runtime/trace.",
	"runtime/pprof.",
	"testing.",
}

// waitPackages begin the names of functions that only carry out a wait.
var waitPackages = []string{"runtime.", "sync.", "internal/sync.", "internal/poll.", "os.", "syscall."}

// harnessWait reports whether a sample of a mutex or block profile is the
// harness's own wait: whoever called into sync or the runtime belongs to it.
// A block event of one of the runtime's own goroutines is one too (the
// execution trace's wait for data); contention on the runtime's own locks is not.
func harnessWait(s *profile.Sample, kind string) bool {
	first, root := "", ""
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if strings.HasPrefix(name, "runtime.traceStartReadCPU") || strings.HasPrefix(name, "runtime.(*traceAdvancerState)") {
				return true
			}
			if first == "" && !hasAnyPrefix(name, waitPackages) {
				first = name
			}
			if name != "runtime.goexit" {
				root = name
			}
		}
	}
	if first != "" {
		return hasAnyPrefix(first, harnessPackages) || strings.Contains(first, "scaleprof_")
	}
	return kind == "block" && strings.HasPrefix(root, "runtime.") && root != "runtime.main"
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
