//go:build !linux && !darwin

package host

import (
	"os"
	"runtime"
)

func affinity() (cpuSet, bool) { return nil, false }

// readLive knows here only what Go itself does.
func readLive(info *Info) {
	info.EnvProcs = os.Getenv("GOMAXPROCS")
	info.CPUs = runtime.NumCPU()
	info.GoProcs, info.AutoProcs = info.CPUs, info.CPUs
	info.PerfWhy = "hardware counters are read on Linux only"
}

// ProcessCPU is not known here.
func ProcessCPU(int) (int64, bool) { return 0, false }

// SelfCPU is not known here.
func SelfCPU() (int64, bool) { return 0, false }
