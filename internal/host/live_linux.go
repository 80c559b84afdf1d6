package host

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/scaleprof/scaleprof/internal/host/counters"
)

// affinity asks the kernel which CPUs this process may use now; /proc/self/status of the main
// thread is the fallback on machines with more CPUs than the call's set holds.
func affinity() (cpuSet, bool) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, false
	}
	var set cpuSet
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			set = append(set, cpu)
		}
	}
	return set, len(set) > 0
}

// readLive adds what only the running machine can tell.
func readLive(info *Info) {
	info.EnvProcs = os.Getenv("GOMAXPROCS")
	if err := counters.Probe(); err != nil {
		info.PerfWhy = err.Error()
	} else {
		info.PerfCounters = true
	}
}

// ProcessCPU is the CPU time that a process has used so far, all its threads that ever ran,
// in ns. It reads the kernel's per-process CPU clock, exact to the scheduler's own accounting,
// so that its difference is comparable with SystemCounters.BusyNS. False where the process is gone.
func ProcessCPU(pid int) (int64, bool) {
	// The clock's number is made from the pid as clock_getcpuclockid(3) does: CPUCLOCK_SCHED of a process.
	const sched = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}

// SelfCPU is ProcessCPU of this process.
func SelfCPU() (int64, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
