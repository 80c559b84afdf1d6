package recorder

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// monotonic reads CLOCK_MONOTONIC, ns: one clock for all processes of a machine.
func monotonic() int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return ts.Nano()
}

func usage() *Usage {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return nil
	}
	return &Usage{
		UserNS: ru.Utime.Nano(), SysNS: ru.Stime.Nano(),
		MinFlt: int64(ru.Minflt), MajFlt: int64(ru.Majflt),
		NVCSw: int64(ru.Nvcsw), NIVCSw: int64(ru.Nivcsw),
		MaxRSS: int64(ru.Maxrss) << 10,
	}
}

// pinThread binds the calling thread to one CPU.
func pinThread(cpu int) error {
	if cpu < 0 || cpu >= 1<<16 {
		return fmt.Errorf("pinning to CPU %d: no such CPU", cpu)
	}
	const wordBits = 8 * int(unsafe.Sizeof(uintptr(0)))
	mask := make([]uintptr, cpu/wordBits+1)
	mask[cpu/wordBits] = 1 << uint(cpu%wordBits)
	size := uintptr(len(mask)) * unsafe.Sizeof(mask[0])
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&mask[0]))); errno != 0 {
		return fmt.Errorf("pinning to CPU %d: %w", cpu, errno)
	}
	return nil
}

// readThreads reads the schedstat of every thread by thread id, nil where the kernel has none.
func readThreads() map[int]Threads {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	all := make(map[int]Threads, len(names))
	var buf [128]byte
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if t, ok := readSchedstat("/proc/self/task/"+name+"/schedstat", buf[:]); ok {
			all[tid] = t
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// readSchedstat parses "run wait slices". A thread that has ended is no error.
// It goes past package os, whose files cost several times the read itself.
func readSchedstat(path string, buf []byte) (Threads, bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return Threads{}, false
	}
	n, err := syscall.Read(fd, buf)
	_ = syscall.Close(fd)
	if err != nil || n <= 0 {
		return Threads{}, false
	}
	var fields [3]int64
	i := 0
	for _, c := range buf[:n] {
		switch {
		case c >= '0' && c <= '9':
			fields[i] = fields[i]*10 + int64(c-'0')
		default:
			if i++; i == len(fields) {
				return Threads{RunNS: fields[0], WaitNS: fields[1], Slices: fields[2]}, true
			}
		}
	}
	return Threads{RunNS: fields[0], WaitNS: fields[1], Slices: fields[2]}, i == len(fields)-1
}

// inherited reports whether a descriptor is a pipe or socket, as only one
// passed on by the parent is, and readies it: not passed on any further, and
// read by the poller, so that who waits for it holds no P.
func inherited(fd int) bool {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return false
	}
	if kind := st.Mode & syscall.S_IFMT; kind != syscall.S_IFIFO && kind != syscall.S_IFSOCK {
		return false
	}
	syscall.CloseOnExec(fd)
	return syscall.SetNonblock(fd, true) == nil
}

// shareWords maps a file into memory, which all processes that do so share.
func shareWords(name string, n int) ([]uint32, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(4 * n)); err != nil {
		return nil, err
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&mem[0])), n)
	// Touched now: the first access must not be in the barrier.
	atomic.AddUint32(&words[0], 0)
	return words, nil
}

// withoutLine calls f and keeps one line that the runtime writes meanwhile off
// stderr. All else that is written there arrives, after f.
func withoutLine(line string, f func() error) error {
	var pipe [2]int
	if syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK) != nil {
		return f()
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	syscall.ForkLock.RLock()
	stderr, err := syscall.Dup(2)
	if err == nil {
		syscall.CloseOnExec(stderr)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return f()
	}
	defer syscall.Close(stderr)
	if syscall.Dup3(pipe[1], 2, 0) != nil {
		return f()
	}
	err = f()
	if e := syscall.Dup3(stderr, 2, 0); err == nil {
		err = e
	}
	buf := make([]byte, 64<<10) // all that a pipe holds
	if n, e := syscall.Read(pipe[0], buf); e == nil && n > 0 {
		_, _ = os.Stderr.WriteString(strings.Replace(string(buf[:n]), line, "", 1))
	}
	return err
}
