package lanes_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/child"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/lab"
)

// TestMain lets the test binary be the child process that runs a workload.
func TestMain(m *testing.M) {
	if recorder.IsChild() {
		if err := child.Run(workload.NewRegistry(append(lab.All(), programs()...)...)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// capture is one recorded run of a workload in a process of its own.
type capture struct {
	result *recorder.Result
	trace  []byte
}

// record runs target with workers lanes and GOMAXPROCS procs for about wall.
func record(t testing.TB, target string, workers, procs int, ops int64, profiled bool) capture {
	t.Helper()
	dir := t.TempDir()
	spec := recorder.Spec{
		Target: target, Workers: workers, Threads: workers, Procs: procs, Hi: ops, Total: ops, Warm: min(int64(workers)*8, ops), Dir: dir, Seed: 1,
	}
	if profiled {
		spec.Profile = recorder.Profiles{CPU: true, Trace: true}
	}
	path := filepath.Join(dir, "spec.json")
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	control, controlW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	gateR, gate, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	finishR, finish, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recorder.SpecEnv+"="+path)
	if procs > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", procs))
	}
	cmd.ExtraFiles = []*os.File{controlW, gateR, finishR}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	watchdog := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	out := capture{}
	in := bufio.NewScanner(control)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var m recorder.Message
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		switch m.Kind {
		case "ready":
			gate.Close()
		case "done":
			finish.Close()
		case "error":
			t.Fatalf("%s: %s", target, m.Error)
		case "result":
			out.result = m.Result
		}
	}
	gate.Close()
	finish.Close()
	control.Close()
	if err := cmd.Wait(); err != nil || out.result == nil {
		t.Fatalf("%s: %v\n%s", target, err, stderr.Bytes())
	}
	if profiled {
		if out.trace, err = os.ReadFile(filepath.Join(dir, "trace.out")); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
