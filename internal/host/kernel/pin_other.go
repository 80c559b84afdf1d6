//go:build !linux

package kernel

import "runtime"

func farCPUs() (first, last int) { return -1, -1 }

// pin only locks the goroutine to its thread: this platform does not place threads.
func pin(int) (undo func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
