package host

import (
	"cmp"
	"math"
	"slices"
)

// Places lists the known places where this machine's curve may bend, one for
// each number of CPUs, ascending. Where several fall on one number it has the most
// specific name: the one that says most about why the curve bends there.
func Places(info Info) []Place {
	var all []Place // most specific first
	add := func(threads int, name string) {
		if threads >= 1 && !slices.ContainsFunc(all, func(p Place) bool { return p.Threads == threads }) {
			all = append(all, Place{threads, name})
		}
	}
	if q := info.QuotaCPUs; q != nil && *q < float64(info.CPUs) {
		add(int(math.Ceil(*q)), "quota")
	}
	if len(info.CoreClasses) > 1 {
		fast := info.CoreClasses[0]
		if len(info.CoreClassCores) > 0 && info.CoreClassCores[0] > 0 {
			fast = info.CoreClassCores[0] // with SMT, their second threads come later
		}
		add(fast, "performance cores")
	}
	if info.PhysicalCores > 0 && info.PhysicalCores < info.CPUs {
		add(info.PhysicalCores, "physical cores")
	}
	// A last-level cache that only one core's threads share is a private cache, no place.
	if info.LLCs > 1 && len(info.LLCCPUs) > 0 && slices.Max(info.LLCCPUs) > max(info.SMT, 1) {
		add(slices.Max(info.LLCCPUs), "one last-level cache")
	}
	if info.NUMANodes > 1 && len(info.NodeCPUs) > 0 {
		add(slices.Max(info.NodeCPUs), "one NUMA node")
	}
	if info.CPUs > 1 {
		add(info.CPUs/2, "half of the CPUs")
	}
	add(info.CPUs, "CPUs")
	slices.SortFunc(all, func(a, b Place) int { return cmp.Compare(a.Threads, b.Threads) })
	return all
}
