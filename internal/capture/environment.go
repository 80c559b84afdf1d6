package capture

import (
	"fmt"
	"os"
)

// environmentWarnings names what the user's environment changes in every run.
// They are inherited on purpose: whoever exports GOGC wants to measure with it.
// GOMAXPROCS is set for each run, and has a gate of its own.
func (s *session) environmentWarnings() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if v := os.Getenv(name); v != "" {
			s.warn("env", fmt.Sprintf("%s=%s in the environment applies to every run", name, clip(v)), nil)
		}
	}
}
