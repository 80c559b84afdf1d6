package host

import (
	"fmt"
	"math"
	"strings"

	"github.com/scaleprof/scaleprof/internal/host/counters"
)

// Level grades a finding.
type Level string

const (
	OK   Level = "ok"
	Note Level = "note" // measure, but know this when reading the figures
	Bad  Level = "bad"  // figures taken so will be mistaken for the program's: change it first
)

// Finding is one fact about the machine with what it means for measuring on it.
type Finding struct {
	ID      string `json:"id"`
	Level   Level  `json:"level"`
	Fact    string `json:"fact"`
	Meaning string `json:"meaning"`
	Fix     string `json:"fix,omitempty"` // what to change, an exact command where there is one
}

// Findings says what each known fact of a machine means, in the order in which a reader asks.
// It depends on info alone, so that a recorded machine reads like the live one.
func Findings(info Info) []Finding {
	var out []Finding
	for _, about := range []func(Info) []Finding{
		aboutCPUs, aboutCores, aboutClasses, aboutCaches, aboutNUMA, aboutQuota, aboutProcs,
		aboutFrequency, aboutVirtual, aboutMemory, aboutCounters,
	} {
		out = append(out, about(info)...)
	}
	return out
}

func aboutCPUs(info Info) []Finding {
	switch {
	case info.CPUs == 0:
		return []Finding{{"cpus", Note, "the number of CPUs is unknown", "no T can be judged against the machine", ""}}
	case info.CPUs == 1:
		fix := ""
		if info.OnlineCPUs > 1 {
			fix = fmt.Sprintf("taskset -c 0-%d scaleprof …, or widen the container's cpuset", info.OnlineCPUs-1)
		}
		return []Finding{{
			"cpus", Bad, fmt.Sprintf("1 CPU is usable of %d", max(info.OnlineCPUs, 1)),
			"nothing can run in parallel: every T above 1 only takes turns", fix,
		}}
	case info.CPUs < info.OnlineCPUs:
		return []Finding{{
			"affinity", Note, fmt.Sprintf("%d of the machine's %d CPUs are usable (%s)", info.CPUs, info.OnlineCPUs, info.UsableCPUs),
			fmt.Sprintf("affinity or a cpuset narrows this process: T above %d is oversubscribed, and the other CPUs' work shares caches, memory and turbo with it", info.CPUs),
			fmt.Sprintf("taskset -c 0-%d scaleprof …, or widen the container's cpuset", info.OnlineCPUs-1),
		}}
	}
	return []Finding{{"cpus", OK, fmt.Sprintf("%d CPUs, all of them usable", info.CPUs), fmt.Sprintf("T from 1 to %d makes sense", info.CPUs), ""}}
}

func aboutCores(info Info) []Finding {
	switch {
	case info.PhysicalCores == 0:
		return []Finding{{
			"cores", Note, "which CPUs share a physical core is unknown",
			"a knee at the number of cores cannot be told from one in the program", "",
		}}
	case info.PhysicalCores < info.CPUs:
		return []Finding{{
			"cores", Note, fmt.Sprintf("%d physical cores, %d hardware threads each", info.PhysicalCores, info.SMT),
			fmt.Sprintf("above T=%d workers share cores: expect a knee there that is the machine's. The ceiling shows how much", info.PhysicalCores),
			"compare up to the knee, or use the arm `pin`; echo off | sudo tee /sys/devices/system/cpu/smt/control",
		}}
	case info.SMT > 1:
		return []Finding{{
			"cores", OK, fmt.Sprintf("%d physical cores, one usable hardware thread of %d each", info.PhysicalCores, info.SMT),
			"workers have a core each, unless others use the sibling threads", "",
		}}
	}
	fact := fmt.Sprintf("%d physical cores, one hardware thread each", info.PhysicalCores)
	if info.Virtual {
		return []Finding{{
			"cores", Note, fact + ", as the hypervisor shows them",
			"two of these CPUs may be threads of one real core: only the ceiling tells what they give together", "",
		}}
	}
	return []Finding{{"cores", OK, fact, "no worker shares a core with another", ""}}
}

func aboutClasses(info Info) []Finding {
	if len(info.CoreClasses) < 2 {
		return nil
	}
	return []Finding{{
		"hybrid", Note, fmt.Sprintf("hybrid CPU: core classes of %s CPUs, fastest first", joinInts(info.CoreClasses, "+")),
		fmt.Sprintf("above T=%d workers land on slower cores, and equal shares make the fast ones wait", info.CoreClasses[0]),
		fmt.Sprintf("measure one class by itself: taskset -c LIST scaleprof … with T up to %d", info.CoreClasses[0]),
	}}
}

func aboutCaches(info Info) []Finding {
	switch {
	case info.LLCs == 0:
		return nil
	case info.LLCs == 1:
		return []Finding{{
			"caches", OK, fmt.Sprintf("one last-level cache of %s for all usable CPUs", bytesText(info.LLCBytes)),
			"workers share its capacity: data that fits at T=1 may not at a higher T", "",
		}}
	}
	return []Finding{{
		"caches", Note, fmt.Sprintf("%d last-level caches of up to %s, each for %s CPUs", info.LLCs, bytesText(info.LLCBytes), spread(info.LLCCPUs)),
		"lines that workers share cross between caches, several times slower than within one", "",
	}}
}

