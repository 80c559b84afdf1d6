package host

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func affinity() (cpuSet, bool) { return nil, false }

// readLive fills in what sysctl(3) tells on macOS; the rest stays unknown.
func readLive(info *Info) {
	info.EnvProcs = os.Getenv("GOMAXPROCS")
	info.CPUs, info.OnlineCPUs = runtime.NumCPU(), runtime.NumCPU()
	info.GoProcs, info.AutoProcs = info.CPUs, info.CPUs
	info.PerfWhy = "hardware counters are read on Linux only"
	number := func(name string) int {
		if n, err := unix.SysctlUint32(name); err == nil && n < maxCPU {
			return int(n)
		}
		return 0
	}
	if n := number("hw.physicalcpu"); n > 0 {
		info.PhysicalCores = n
		info.SMT = max(1, info.CPUs/n)
	}
	info.Sockets = number("hw.packages")
	if levels := number("hw.nperflevels"); levels > 1 {
		for _, level := range []string{"hw.perflevel0", "hw.perflevel1"} {
			if n := number(level + ".logicalcpu"); n > 0 {
				info.CoreClasses = append(info.CoreClasses, n)
				info.CoreClassCores = append(info.CoreClassCores, number(level+".physicalcpu"))
			}
		}
	}
	if s, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		info.CPU = s
	}
	if s, err := unix.Sysctl("kern.osrelease"); err == nil {
		info.Kernel = s
	}
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		info.MemoryBytes = clampInt64(n)
	}
	if n, err := unix.SysctlUint64("hw.l3cachesize"); err == nil && n > 0 {
		info.LLCBytes = clampInt64(n)
	}
	if n, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil {
		info.Virtual = n == 1
	}
}

// ProcessCPU is not known for other processes here.
func ProcessCPU(int) (int64, bool) { return 0, false }

// SelfCPU is this process's CPU time so far, in ns.
func SelfCPU() (int64, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return u.Utime.Nano() + u.Stime.Nano(), true
}
