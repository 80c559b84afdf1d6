package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/record"
)

// small is a capture of some ten short runs.
func small(dir string) []string {
	return []string{
		"capture", "--workload", "lab/compute", "--threads", "1,2", "--mode", "process", "--ops", "300",
		"--blocks", "2", "--profiles", "none", "--arms", "none", "--seed", "11", "-o", dir,
	}
}

// orders lists what a capture ran, in order.
func orders(t *testing.T, dir string) []string {
	t.Helper()
	c, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !c.Manifest.Complete {
		t.Error("the capture is not complete")
	}
	var all []string
	for _, r := range c.Manifest.Runs {
		if r.Rerun {
			continue // whether the machine was disturbed is not ours to say
		}
		all = append(all, fmt.Sprint(r.Block, " ", r.Cell, " ", r.Kind))
	}
	return all
}

// TestKilledCaptureResumes kills captures at random instants, by SIGKILL: what
// is there must load, the children must be gone, and resuming must lead to the
// very runs that an undisturbed capture makes.
func TestKilledCaptureResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several captures")
	}
	exe, err := exec.LookPath("scaleprof")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	whole := filepath.Join(tmp, "whole")
	begin := time.Now()
	if out, err := exec.Command(exe, small(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(begin)
	want := orders(t, whole)

	for i := range 2 {
		dir := filepath.Join(tmp, fmt.Sprint("killed", i))
		cmd := exec.Command(exe, small(dir)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rand.Int64N(int64(took)))
		time.Sleep(after)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		noChildren(t, exe)
		c, err := record.Load(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // killed before there was a capture
		}
		if err != nil {
			t.Errorf("killed after %s, the capture does not load: %v", after, err)
			continue
		}
		made := len(c.Manifest.Runs)
		_ = c.Close()
		if out, err := exec.Command(exe, "capture", "--resume", dir).CombinedOutput(); err != nil {
			t.Errorf("killed after %s with %d runs, it does not resume: %v\n%s", after, made, err, out)
			continue
		}
		if got := orders(t, dir); !slices.Equal(got, want) {
			t.Errorf("killed after %s with %d runs, resuming made\n%v\ninstead of\n%v", after, made, got, want)
		}
	}
}

// noChildren waits until no process of a capture is left.
func noChildren(t *testing.T, exe string) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return
	}
	left := 0
	for range 200 {
		left = 0
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range all {
			line, err := os.ReadFile(name)
			if err == nil && bytes.HasPrefix(line, []byte(exe+"\x00"+capture.SelfCommand)) {
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d processes of a killed capture still run", left)
}

// TestInterruptedCaptureSaysHowToGoOn sends what Ctrl-C sends.
func TestInterruptedCaptureSaysHowToGoOn(t *testing.T) {
	exe, err := exec.LookPath("scaleprof")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "c")
	args := small(dir)
	args[slices.Index(args, "--blocks")+1] = "500"
	cmd := exec.Command(exe, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if c, err := record.Load(dir); err == nil {
			n := len(c.Manifest.Runs)
			_ = c.Close()
			if n >= 2 {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
		t.Errorf("ended with %v, want exit code 1", err)
	}
	for _, want := range []string{"interrupted after ", "scaleprof capture --resume " + dir} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr does not say %q:\n%s", want, stderr.String())
		}
	}
	noChildren(t, exe)
	c, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Manifest.Complete || len(c.Manifest.Runs) < 2 {
		t.Errorf("complete=%v with %d runs", c.Manifest.Complete, len(c.Manifest.Runs))
	}
	for _, r := range c.Manifest.Runs {
		if r.Error != "" {
			t.Errorf("run %d has error %q: what was interrupted is no run", r.ID, r.Error)
		}
	}
}
