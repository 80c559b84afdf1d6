package host

import (
	"fmt"
	"os"
	"runtime"
)

// Read describes the machine whose files are below root: "/" for this one, or
// a copy of another's /proc and /sys. It never fails: what cannot be read is
// unknown. The findings say what each fact means for measuring.
func Read(root string) (Info, []Finding) {
	t := tree{root}
	info := readTree(t)
	if t.live() {
		readLive(&info)
	}
	return info, Findings(info)
}

// readTree reads all that files tell.
func readTree(t tree) Info {
	text, _ := t.read("proc/cpuinfo")
	procs := parseCPUInfo(text)
	info := Info{
		OS: treeOS(t), Arch: treeArch(t, procs), CPU: procs.model,
		Kernel: t.text("proc/sys/kernel/osrelease"),
		THP:    readTHP(t), PerfParanoid: readParanoid(t),
	}
	if t.live() {
		info.PageBytes = os.Getpagesize()
	}

	online := onlineCPUs(t, procs)
	usable := online
	allowed, ok := allowedCPUs(t)
	if set, liveOK := affinity(); t.live() && liveOK {
		allowed, ok = set, true
	}
	if ok {
		if both := allowed.and(online); len(both) > 0 {
			usable = both
		} else if len(online) == 0 {
			usable = allowed
		}
	}
	info.CPUs, info.OnlineCPUs, info.UsableCPUs = len(usable), len(online), usable.String()

	top := readTopology(t, procs, online, usable)
	info.PhysicalCores, info.SMT, info.Sockets = len(top.cores), top.smt, top.sockets
	info.NUMANodes, info.NodeCPUs = len(top.nodes), sizes(top.nodes)
	info.LLCs, info.LLCCPUs, info.LLCBytes = len(top.llcs), sizes(top.llcs), top.llcBytes
	info.CoreClasses, info.CoreClassCores = sizes(top.classes), classCores(top)
	for _, core := range top.cores {
		info.CoreFirst = append(info.CoreFirst, core[0])
	}

	leaf, effective, version := readQuota(t)
	info.CgroupVersion = version
	if effective != nil {
		info.QuotaCPUs, info.QuotaFrom = ptr(effective.cpus), effective.dir
	}
	if leaf != nil {
		info.LeafQuotaCPUs = ptr(leaf.cpus)
	}
	if info.CPUs > 0 {
		info.GoProcs, info.AutoProcs = goProcs(info.CPUs, leaf), autoProcs(info.CPUs, leaf)
	}

	p := readPower(t, usable)
	info.Governor, info.Turbo = p.governor, p.turbo
	info.MinKHz, info.MaxKHz, info.LimitMinKHz, info.LimitMaxKHz = p.hwMin, p.hwMax, p.limitMin, p.limitMax
	info.Virtual, info.Hypervisor = readVirtual(t, procs)

	m := readMemory(t)
	info.MemoryBytes, info.MemoryLimitBytes = m.total, m.limit
	return info
}

func treeOS(t tree) string {
	if t.exists("proc") {
		return "linux"
	}
	if t.live() {
		return runtime.GOOS
	}
	return ""
}

// treeArch names the architecture as Go does.
func treeArch(t tree, procs cpuinfo) string {
	if t.live() {
		return runtime.GOARCH
	}
	switch arch := t.text("proc/sys/kernel/arch"); arch { // since Linux 6.1
	case "":
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	default:
		return arch
	}
	switch {
	case procs.arm:
		return "arm64"
	case procs.flags["lm"]:
		return "amd64"
	}
	return ""
}

func sizes(sets []cpuSet) []int {
	var out []int
	for _, s := range sets {
		out = append(out, len(s))
	}
	return out
}

// classCores counts the physical cores of each class; nil where cores are unknown.
func classCores(top topology) []int {
	if len(top.cores) == 0 {
		return nil
	}
	var out []int
	for _, class := range top.classes {
		n := 0
		for _, core := range top.cores {
			if class.has(core[0]) {
				n++
			}
		}
		out = append(out, n)
	}
	return out
}

// bytesText writes a size in the largest unit that keeps it short.
func bytesText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
