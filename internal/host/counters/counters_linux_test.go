package counters

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// On the real kernel: page faults of threads that start after Open are counted.
func TestOpenSelf(t *testing.T) {
	c, err := Open(0)
	if err != nil {
		t.Skipf("no counters here: %v", err)
	}
	defer c.Close()
	if err := c.Begin(); err != nil {
		t.Fatal(err)
	}
	const pages = 512
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is new or dies with the goroutine
		mem, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err == nil {
			_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
			for i := 0; i < len(mem); i += os.Getpagesize() {
				mem[i] = 1
			}
			err = unix.Munmap(mem)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, err := c.End()
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := got[PageFaults]; ok && n < pages {
		t.Errorf("%v page faults, want at least %d", n, pages)
	}
	if n, ok := got[Instructions]; ok && n <= 0 {
		t.Errorf("instructions = %v", n)
	}
	if err := Probe(); err != nil && !errors.Is(err, ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("probe: %v", err)
	}
}

// The counters of another process see what it does between Begin and End.
func TestOpenOther(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no cat: %v", err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	time.Sleep(20 * time.Millisecond) // past its exec
	c, err := Open(cmd.Process.Pid)
	if err != nil {
		t.Skipf("no counters here: %v", err)
	}
	defer c.Close()
	if err := c.Begin(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := in.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	got, err := c.End()
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := got[ContextSwitches]; ok && n < 2 {
		t.Errorf("%v context switches while it woke 20 times", n)
	}
}

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		in   error
		is   error
		text string
	}{
		{unix.EACCES, fs.ErrPermission, "perf_event_paranoid"},
		{unix.EPERM, fs.ErrPermission, "perf_event_paranoid"},
		{unix.ENOENT, ErrUnsupported, "virtual machine"},
		{unix.ENOSYS, ErrUnsupported, "without perf"},
		{unix.EMFILE, unix.EMFILE, "ulimit"},
	} {
		got := explain(test.in)
		if !errors.Is(got, test.is) || !strings.Contains(got.Error(), test.text) {
			t.Errorf("explain(%v) = %v", test.in, got)
		}
	}
}
