package lanes_test

import (
	"os"
	"testing"
)

// TestKeepTrace writes the trace of one run to a file, for go tool trace:
//
//	SCALEPROF_KEEP=lab/goroutine-churn=/tmp/churn.trace go test -run TestKeepTrace ./internal/analyze/lanes
func TestKeepTrace(t *testing.T) {
	spec := os.Getenv("SCALEPROF_KEEP")
	if spec == "" {
		t.Skip("set SCALEPROF_KEEP to workload=file")
	}
	var target, file string
	for i := range spec {
		if spec[i] == '=' {
			target, file = spec[:i], spec[i+1:]
			break
		}
	}
	c := runChild(t, target, 2, 2, 300_000, true)
	if err := os.WriteFile(file, c.trace, 0o600); err != nil {
		t.Fatal(err)
	}
}
