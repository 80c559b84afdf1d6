package capture

import (
	"fmt"
	"os"
)

// environmentWarnings names what the user's environment changes in every run.
// GOMAXPROCS is set for each run, the others are inherited on purpose: whoever
// exports GOGC wants to measure with it.
func (s *session) environmentWarnings() {
	if v := os.Getenv("GOMAXPROCS"); v != "" {
		s.warn("env-gomaxprocs", fmt.Sprintf("GOMAXPROCS=%s in the environment has no effect: each run sets its own (--procs)", clip(v)), nil)
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if v := os.Getenv(name); v != "" {
			s.warn("env", fmt.Sprintf("%s=%s in the environment applies to every run", name, clip(v)), nil)
		}
	}
}
