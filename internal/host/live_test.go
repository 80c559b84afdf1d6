package host

import (
	"encoding/json"
	"testing"
	"time"
)

// The machine that runs the test can be read, and its figures make sense together.
func TestReadLive(t *testing.T) {
	info, findings := Read("/")
	if info.CPUs < 1 || info.GoProcs < 1 || info.AutoProcs < 1 {
		t.Errorf("cpus %d, go %d, automaxprocs %d", info.CPUs, info.GoProcs, info.AutoProcs)
	}
	if info.OnlineCPUs != 0 && info.CPUs > info.OnlineCPUs || info.PhysicalCores > info.CPUs {
		t.Errorf("%d usable of %d online CPUs, %d cores", info.CPUs, info.OnlineCPUs, info.PhysicalCores)
	}
	if len(findings) == 0 {
		t.Error("no findings")
	}
	text, err := json.MarshalIndent(info, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	for _, f := range findings {
		t.Logf("%-5s %s: %s. %s. %s", f.Level, f.ID, f.Fact, f.Meaning, f.Fix)
	}
}

// Counters of the machine go forward, and this process's own CPU is part of what is busy.
func TestSystemLive(t *testing.T) {
	r := NewSystemReader("/")
	before := r.Read()
	own0, okOwn := SelfCPU()
	x, deadline := uint64(1), time.Now().Add(100*time.Millisecond)
	for time.Now().Before(deadline) {
		for range 1000 {
			x = x*6364136223846793005 + 1
		}
	}
	own1, _ := SelfCPU()
	d := r.Read().Sub(before)
	if d.WallNS < int64(100*time.Millisecond) || x == 0 {
		t.Errorf("wall %d ns", d.WallNS)
	}
	for name, v := range map[string]*int64{
		"busy": d.BusyNS, "steal": d.StealNS, "throttled": d.ThrottledNS, "pressure": d.PressureNS, "wait": d.WaitNS,
	} {
		if v == nil {
			t.Logf("%s: unknown", name)
			continue
		}
		t.Logf("%s: %d ns", name, *v)
		if *v < 0 {
			t.Errorf("%s = %d", name, *v)
		}
	}
	t.Logf("busy from %q, own %d ns", d.BusyFrom, own1-own0)
	// Exact where the scheduler counts; the tick's sampling may miss some.
	if okOwn && d.BusyFrom == BusyCpuacct && d.BusyNS != nil && float64(*d.BusyNS) < 0.5*float64(own1-own0) {
		t.Errorf("busy %d ns, of which own %d", *d.BusyNS, own1-own0)
	}
}
