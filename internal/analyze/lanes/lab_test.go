package lanes_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/child"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/jsonlib"
	"github.com/scaleprof/scaleprof/internal/workload/lab"
)

// TestMain lets the test binary be the child process that runs a workload.
func TestMain(m *testing.M) {
	if recorder.IsChild() {
		if err := child.Run(workload.NewRegistry(slices.Concat(jsonlib.All(), lab.All(), programs())...)); err != nil {
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
	system *record.System
	trace  []byte
	path   string // of the trace, until the test ends
}

// runChild runs target with workers lanes and GOMAXPROCS procs for about wall.
func runChild(t testing.TB, target string, workers, procs int, ops int64, profiled bool) capture {
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
	var before int64
	in := bufio.NewScanner(control)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var m recorder.Message
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		switch m.Kind {
		case "ready":
			before = busy()
			gate.Close()
		case "done":
			if b := busy(); b > before {
				b -= before
				out.system = &record.System{BusyNS: &b}
			}
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
	if s := out.system; s != nil && out.result.Usage != nil {
		own := out.result.Usage.UserNS + out.result.Usage.SysNS
		s.OwnNS = &own
	}
	if profiled {
		out.path = filepath.Join(dir, "trace.out")
		if out.trace, err = os.ReadFile(out.path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// busy is the CPU time of all processes since boot, ns; 0 where the platform
// does not tell.
func busy() int64 {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var name string
	var user, nice, sys, idle, iowait, irq, soft int64
	if _, err := fmt.Sscan(string(data), &name, &user, &nice, &sys, &idle, &iowait, &irq, &soft); err != nil {
		return 0
	}
	return (user + nice + sys + irq + soft) * 10_000_000
}

// timed is how long f takes, ns.
func timed(f func()) int64 {
	begin := time.Now()
	f()
	return int64(time.Since(begin))
}
