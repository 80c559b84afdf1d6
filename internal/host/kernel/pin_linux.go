package kernel

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// farCPUs are the first and the last CPU that this process may use: the farthest apart in the usual numbering,
// and no siblings of one core in any. Negative where unknown.
func farCPUs() (first, last int) {
	first, last = -1, -1
	var mask unix.CPUSet
	if unix.SchedGetaffinity(0, &mask) != nil {
		return first, last
	}
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			if first < 0 {
				first = cpu
			}
			last = cpu
		}
	}
	return first, last
}

// pin moves the goroutine's thread to a CPU and returns what undoes it. A thread whose mask cannot be restored stays
// locked, so that it ends with its goroutine.
func pin(cpu int) (undo func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if cpu < 0 || unix.SchedGetaffinity(0, &before) != nil {
		return runtime.UnlockOSThread
	}
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread()
		}
	}
}
