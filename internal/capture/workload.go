package capture

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// WorkloadTarget is a built-in workload as a target: fresh processes of the
// executable exe run it. The parameters are checked here, before anything runs.
func WorkloadTarget(w workload.Workload, values map[string]string, exe string) (Target, error) {
	info := w.Info()
	if err := workload.CheckParams(w, values); err != nil {
		return Target{}, err
	}
	if info.QuotaCPUs > 0 {
		q, err := newQuota(info.QuotaCPUs)
		if err != nil {
			return Target{}, fmt.Errorf("%s cannot run here: %w", info.Name, err)
		}
		if err := q.close(); err != nil {
			return Target{}, err
		}
	}
	t := Target{
		Record: record.Target{Name: info.Name, Kind: "workload", Params: values, Unit: "op", Binary: exe},
		Exec:   &Processes{Launcher: Self{Exe: exe}, QuotaCPUs: info.QuotaCPUs},
		OpNS:   info.OpNS, Delays: info.Delay, Quota: info.QuotaCPUs > 0,
	}
	if info.Library != "" {
		t.Libraries = workload.Versions(info.Library)
	}
	return t, nil
}

// ResolveWorkload finds the targets of a capture of built-in workloads again.
func ResolveWorkload(reg *workload.Registry, exe string) func(record.Target) (Target, error) {
	return func(r record.Target) (Target, error) {
		if r.Kind != "workload" {
			return Target{}, fmt.Errorf("%s is not a built-in workload", clip(r.Name))
		}
		w, err := reg.Lookup(r.Name)
		if err != nil {
			return Target{}, err
		}
		return WorkloadTarget(w, r.Params, exe)
	}
}
