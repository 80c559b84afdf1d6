package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func events() []event {
	llMiss := uint64(unix.PERF_COUNT_HW_CACHE_LL | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 | unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16)
	return []event{
		{Instructions, true, true, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		{Cycles, true, true, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		{RefCycles, true, true, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_REF_CPU_CYCLES},
		// Not the generic cache-misses: on some CPUs that is the second level.
		{LLCMisses, true, true, unix.PERF_TYPE_HW_CACHE, llMiss},
		{PageFaults, false, true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS},
		// These happen inside the kernel: counting user code only, they would read 0.
		{ContextSwitches, false, false, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
		{Migrations, false, false, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_MIGRATIONS},
	}
}

type linux struct{}

func newSystem() system { return linux{} }

func (linux) threads(pid int) ([]int, error) {
	dir := "/proc/self/task"
	if pid != 0 {
		dir = fmt.Sprintf("/proc/%d/task", pid)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	tids := make([]int, 0, len(entries))
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}

// open tries what each event needs in turn: hardware counts of user code; software counts of
// everything, or of user code where that is enough and more is denied.
func (linux) open(ev event, tid int) (handle, error) {
	user := uint64(unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv)
	tries := []uint64{0}
	switch {
	case ev.hardware:
		tries = []uint64{user, unix.PerfBitExcludeKernel} // some PMUs know no hypervisor level
	case ev.userOnly:
		tries = []uint64{0, user}
	}
	var err error
	for _, bits := range tries {
		var fd int
		fd, err = perfOpen(ev, tid, bits)
		if err == nil {
			return perfHandle(fd), nil
		}
		if errors.Is(err, unix.ESRCH) {
			return nil, errGone
		}
	}
	return nil, explain(err)
}

func perfOpen(ev event, tid int, bits uint64) (int, error) {
	attr := unix.PerfEventAttr{
		Type: ev.typ, Config: ev.config,
		Bits:        unix.PerfBitInherit | bits,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	attr.Size = uint32(binary.Size(attr))
	for {
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// perfHandle is the descriptor of one event.
type perfHandle int

func (h perfHandle) read() (sample, error) {
	var buf [24]byte
	n, err := unix.Read(int(h), buf[:])
	if err != nil {
		return sample{}, err
	}
	if n != len(buf) {
		return sample{}, fmt.Errorf("short read of %d bytes", n)
	}
	u := func(i int) uint64 { return binary.NativeEndian.Uint64(buf[8*i:]) }
	return sample{value: u(0), enabled: u(1), running: u(2)}, nil
}

func (h perfHandle) Close() error { return unix.Close(int(h)) }

// explain turns the kernel's answer into what the user can do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level := "unknown"
		if text, readErr := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); readErr == nil {
			level = strings.TrimSpace(string(text))
		}
		if n, convErr := strconv.Atoi(level); convErr == nil && n <= 2 {
			return fmt.Errorf("%w: denied although kernel.perf_event_paranoid is %d: a container needs --cap-add PERFMON or a seccomp profile with perf_event_open", fs.ErrPermission, n)
		}
		return fmt.Errorf("%w: kernel.perf_event_paranoid is %s: sudo sysctl kernel.perf_event_paranoid=2", fs.ErrPermission, level)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%w: the CPU shows none (usual in a virtual machine)", ErrUnsupported)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: the kernel is built without perf events", ErrUnsupported)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("too many open files for one counter a thread: ulimit -n 4096: %w", err)
	}
	return err
}

// Probe reports why hardware counters cannot be opened on this thread, nil where they can.
func Probe() error {
	h, err := linux{}.open(events()[0], 0)
	if err != nil {
		return err
	}
	return h.Close()
}
