package capture

import (
	"os"
	"slices"
	"testing"

	"github.com/scaleprof/scaleprof/internal/record"
)

func TestQuota(t *testing.T) {
	q, err := newQuota(0.1)
	if err != nil {
		t.Skip(err)
	}
	if err := q.close(); err != nil {
		t.Fatal(err)
	}
	job, _ := testJob(t, record.Process, 2)
	out, err := (&Processes{Launcher: testLauncher{"burn"}, QuotaCPUs: 0.1}).Execute(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if out.Throttled == nil || out.Throttled.Times == 0 || out.Throttled.NS <= 0 {
		t.Errorf("100 ms of work under a quota of 10 ms in 100 were not stopped: %+v", out.Throttled)
	}
	if _, err := os.Stat(q.dir); err == nil {
		t.Errorf("the cgroup %s is left behind", q.dir)
	}
}

func TestQuotaPlaces(t *testing.T) {
	for _, test := range []struct {
		groups string
		want   []quotaPlace
	}{
		{"0::/user.slice/a\n", []quotaPlace{{"/cg/user.slice/a", true}, {"/cg/user.slice", true}}},
		{"4:memory:/x\n1:cpu,cpuacct:/b\n", []quotaPlace{{"/cg/cpu,cpuacct/b", false}, {"/cg/cpu/b", false}, {"/cg/cpu", false}}},
		{"0::/../../etc\n", []quotaPlace{{"/cg/etc", true}, {"/cg", true}}},
		{"nonsense\n", nil},
	} {
		if got := quotaPlaces(test.groups, "/cg"); !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.groups, got, test.want)
		}
	}
}
