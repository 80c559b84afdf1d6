package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"scaleprof": main})
}

// TestScripts runs the commands as a user does. $SEED_LOG is the published log,
// $BUILDCACHE the go command's cache.
func TestScripts(t *testing.T) {
	seed, err := filepath.Abs(filepath.Join("..", "..", "testdata", "seed-testscalability.log"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SEED_LOG", seed)
			if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
				env.Setenv("BUILDCACHE", strings.TrimSpace(string(cache)))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"lossprofile": lossProfileCmd,
			"cpuprofile":  cpuProfileCmd,
			"exitcode":    exitCodeCmd,
		},
	})
}

// lossProfileCmd writes a small loss profile: `lossprofile FILE`.
func lossProfileCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lossprofile FILE")
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{
			{Type: "excess", Unit: "nanoseconds"}, {Type: "base", Unit: "nanoseconds"}, {Type: "peak", Unit: "nanoseconds"},
		},
		DefaultSampleType: "excess",
	}
	for i, s := range []struct {
		name, cause string
		base, peak  int64
	}{
		{"main.work", "work/user", 1000, 1200},
		{"gcWriteBarrier", "gc/write-barrier", 100, 2100},
		{"main.old", "work/user", 700, 300},
	} {
		fn := &profile.Function{ID: uint64(i + 1), Name: s.name}
		loc := &profile.Location{ID: fn.ID, Line: []profile.Line{{Function: fn}}}
		p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
		p.Sample = append(p.Sample, &profile.Sample{
			Location: []*profile.Location{loc}, Value: []int64{s.peak - s.base, s.base, s.peak},
			Label: map[string][]string{"cause": {s.cause}},
		})
	}
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	f, err := os.Create(file)
	ts.Check(err)
	ts.Check(p.Write(f))
	ts.Check(f.Close())
}

// exitCodeCmd runs scaleprof and checks its exit code: `exitcode 2 scaleprof …`.
// Its output can be matched with stdout and stderr.
func exitCodeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = exitCode(err)
	}
	if code != args[0] {
		ts.Fatalf("%v: exit code %s, want %s", args[1:], code, args[0])
	}
}

func exitCode(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err.Error()
	}
	return strconv.Itoa(exit.ExitCode())
}

// cpuProfileCmd writes a small CPU profile of another program: `cpuprofile FILE`.
func cpuProfileCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cpuprofile FILE")
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, DurationNanos: 1e9,
	}
	for i, s := range []struct {
		name  string
		count int64
	}{{"main.work", 60}, {"runtime.gcDrain", 40}} {
		fn := &profile.Function{ID: uint64(i + 1), Name: s.name}
		loc := &profile.Location{ID: fn.ID, Line: []profile.Line{{Function: fn}}}
		p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{loc}, Value: []int64{s.count, s.count * 1e7}})
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(p.Write(f))
	ts.Check(f.Close())
}
