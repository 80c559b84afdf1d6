package lanes_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// BenchmarkFile measures on a trace of the user's, by the least CPU time
// of a reading, which a busy machine disturbs less than wall time:
//
//	SCALEPROF_TRACE=x.trace go test -run '^$' -bench File ./internal/analyze/lanes
func BenchmarkFile(b *testing.B) {
	files, _ := filepath.Glob(os.Getenv("SCALEPROF_TRACE"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(name), func(b *testing.B) {
			bare, full := int64(math.MaxInt64), int64(math.MaxInt64)
			n := 0
			for b.Loop() {
				t := cpuTime()
				n = countEvents(b, data)
				u := cpuTime()
				if _, err := lanes.Read(context.Background(), bytes.NewReader(data), lanes.Input{}); err != nil {
					b.Fatal(err)
				}
				bare, full = min(bare, u-t), min(full, cpuTime()-u)
			}
			b.ReportMetric(float64(bare)/float64(full), "of-bare-speed")
			b.ReportMetric(float64(bare)/float64(n), "bare-ns/event")
			b.ReportMetric(float64(full)/float64(n), "ns/event")
		})
	}
}

func cpuTime() int64 {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return ru.Utime.Nano() + ru.Stime.Nano()
}
