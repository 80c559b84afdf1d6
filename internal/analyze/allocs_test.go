package analyze

import (
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
)

func allocSample(size, n int64, frames ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{n, n * size}, NumLabel: map[string][]int64{"bytes": {size}}}
	for _, f := range frames {
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: f, Filename: "/x/a.go"}, Line: 7}}})
	}
	return s
}

func TestAllocationSites(t *testing.T) {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
		Sample: []*profile.Sample{
			allocSample(64, 100, "runtime.growslice", "example.com/m/main.small", "main.main"),
			allocSample(64<<10, 10, "main.large", "main.main"),
			allocSample(1<<20, 5, "compress/flate.NewWriter", "runtime/pprof.StartCPUProfile"),
			allocSample(4096, 5, "github.com/scaleprof/scaleprof/internal/capture/recorder.samples", "main.main"),
			allocSample(4096, -5, "main.gone"),
		},
	}
	sites := allocSites(p)
	if len(sites) != 2 {
		t.Fatalf("sites %+v, want those of the program", sites)
	}
	c := &cell{profiled: []*observation{{run: &record.Run{Ops: 10}, allocs: sites}}}
	if got, want := allocDetail(cause.GCAssist, c), "most is allocated at main.large (x/a.go:7), 64 KiB in 1 objects an operation; main.small (x/a.go:7), 640 B in 10 objects an operation"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got, want := allocDetail(cause.AllocHeap, c), "large objects are made at main.large (x/a.go:7), 64 KiB each, 1 an operation"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := allocDetail(cause.GCAssist, &cell{}); got != "" {
		t.Errorf("without a profile: %q", got)
	}
	if strings.Contains(joined("a", "")+joined("", "b"), ";") {
		t.Error("one detail alone has a separator")
	}
}
