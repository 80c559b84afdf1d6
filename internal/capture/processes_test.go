package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// misbehaveEnv makes the test binary a child process that does what it names.
const misbehaveEnv = "SCALEPROF_TEST_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(misbehaveEnv); how != "" {
		if err := childMain(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// childMain speaks the protocol, and goes wrong where how says.
func childMain(how string) error {
	c, err := recorder.OpenChild()
	if err != nil {
		return err
	}
	s := c.Spec
	second := s.Process == 1
	switch how {
	case "fail":
		return c.Fail(errors.New("no such document"))
	case "crash-early":
		panic("boom in the warm-up")
	case "garbage":
		_, _ = os.NewFile(recorder.ControlFD, "c").WriteString("hello\n")
		time.Sleep(time.Minute)
	case "loud":
		for range 4000 {
			fmt.Println(strings.Repeat("la", 500))
		}
		fmt.Println("the end")
	case "hang-early":
		time.Sleep(time.Minute)
	case "descendant":
		// It keeps stdout and the control pipe open long after its parent.
		cmd := exec.Command("sleep", "60")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		control, err := syscall.Dup(recorder.ControlFD)
		if err != nil {
			return err
		}
		cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(control), "c")}
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
			return err
		}
	}
	rec := recorder.New(recorder.Options{Dir: s.Dir, Suffix: c.Suffix(), Profiles: s.Profile})
	if err := rec.Arm(); err != nil {
		return err
	}
	lanes, err := rec.Run(s.Workers, nil, c.Ready, func(w int) (int64, uint64) {
		switch {
		case how == "crash" && (second || s.Threads == s.Workers):
			go func() { panic("boom in the window") }()
			time.Sleep(time.Minute)
		case how == "kill" && (second || s.Threads == s.Workers):
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case how == "hang" && (second || s.Threads == s.Workers):
			time.Sleep(time.Minute)
		}
		if how == "burn" {
			burn(50 * time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		if w == 0 {
			return s.Hi - s.Lo, 1
		}
		return 0, 1
	})
	if err != nil {
		return c.Fail(err)
	}
	if err := c.Done(); err != nil {
		return err
	}
	res, err := rec.Finish()
	if err != nil {
		return c.Fail(err)
	}
	res.Lanes = lanes
	for _, l := range lanes {
		res.Ops += l.Ops
		res.Checksum += l.Checksum
	}
	if how == "no-result" {
		return nil
	}
	if err := c.Result(res); err != nil {
		return err
	}
	if how == "crash-late" {
		os.Exit(7)
	}
	return nil
}

// burn uses so much CPU time.
func burn(d time.Duration) {
	cpu := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano())
	}
	for begin := cpu(); cpu()-begin < d; {
	}
}

// testLauncher starts the test binary as such a child.
type testLauncher struct{ how string }

func (l testLauncher) Command(*Job, *recorder.Spec) (Command, error) {
	exe, err := os.Executable()
	return Command{Path: exe, Env: []string{misbehaveEnv + "=" + l.how}}, err
}

func testJob(t *testing.T, mode record.Mode, threads int) (*Job, *window) {
	w := &window{m: newRealMachine()}
	return &Job{
		Target: record.Target{Name: "test"}, Kind: record.Timed, Ops: 1001, Warm: 10,
		Cell:  record.Cell{ID: "test", Mode: mode, Threads: threads, Procs: 2},
		Clock: ClockWall, Dir: t.TempDir(), Timeout: 20 * time.Second, Window: w,
	}, w
}

