package lanes_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// BenchmarkRead compares the accounting with a loop that only reads the events,
// on traces made here: JSON work, one goroutine after the other, and hand-overs
// through channels. The aim is a ratio of at least 0.8:
//
//	go test -run '^$' -bench Read ./internal/analyze/lanes
func BenchmarkRead(b *testing.B) {
	for _, w := range []struct {
		name, target string
		ops          int64
	}{
		{"json", "json/std", 60_000},
		{"spawn", "lab/goroutine-churn", 60_000},
		{"channel", "lab/channel-handoff", 300_000},
	} {
		b.Run(w.name, func(b *testing.B) {
			c := runChild(b, w.target, 2, 2, w.ops, true)
			events := 0
			b.Run("bare", func(b *testing.B) {
				for b.Loop() {
					events = countEvents(b, c.trace)
				}
				rate(b, events, len(c.trace))
			})
			b.Run("account", func(b *testing.B) {
				for b.Loop() {
					if _, err := lanes.Read(context.Background(), bytes.NewReader(c.trace), lanes.Input{Result: c.result}); err != nil {
						b.Fatal(err)
					}
				}
				rate(b, events, len(c.trace))
			})
			b.Run("ratio", func(b *testing.B) {
				// Alternating, so that a drift of the machine's speed cancels.
				var bare, full int64
				for b.Loop() {
					bare += timed(func() { countEvents(b, c.trace) })
					full += timed(func() {
						if _, err := lanes.Read(context.Background(), bytes.NewReader(c.trace), lanes.Input{Result: c.result}); err != nil {
							b.Fatal(err)
						}
					})
				}
				b.ReportMetric(float64(bare)/float64(full), "of-bare-speed")
			})
		})
	}
}

func rate(b *testing.B, events, size int) {
	s := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(events)/s/1e6, "Mev/s")
	b.ReportMetric(float64(size)/s/1e6, "MB/s")
}

func countEvents(tb testing.TB, data []byte) int {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for {
		if _, err := r.ReadEvent(); err != nil {
			if !errors.Is(err, io.EOF) {
				tb.Fatal(err)
			}
			return n
		}
		n++
	}
}
