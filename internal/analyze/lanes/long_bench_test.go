package lanes_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"golang.org/x/exp/trace"
)

// longTrace is the size of the trace that BenchmarkReadLong makes, bytes.
const longTrace = 500 << 20

// BenchmarkReadLong reads a trace of 500 MB, of a program that starts a goroutine
// per operation, and reports how much memory the bare reader and the accounting
// have at most, as the operating system sees it (MB): what finished goroutines
// leave behind shows here.
func BenchmarkReadLong(b *testing.B) {
	const probe = 60_000
	small := runChild(b, "lab/goroutine-churn", 2, 2, probe, true)
	long := runChild(b, "lab/goroutine-churn", 2, 2, probe*longTrace/int64(len(small.trace)), true)
	result, path, size := long.result, long.path, len(long.trace)
	small, long = capture{}, capture{} // the traces themselves are not to be in memory
	for b.Loop() {
		bare := peakMemory(func() { readFile(b, path, readBare) })
		full := peakMemory(func() {
			readFile(b, path, func(r io.Reader) error {
				_, err := lanes.Read(context.Background(), r, lanes.Input{Result: result})
				return err
			})
		})
		b.ReportMetric(float64(size)/1e6, "trace-MB")
		b.ReportMetric(bare/1e6, "bare-MB")
		b.ReportMetric(full/1e6, "account-MB")
		b.ReportMetric((full-bare)/1e6, "above-MB")
	}
}

func readFile(b *testing.B, path string, with func(io.Reader) error) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := with(bufio.NewReaderSize(f, 1<<20)); err != nil {
		b.Fatal(err)
	}
}

func readBare(r io.Reader) error {
	tr, err := trace.NewReader(r)
	for err == nil {
		_, err = tr.ReadEvent()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// peakMemory is the most that this process has of the system's memory while f
// runs, above what it had before, bytes.
func peakMemory(f func()) float64 {
	debug.FreeOSMemory()
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	now := func() float64 {
		metrics.Read(s)
		return float64(s[0].Value.Uint64() - s[1].Value.Uint64())
	}
	before, peak := now(), 0.0
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, now())
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return max(peak, now()) - before
}