func TestRealRun(t *testing.T) {
	t.Parallel()
	for _, mode := range []record.Mode{record.Thread, record.Process} {
		for _, clock := range []Clock{ClockWall, ClockStartup} {
			t.Run(string(mode)+"-"+string(clock), func(t *testing.T) {
				job, w := testJob(t, mode, 3)
				job.Clock = clock
				out, err := (&Processes{Launcher: testLauncher{"well"}}).Execute(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				if mode == record.Process {
					want = 3
				}
				if len(out.Processes) != want {
					t.Errorf("%d processes, want %d", len(out.Processes), want)
				}
				if out.Ops != 1001 {
					t.Errorf("%d operations, want all 1001", out.Ops)
				}
				if out.WallNS < int64(10*time.Millisecond) {
					t.Errorf("wall %s, want at least the 10 ms of work", time.Duration(out.WallNS))
				}
				if !w.closed {
					t.Error("the window was not closed")
				}
				entries, err := os.ReadDir(job.Dir)
				if err != nil || len(entries) != 0 {
					t.Errorf("a timed run left %v in its directory (%v)", entries, err)
				}
			})
		}
	}
}

func TestMisbehavingChild(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		how  string
		mode record.Mode
		want string
	}{
		{"fail", record.Thread, "no such document"},
		{"crash-early", record.Thread, "crashed with exit code 2: panic: boom in the warm-up"},
		{"crash", record.Thread, "the process crashed with exit code 2: panic: boom in the window"},
		{"crash", record.Process, "process 1 of 3 crashed with exit code 2: panic: boom in the window"},
		{"kill", record.Process, "process 1 of 3 was killed by signal 9, which scaleprof did not send: most likely it used too much memory"},
		{"no-result", record.Thread, "the process ended without a result"},
		{"crash-late", record.Thread, "crashed with exit code 7"},
		{"garbage", record.Thread, "does not speak the protocol"},
	} {
		t.Run(test.how+"-"+string(test.mode), func(t *testing.T) {
			job, _ := testJob(t, test.mode, 3)
			_, err := (&Processes{Launcher: testLauncher{test.how}}).Execute(t.Context(), job)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is more than one line", err)
			}
		})
	}
}

func TestHangIsKilled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		how, want string
		mode      record.Mode
	}{
		{"hang-early", "hung: after 1.5s the process was still warming up; it was killed", record.Thread},
		{"hang", "hung: after 1.5s 1 of 3 processes was still working; all were killed", record.Process},
	} {
		t.Run(test.how, func(t *testing.T) {
			job, _ := testJob(t, test.mode, 3)
			job.Timeout = 1500 * time.Millisecond
			_, err := (&Processes{Launcher: testLauncher{test.how}}).Execute(t.Context(), job)
			if err == nil || err.Error() != test.want {
				t.Fatalf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestInterruptEndsChildren(t *testing.T) {
	t.Parallel()
	job, _ := testJob(t, record.Process, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := (&Processes{Launcher: testLauncher{"hang"}}).Execute(ctx, job)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want the context's", err)
	}
}

func TestDescendantDoesNotBlock(t *testing.T) {
	t.Parallel()
	job, _ := testJob(t, record.Thread, 1)
	begin := time.Now()
	_, err := (&Processes{Launcher: testLauncher{"descendant"}}).Execute(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("a descendant that keeps stdout open held the run up for %s", took)
	}
	text, err := os.ReadFile(filepath.Join(job.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	// It was killed with its group; somebody else reaps it.
	for range 200 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		t.Errorf("the descendant %d still runs", pid)
	}
}

func TestLoudChildIsBounded(t *testing.T) {
	t.Parallel()
	job, _ := testJob(t, record.Process, 2)
	if _, err := (&Processes{Launcher: testLauncher{"loud"}}).Execute(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(job.Dir, stderrName))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxStderr || !strings.Contains(string(text), "bytes left out") || !strings.HasSuffix(string(text), "the end\n") {
		t.Errorf("%d bytes kept, ending in %q", len(text), text[max(0, len(text)-60):])
	}
}

func TestSharesOfProcesses(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 7, 16} {
		job := &Job{Ops: 1001, Warm: 5, Cell: record.Cell{Mode: record.Process, Threads: threads}}
		at := int64(0)
		for i := range threads {
			s := newSpec(job, i)
			if s.Lo != at || s.Hi-s.Lo < 1001/int64(threads) || s.Hi-s.Lo > 1001/int64(threads)+1 {
				t.Errorf("T=%d: process %d does [%d, %d)", threads, i, s.Lo, s.Hi)
			}
			if s.Workers != 1 || s.Warm < 1 {
				t.Errorf("T=%d: process %d has %d workers and %d warm-up operations", threads, i, s.Workers, s.Warm)
			}
			at = s.Hi
		}
		if at != 1001 {
			t.Errorf("T=%d: shares end at %d", threads, at)
		}
	}
}
