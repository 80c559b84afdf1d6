package recorder

import (
	"math"
	"runtime/metrics"
	"strings"
)

// gcTime reports whether a metric moves only when a collection ends, so that
// it is current only right after one.
func gcTime(name string) bool {
	return strings.HasPrefix(name, "/cpu/classes/") || strings.HasPrefix(name, "/gc/cycles/")
}

// describe lists the metrics to read: all but the counts of GODEBUG settings.
func describe() []metrics.Description {
	var out []metrics.Description
	for _, d := range metrics.All() {
		if d.Kind != metrics.KindBad && !strings.HasPrefix(d.Name, "/godebug/") {
			out = append(out, d)
		}
	}
	return out
}

// samples makes room for one reading. It reads once, so that later readings
// allocate nothing: a histogram is stored over the one before it.
func samples(descs []metrics.Description, want func(name string) bool) []metrics.Sample {
	var s []metrics.Sample
	for _, d := range descs {
		if want == nil || want(d.Name) {
			s = append(s, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(s)
	return s
}

// scalar is a sample's number, false for a histogram.
func scalar(v metrics.Value) (float64, bool) {
	switch v.Kind() {
	case metrics.KindUint64:
		return float64(v.Uint64()), true
	case metrics.KindFloat64:
		return v.Float64(), true
	}
	return 0, false
}

// differences subtracts two readings of the same metrics. Gauges keep the
// later value.
func differences(descs []metrics.Description, a, b []metrics.Sample) (map[string]float64, map[string]Hist) {
	cumulative := make(map[string]bool, len(descs))
	for _, d := range descs {
		cumulative[d.Name] = d.Cumulative
	}
	scalars := make(map[string]float64)
	hists := make(map[string]Hist)
	for i := range b {
		name := b[i].Name
		if after, ok := scalar(b[i].Value); ok {
			if before, ok := scalar(a[i].Value); ok && cumulative[name] {
				after -= before
			}
			if !math.IsNaN(after) && !math.IsInf(after, 0) {
				scalars[name] = after
			}
			continue
		}
		if b[i].Value.Kind() == metrics.KindFloat64Histogram && a[i].Value.Kind() == metrics.KindFloat64Histogram {
			hists[name] = subtract(a[i].Value.Float64Histogram(), b[i].Value.Float64Histogram(), cumulative[name])
		}
	}
	return scalars, hists
}

// subtract is the difference of two histograms over the same buckets.
func subtract(a, b *metrics.Float64Histogram, cumulative bool) Hist {
	var h Hist
	for i, n := range b.Counts {
		if cumulative && i < len(a.Counts) {
			if n < a.Counts[i] {
				continue
			}
			n -= a.Counts[i]
		}
		if n == 0 {
			continue
		}
		// The outermost buckets may be open: their one finite bound stands for both.
		low, high := b.Buckets[i], b.Buckets[i+1]
		if math.IsInf(low, 0) {
			low = high
		}
		if math.IsInf(high, 0) {
			high = low
		}
		h.Count += int64(n)
		h.Sum += float64(n) * (low + high) / 2
		h.Max = high
		h.Buckets = append(h.Buckets, [2]float64{low, float64(n)})
	}
	return h
}
