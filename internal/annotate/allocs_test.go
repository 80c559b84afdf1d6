package annotate

import (
	"errors"
	"testing"

	"github.com/google/pprof/profile"
)

func heapProfile(values ...[2]int64) *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{
		{Type: "alloc_objects", Unit: "count"},
		{Type: "alloc_space", Unit: "bytes"},
		{Type: "inuse_objects", Unit: "count"},
		{Type: "inuse_space", Unit: "bytes"},
	}}
	for i, v := range values {
		fn := &profile.Function{ID: uint64(i + 1), Name: string(rune('a' + i))}
		loc := &profile.Location{ID: fn.ID, Line: []profile.Line{{Function: fn, Line: 1}}}
		p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
		p.Sample = append(p.Sample, &profile.Sample{
			Location: []*profile.Location{loc}, Value: []int64{v[0], v[1], 5, 5}, NumLabel: map[string][]int64{"bytes": {v[1] / max(v[0], 1)}},
		})
	}
	return p
}

func TestAllocsAreWhatTheRuntimeCounted(t *testing.T) {
	one, two := heapProfile([2]int64{10, 1000}, [2]int64{30, 600}, [2]int64{-1, -8}), heapProfile([2]int64{10, 1000}, [2]int64{30, 600})
	p, err := Allocs(Cell{Target: "x", Mode: "thread", Threads: 2}, []Allocated{{one, 3200, 80}, {two, 1600, 40}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if n, b := total(p, 0), total(p, 1); n != 60 || b != 2400 {
		t.Errorf("%d objects of %d bytes, want the mean of the runs, 60 and 2400", n, b)
	}
	if len(p.SampleType) != 2 || p.DefaultSampleType != "alloc_space" {
		t.Errorf("sample types %v, default %s", p.SampleType, p.DefaultSampleType)
	}
	if got := p.Sample[0].NumLabel["bytes"]; len(got) != 1 || got[0] != 100 {
		t.Errorf("label bytes %v, want 100", got)
	}
	if one.Sample[0].Value[1] != 1000 {
		t.Error("the source was changed")
	}
	if _, err := Allocs(Cell{}, nil); !errors.Is(err, ErrNoProfile) {
		t.Errorf("nothing gives %v", err)
	}
}
