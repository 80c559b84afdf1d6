//go:build unix && !linux

package recorder

import (
	"errors"
	"runtime"
	"syscall"
)

// monotonic says 0: see clock for what is used instead.
func monotonic() int64 { return 0 }

func usage() *Usage {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return nil
	}
	u := &Usage{
		UserNS: ru.Utime.Nano(), SysNS: ru.Stime.Nano(),
		MinFlt: int64(ru.Minflt), MajFlt: int64(ru.Majflt),
		NVCSw: int64(ru.Nvcsw), NIVCSw: int64(ru.Nivcsw),
		MaxRSS: int64(ru.Maxrss),
	}
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		u.MaxRSS <<= 10 // kilobytes elsewhere
	}
	return u
}

func pinThread(int) error { return errors.New("pinning: this system cannot bind a thread to a CPU") }

func readThreads() map[int]Threads { return nil }

func inherited(fd int) bool {
	syscall.CloseOnExec(fd)
	return syscall.SetNonblock(fd, true) == nil
}

func shareWords(string, int) ([]uint32, error) {
	return nil, errors.New("sharing memory: not on this system")
}

func withoutLine(_ string, f func() error) error { return f() }
