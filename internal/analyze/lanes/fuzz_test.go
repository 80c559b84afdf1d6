package lanes_test

import (
	"bytes"
	"context"
	"runtime/trace"
	"sync"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// tinyTrace is a trace of this process: two marked lanes, a mutex, a channel.
func tinyTrace(tb testing.TB) []byte {
	tb.Helper()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		tb.Fatal(err)
	}
	ctx := context.Background()
	trace.Log(ctx, recorder.LogCategory, recorder.LogBegin)
	var wg sync.WaitGroup
	var mu sync.Mutex
	handed := 0
	ch := make(chan int)
	for i := range 2 {
		wg.Go(func() {
			trace.WithRegion(ctx, recorder.RegionLane, func() {
				for range 20 {
					mu.Lock()
					handed++
					mu.Unlock()
					if i == 0 {
						ch <- 1
					} else {
						<-ch
					}
				}
			})
		})
	}
	wg.Wait()
	trace.Log(ctx, recorder.LogCategory, recorder.LogEnd)
	trace.Stop()
	return buf.Bytes()
}

// FuzzRead feeds damaged traces: whatever comes out adds up, and nothing panics.
func FuzzRead(f *testing.F) {
	data := tinyTrace(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := lanes.Read(context.Background(), bytes.NewReader(data), lanes.Input{})
		if err != nil {
			return
		}
		var sum int64
		for _, p := range a.Parts {
			sum += p.NS
		}
		if sum != a.SlotNS {
			t.Errorf("parts add up to %d, slot time is %d", sum, a.SlotNS)
		}
	})
}