func aboutNUMA(info Info) []Finding {
	switch {
	case info.NUMANodes == 1:
		return []Finding{{"numa", OK, "one NUMA node", "all memory is equally near", ""}}
	case info.NUMANodes > 1:
		return []Finding{{
			"numa", Note, fmt.Sprintf("%d NUMA nodes, each with %s usable CPUs", info.NUMANodes, spread(info.NodeCPUs)),
			"Go places memory without regard to nodes: past one node part of the loss is remote memory",
			"compare with one node: numactl --cpunodebind=0 --membind=0 scaleprof …",
		}}
	}
	return nil
}

func aboutQuota(info Info) []Finding {
	if info.QuotaCPUs == nil {
		if info.CgroupVersion == 0 {
			return nil
		}
		return []Finding{{"quota", OK, fmt.Sprintf("no CPU quota (cgroup v%d)", info.CgroupVersion), "the kernel does not stop this process", ""}}
	}
	q := *info.QuotaCPUs
	fact := fmt.Sprintf("CPU quota of %.4g CPUs (cgroup v%d)", q, info.CgroupVersion)
	if q >= float64(info.CPUs) && info.CPUs > 0 {
		return []Finding{{"quota", OK, fact, "not below the usable CPUs: it does not bind", ""}}
	}
	meaning := fmt.Sprintf("above %.4g busy CPUs the kernel stops all threads until the next period, GC's too: a loss that is not the program's", q)
	if q != math.Floor(q) {
		meaning += "; a fraction of a CPU suits no number of workers"
	}
	if info.LeafQuotaCPUs == nil || *info.LeafQuotaCPUs > q {
		meaning += "; it is set on a parent group, where neither Go nor automaxprocs looks"
	}
	return []Finding{{"quota", Bad, fact, meaning, quotaFix(info)}}
}

func quotaFix(info Info) string {
	dir := "/" + strings.TrimPrefix(info.QuotaFrom, "/")
	if info.CgroupVersion == 2 {
		return fmt.Sprintf("docker update --cpus %d NAME, or: echo max | sudo tee %s/cpu.max", info.CPUs, dir)
	}
	return fmt.Sprintf("docker update --cpus %d NAME, or: echo -1 | sudo tee %s/cpu.cfs_quota_us", info.CPUs, dir)
}

func aboutProcs(info Info) []Finding {
	if info.EnvProcs != "" {
		return []Finding{{
			"gomaxprocs", Bad, fmt.Sprintf("GOMAXPROCS=%s is set in the environment", info.EnvProcs),
			"it ends Go's own choice, and a program that is started by scaleprof inherits it",
			"unset GOMAXPROCS",
		}}
	}
	if info.GoProcs == 0 {
		return nil
	}
	f := Finding{
		"gomaxprocs", OK, fmt.Sprintf("Go chooses GOMAXPROCS=%d; automaxprocs would too", info.GoProcs),
		"the workers and the GC may use as many CPUs", "",
	}
	if info.AutoProcs != info.GoProcs {
		f.Level = Note
		f.Fact = fmt.Sprintf("Go chooses GOMAXPROCS=%d; automaxprocs would set %d", info.GoProcs, info.AutoProcs)
		f.Meaning = "Go rounds a quota up and takes at least 2, automaxprocs rounds down: a program that imports it runs with other Ps than one that does not"
	}
	if q := info.QuotaCPUs; q != nil && float64(info.GoProcs) > math.Ceil(*q) {
		f.Level = Note
		f.Meaning = fmt.Sprintf("more Ps than the quota of %.4g CPUs feeds: all of them busy means throttling", *q)
		f.Fix = fmt.Sprintf("run with --procs %d", max(1, int(*q)))
	}
	return []Finding{f}
}

func aboutCounters(info Info) []Finding {
	if info.PerfCounters {
		return []Finding{{
			"counters", OK, "hardware counters can be read",
			"growth of CPU per operation is divided into instructions, cycles and frequency", "",
		}}
	}
	if info.PerfWhy != "" {
		why, fix := strings.TrimPrefix(info.PerfWhy, counters.ErrUnsupported.Error()+": "), ""
		if i := strings.LastIndex(why, ": sudo "); i >= 0 {
			why, fix = why[:i], why[i+2:]
		}
		return []Finding{{
			"counters", Note, "no hardware counters: " + why,
			"instructions and cycles stay unknown; the calibration kernels stand in for them", fix,
		}}
	}
	if p := info.PerfParanoid; p != nil && *p > 2 {
		return []Finding{{
			"counters", Note, fmt.Sprintf("kernel.perf_event_paranoid is %d", *p),
			"hardware counters are denied: instructions and cycles stay unknown",
			"sudo sysctl kernel.perf_event_paranoid=2",
		}}
	}
	return nil
}

// spread writes group sizes: "8", or "4 to 8".
func spread(ns []int) string {
	if len(ns) == 0 {
		return "an unknown number of"
	}
	lo, hi := ns[0], ns[0]
	for _, n := range ns {
		lo, hi = min(lo, n), max(hi, n)
	}
	if lo == hi {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

func joinInts(ns []int, sep string) string {
	var parts []string
	for _, n := range ns {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, sep)
}
