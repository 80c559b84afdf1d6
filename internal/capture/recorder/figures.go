package recorder

import "reflect"

// usageDiff is what was used between two readings. The peak of memory is no
// difference: it is the process's up to the second reading.
func usageDiff(a, b *Usage) *Usage {
	if a == nil || b == nil {
		return nil
	}
	return &Usage{
		UserNS: b.UserNS - a.UserNS, SysNS: b.SysNS - a.SysNS,
		MinFlt: b.MinFlt - a.MinFlt, MajFlt: b.MajFlt - a.MajFlt,
		NVCSw: b.NVCSw - a.NVCSw, NIVCSw: b.NIVCSw - a.NIVCSw,
		MaxRSS: b.MaxRSS,
	}
}

// threadsDiff sums the differences of the threads that lived at the second
// reading. A thread born in between starts at 0; so do all with whole.
func threadsDiff(a, b map[int]Threads, whole bool) *Threads {
	if a == nil && !whole || b == nil {
		return nil
	}
	var sum Threads
	for tid, after := range b {
		var before Threads
		// A smaller figure than before is another thread that got the same id.
		if t, ok := a[tid]; ok && !whole && t.RunNS <= after.RunNS && t.Slices <= after.Slices {
			before = t
		}
		sum.RunNS += after.RunNS - before.RunNS
		sum.WaitNS += after.WaitNS - before.WaitNS
		sum.Slices += after.Slices - before.Slices
	}
	return &sum
}

// encodeMetrics is the content of a run's metrics.json: the figures of the
// Result that come from runtime/metrics, rusage and schedstat.
func encodeMetrics(r *Result) ([]byte, error) {
	b, err := encode(nil, reflect.ValueOf(&struct {
		Process   int                `json:"process"`
		BeginNS   int64              `json:"begin_ns"`
		EndNS     int64              `json:"end_ns"`
		Usage     *Usage             `json:"usage,omitempty"`
		Threads   *Threads           `json:"threads_stat,omitempty"`
		Metrics   map[string]float64 `json:"metrics,omitempty"`
		Hists     map[string]Hist    `json:"hists,omitempty"`
		ClosingGC *ClosingGC         `json:"closing_gc,omitempty"`
		Counters  map[string]float64 `json:"counters,omitempty"`
	}{r.Process, r.BeginNS, r.EndNS, r.Usage, r.Threads, r.Metrics, r.Hists, r.ClosingGC, r.Counters}))
	return append(b, '\n'), err
}
