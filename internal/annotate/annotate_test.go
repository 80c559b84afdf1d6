package annotate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

var cell = Cell{
	Target: "json/sonic", Mode: "thread", Threads: 16, Procs: 16,
	Gates: []string{"steal: 3% of the window"}, Notes: []string{"the GC costs 2.1 cores"},
}

// stack makes a call path from "leaf < … < root".
func stack(path string) *lanes.Stack {
	if path == "" {
		return nil
	}
	s := &lanes.Stack{}
	for i, name := range strings.Split(path, " < ") {
		s.Frames = append(s.Frames, lanes.Frame{Func: name, File: "/src/" + name + ".go", Line: 10 + i, PC: uint64(len(name)*100 + i)})
	}
	return s
}

// pprofOut runs go tool pprof on a written profile.
func pprofOut(t *testing.T, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"tool", "pprof"}, args...), path)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir(), "PPROF_BINARY_PATH=/nowhere")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go tool pprof %v: %v\n%s", args, err, errs.Bytes())
	}
	return out.String()
}

func write(t *testing.T, name string, p *profile.Profile) string {
	t.Helper()
	path, err := Write(t.TempDir(), name, p)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func want(t *testing.T, out string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !regexp.MustCompile("(?m)" + l).MatchString(out) {
			t.Errorf("no line matches %q in\n%s", l, out)
		}
	}
}

// recordedCPU is a CPU profile as Go writes it, with a JIT frame that has no
// mapping and a location without lines.
func recordedCPU() *profile.Profile {
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x800000, File: "/bin/prog", HasFunctions: true}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Mapping: []*profile.Mapping{m}, DurationNanos: 1e9, TimeNanos: 1,
	}
	loc := map[string]*profile.Location{}
	at := func(name string, mapping *profile.Mapping) *profile.Location {
		if l := loc[name]; l != nil {
			return l
		}
		l := &profile.Location{ID: uint64(len(p.Location) + 1), Address: uint64(0x400000 + 16*len(p.Location)), Mapping: mapping}
		if name != "" {
			fn := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: name + ".go"}
			p.Function = append(p.Function, fn)
			l.Line = []profile.Line{{Function: fn, Line: 7}}
		}
		p.Location = append(p.Location, l)
		loc[name] = l
		return l
	}
	add := func(n int64, label string, frames ...string) {
		s := &profile.Sample{Value: []int64{n, n * 10_000_000}}
		for _, f := range frames {
			mapping := m
			if f == "decode_" {
				mapping = nil
			}
			s.Location = append(s.Location, at(f, mapping))
		}
		if label != "" {
			s.Label = map[string][]string{"worker": {label}}
		}
		p.Sample = append(p.Sample, s)
	}
	add(60, "3", "decode_", "sonic.Decode", "main.work")
	add(25, "3", "gcWriteBarrier", "main.work")
	add(10, "", "runtime.gcDrain", "runtime.gcBgMarkWorker")
	add(5, "", "", "main.work")
	return p
}

func TestCPU(t *testing.T) {
	in := recordedCPU()
	before := in.String()
	p, err := CPU(cell, 1, []Source{{Profile: in, Process: -1, CPUNS: 1_500_000_001}})
	if err != nil {
		t.Fatal(err)
	}
	if in.String() != before {
		t.Error("the recorded profile was changed")
	}
	if got := total(p, 1); got != 1_500_000_001 {
		t.Errorf("CPU adds up to %d, want rusage's", got)
	}
	if got := total(p, 0); got != 100 {
		t.Errorf("%d samples, want 100", got)
	}
	path := write(t, FileName("cpu", cell), p)
	if filepath.Base(path) != "cpu.json-sonic.thread.t16.pb.gz" {
		t.Errorf("file %s", path)
	}
	want(t, pprofOut(t, path, "-top"), `Type: cpu`, `900ms 60\.00% .* decode_`, `of 1500ms total`)
	want(t, pprofOut(t, path, "-top", "-tagroot=cause", "-cum"), `gc/write-barrier`, `work/user`, `gc/mark`)
	want(t, pprofOut(t, path, "-top", "-tagfocus=threads=16"), `decode_`)
	want(t, pprofOut(t, path, "-top", "-tagfocus=cause=gc/"), `gcWriteBarrier`)
	want(t, pprofOut(t, path, "-comments"), `cell: json/sonic, thread mode, T=16, GOMAXPROCS=16`, `gate: steal`, `the GC costs 2.1 cores`)
	want(t, pprofOut(t, path, "-tags"), `cause: `, `threads: `, `worker: `)
	want(t, pprofOut(t, path, "-raw"), `cause:\[gc/write-barrier\]`, `threads:\[16\]`, `decode_`)
	if got := Headline(p); got != "work/user 65%, gc/write-barrier 25%, gc/mark 10%" {
		t.Errorf("headline %q", got)
	}
}

func TestProcesses(t *testing.T) {
	c := Cell{Target: "json/std", Mode: "process", Threads: 2, Arm: "gogc=400"}
	p, err := CPU(c, 2, []Source{
		{Profile: recordedCPU(), Process: 0, CPUNS: 1e9},
		{Profile: recordedCPU(), Process: 1, CPUNS: 2e9},
		{Profile: recordedCPU(), Process: 0, CPUNS: 3e9},
		{Profile: recordedCPU(), Process: 1, CPUNS: 4e9},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := total(p, 1); got != 5e9 {
		t.Errorf("two runs of 3 s and 7 s average to %d ns", got)
	}
	path := write(t, FileName("cpu", c), p)
	if filepath.Base(path) != "cpu.json-std.process.t2.gogc-400.pb.gz" {
		t.Errorf("file %s", path)
	}
	want(t, pprofOut(t, path, "-top", "-tagfocus=process=1"), `accounting for 3000ms`)
}

// TestRealProfiles annotates what this Go writes.
func TestRealProfiles(t *testing.T) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		t.Skip("another profile is running")
	}
	x := 0
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		x += rand.IntN(3)
	}
	pprof.StopCPUProfile()
	t.Log(x)
	p, err := profile.ParseData(cpu.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	out, err := CPU(cell, 1, []Source{{Profile: p, Process: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if total(out, 1) != total(p, 1) {
		t.Errorf("CPU time changed from %d to %d", total(p, 1), total(out, 1))
	}
	for _, kind := range []string{"mutex", "block"} {
		var b bytes.Buffer
		if err := pprof.Lookup(kind).WriteTo(&b, 0); err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		annotate := map[string]func(Cell, int, []Source) (*profile.Profile, error){"mutex": Mutex, "block": Block}[kind]
		out, err := annotate(cell, 1, []Source{{Profile: p, Process: -1}})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		want(t, pprofOut(t, write(t, FileName(kind, cell), out), "-comments"), "cell: json/sonic")
	}
}

func account() *lanes.Account {
	parts := []lanes.Part{
		{Cause: cause.WorkUser, State: lanes.OnCPU, Victim: stack("main.work < main.lane"), NS: 700_000_003},
		{Cause: cause.LockMutex, State: lanes.Waiting, Victim: stack("sync.(*Mutex).Lock < main.lane"), Culprit: stack("main.hold < main.lane"), NS: 200_000_001},
		{Cause: cause.LockMutex, State: lanes.Runnable, Victim: stack("sync.(*Mutex).Lock < main.lane"), Culprit: stack("main.hold < main.lane"), NS: 50_000_000},
		{Cause: cause.BalanceTail, State: lanes.Done, NS: 40_000_000},
		{Cause: cause.Unexplained, State: lanes.OnCPU, NS: 9_999_996},
	}
	a := &lanes.Account{WallNS: 500_000_000, Parts: parts}
	for _, p := range parts {
		a.SlotNS += p.NS
	}
	return a
}

func TestSlotsAndBlame(t *testing.T) {
	a := account()
	p, err := Slots(cell, 1, []*lanes.Account{a}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := total(p, 0); got != a.SlotNS {
		t.Errorf("slots add up to %d, want S = %d", got, a.SlotNS)
	}
	path := write(t, FileName("slots", cell), p)
	want(t, pprofOut(t, path, "-top"), `Type: slot_time`, `main\.work`, `\(balance/tail\)`, `100% of 1000ms total`)
	want(t, pprofOut(t, path, "-top", "-tagroot=state,cause"), `runnable`, `waiting`)
	want(t, pprofOut(t, path, "-top", "-tagfocus=state=runnable"), `sync\.\(\*Mutex\)\.Lock`)

	// Two runs at another total.
	p, err = Slots(cell, 2, []*lanes.Account{a, account()}, 1_234_567_891)
	if err != nil {
		t.Fatal(err)
	}
	if got := total(p, 0); got != 1_234_567_891 {
		t.Errorf("slots add up to %d, want the total given", got)
	}

	p, err = Blame(cell, 1, []*lanes.Account{a})
	if err != nil {
		t.Fatal(err)
	}
	if got := total(p, 0); got != 250_000_001 {
		t.Errorf("blame adds up to %d", got)
	}
	want(t, pprofOut(t, write(t, FileName("blame", cell), p), "-top", "-tagfocus=cause=lock/mutex"), `main\.hold`)
	if _, err := Slots(cell, 1, nil, 0); err == nil {
		t.Error("slots of nothing are a profile")
	}
	if _, err := Blame(cell, 1, []*lanes.Account{{Parts: []lanes.Part{{NS: 1}}}}); err == nil {
		t.Error("blame of nobody is a profile")
	}
}

func TestLoss(t *testing.T) {
	base, peak := account(), account()
	for i := range peak.Parts {
		peak.Parts[i].NS *= 2
	}
	// A path that shrank, one that only peak has, and one that is new with a contended line.
	base.Parts = append(base.Parts, lanes.Part{Cause: cause.GCAssist, Victim: stack("runtime.gcAssistAlloc < main.lane"), NS: 30_000_000})
	peak.Parts = append(peak.Parts,
		lanes.Part{Cause: cause.GCAssist, Victim: stack("runtime.gcAssistAlloc < main.lane"), NS: 10_000_000},
		lanes.Part{Cause: cause.GCSTW, State: lanes.Stopped, Victim: stack("main.work < main.lane"), NS: 5_000_000},
		lanes.Part{Cause: cause.WorkUser, Victim: stack("main.counter < main.lane"), NS: 400_000_000})
	line := stack("main.counter < main.lane").Frames[0].PC
	sum := func(a *lanes.Account) (s int64) {
		for _, p := range a.Parts {
			s += p.NS
		}
		return s
	}
	in := LossInput{
		Cell: cell, Base: 8, BaseRuns: 1, PeakRuns: 1, BaseParts: Victims([]*lanes.Account{base}), PeakParts: Victims([]*lanes.Account{peak}),
		WallPeakNS: 500_000_000, Headline: []string{"verdict: gc"},
	}
	p, err := Loss(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := total(p, 0), sum(peak)-sum(base); got != want {
		t.Errorf("excess adds up to %d, want the difference %d", got, want)
	}
	if total(p, 1) != sum(base) || total(p, 2) != sum(peak) {
		t.Errorf("base %d, peak %d; want %d, %d", total(p, 1), total(p, 2), sum(base), sum(peak))
	}
	if got, want := total(p, 3), (sum(peak)-sum(base))*1000/500_000_000; got < want-1 || got > want+1 {
		t.Errorf("%d milli cores lost, want %d", got, want)
	}

	// With rows: each cause adds up to its row, the moved one sits at its line.
	in.Rows = []Row{
		{cause.WorkUser, 700_000_000, 1_500_000_000},
		{cause.MemoryContendedLine, 0, 300_000_000},
		{cause.HardwareCeiling, 0, 90_000_001},
		{cause.LockMutex, 250_000_000, 500_000_007},
		{cause.BalanceTail, 40_000_000, 0},
		{cause.GCAssist, 30_000_000, 9_000_000},
		{cause.GCSTW, 0, 5_000_000},
		{cause.AllocPageFault, 0, 77_000_000}, // of which there is no path
		{cause.Unexplained, 10_000_000, -3},
	}
	in.Moved = []Moved{{Cause: cause.HardwareCeiling}, {Cause: cause.MemoryContendedLine, PCs: []uint64{line}}}
	p, err = Loss(in)
	if err != nil {
		t.Fatal(err)
	}
	base1, peak1 := map[cause.ID]int64{}, map[cause.ID]int64{}
	for _, s := range p.Sample {
		id := cause.ID(s.Label[LabelCause][0])
		base1[id] += s.Value[1]
		peak1[id] += s.Value[2]
		if s.Value[0] != s.Value[2]-s.Value[1] {
			t.Errorf("excess %d of base %d and peak %d", s.Value[0], s.Value[1], s.Value[2])
		}
		if id == cause.MemoryContendedLine && s.Location[0].Line[0].Function.Name != "main.counter" {
			t.Errorf("the contended line is in %s", s.Location[0].Line[0].Function.Name)
		}
	}
	for _, r := range in.Rows {
		if base1[r.Cause] != r.BaseNS || peak1[r.Cause] != r.PeakNS {
			t.Errorf("%s adds up to %d, %d; want its row %d, %d", r.Cause, base1[r.Cause], peak1[r.Cause], r.BaseNS, r.PeakNS)
		}
	}
	path := write(t, LossName(cell, 8), p)
	if filepath.Base(path) != "loss.json-sonic.thread.t8-t16.pb.gz" {
		t.Errorf("file %s", path)
	}
	want(t, pprofOut(t, path, "-top"), `Type: excess`, `main\.counter`)
	want(t, pprofOut(t, path, "-top", "-sample_index=cores_lost"), `milli`)
	want(t, pprofOut(t, path, "-top", "-tagroot=cause"), `work/user`)
	want(t, pprofOut(t, path, "-top", "-tagfocus=cause=gc/assist$"), `-0?\.?21?ms.*gcAssistAlloc|-21ms`)
	want(t, pprofOut(t, path, "-comments"), `from T=8 to T=16`, `verdict: gc`)
}

// TestLossOfProfiles is the same identity where there is no trace.
func TestLossOfProfiles(t *testing.T) {
	base := OnCPU([]Source{{Profile: recordedCPU(), Process: -1, CPUNS: 1_000_000_007}})
	peak := OnCPU([]Source{{Profile: recordedCPU(), Process: -1, CPUNS: 1_600_000_019}})
	p, err := Loss(LossInput{Cell: cell, Base: 8, BaseRuns: 1, PeakRuns: 1, BaseParts: base, PeakParts: peak, WallPeakNS: 1e8})
	if err != nil {
		t.Fatal(err)
	}
	if got := total(p, 0); got != 600_000_012 {
		t.Errorf("excess adds up to %d, want the difference of the CPU totals", got)
	}
	want(t, pprofOut(t, write(t, LossName(cell, 8), p), "-top"), `decode_`)
}

// TestLossAddsUp holds for any parts and rows.
func TestLossAddsUp(t *testing.T) {
	ids := []cause.ID{cause.WorkUser, cause.GCAssist, cause.LockMutex, cause.Unexplained, cause.BalanceTail}
	rapid.Check(t, func(rt *rapid.T) {
		parts := func(name string) []Weighted {
			return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Weighted {
				w := Weighted{Cause: rapid.SampledFrom(ids).Draw(rt, "cause"), NS: rapid.Int64Range(0, 1e12).Draw(rt, "ns")}
				if s := stack(rapid.SampledFrom([]string{"", "a < m", "b < m", "c < d < m"}).Draw(rt, "path")); s != nil {
					w.Frames = s.Frames
				}
				return w
			}), 1, 20).Draw(rt, name)
		}
		in := LossInput{Cell: cell, Base: 1, BaseRuns: rapid.IntRange(1, 3).Draw(rt, "runs"), PeakRuns: 1, BaseParts: parts("base"), PeakParts: parts("peak"), WallPeakNS: 1e9}
		var wantBase, wantPeak int64
		for _, id := range append([]cause.ID{cause.MemoryContendedLine, cause.HardwareCeiling}, ids...) {
			r := Row{id, rapid.Int64Range(-10, 1e12).Draw(rt, "row base"), rapid.Int64Range(-10, 1e12).Draw(rt, "row peak")}
			in.Rows = append(in.Rows, r)
			wantBase += r.BaseNS
			wantPeak += r.PeakNS
		}
		in.Moved = []Moved{{cause.MemoryContendedLine, []uint64{100, 101}}, {cause.HardwareCeiling, nil}}
		p, err := Loss(in)
		if err != nil {
			if wantBase == 0 && wantPeak == 0 {
				return
			}
			rt.Fatal(err)
		}
		got := map[cause.ID][2]int64{}
		for _, s := range p.Sample {
			id := cause.ID(s.Label[LabelCause][0])
			v := got[id]
			got[id] = [2]int64{v[0] + s.Value[1], v[1] + s.Value[2]}
		}
		for _, r := range in.Rows {
			if got[r.Cause] != [2]int64{r.BaseNS, r.PeakNS} {
				rt.Fatalf("%s adds up to %v, want its row %d, %d", r.Cause, got[r.Cause], r.BaseNS, r.PeakNS)
			}
		}
	})
}

func TestApportion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOf(rapid.Int64Range(0, 1<<50)).Draw(rt, "values")
		want := rapid.Int64Range(-1<<60, 1<<60).Draw(rt, "total")
		var in, out int64
		for _, v := range values {
			in += v
		}
		for _, v := range apportion(values, want) {
			out += v
		}
		if in != 0 && out != want || in == 0 && out != 0 {
			rt.Fatalf("adds up to %d, want %d", out, want)
		}
	})
}

func TestFileNames(t *testing.T) {
	seen := map[string]string{}
	for _, target := range []string{"json/sonic", "json-sonic!", "../../etc/passwd", "bench/example.com/p.BenchmarkX/n=1", "", ".", strings.Repeat("x", 500), strings.Repeat("x", 501), "ä", "ö"} {
		name := FileName("cpu", Cell{Target: target, Mode: "thread", Threads: 1})
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") || len(name) > 200 {
			t.Errorf("%q makes the file name %q", target, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q make the same file name %q", target, other, name)
		}
		seen[name] = target
	}
}

func TestWriteLeavesNoHalf(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(dir, "../x.pb.gz", recordedCPU()); err == nil {
		t.Error("a name with .. was written")
	}
	if _, err := Write(filepath.Join(dir, "missing"), "x.pb.gz", recordedCPU()); err == nil {
		t.Error("a missing directory was written to")
	}
	bad := recordedCPU()
	bad.Sample[0].Value = nil
	if _, err := Write(dir, "x.pb.gz", bad); err == nil {
		t.Error("an invalid profile was written")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := Write(dir, "x.pb.gz", recordedCPU()); err != nil {
		t.Error(err)
	}
}

func TestCommentsAreOneLine(t *testing.T) {
	c := cell
	c.Notes = []string{"two\nlines", strings.Repeat("ä", 10_000), "\xff\xfe"}
	p, err := CPU(c, 1, []Source{{Profile: recordedCPU(), Process: -1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Comments {
		if strings.ContainsAny(l, "\n\r") || len(l) > maxComment+4 {
			t.Errorf("comment %q", l)
		}
	}
}

// TestConfirmCommands runs the catalogue's commands on files as explain writes
// them: one of each shape, as they differ in the cause only.
func TestConfirmCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs pprof many times")
	}
	dir := t.TempDir()
	a := account()
	file := map[string]string{}
	keep := func(name string, p *profile.Profile, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		path, err := Write(dir, name+".pb.gz", p)
		if err != nil {
			t.Fatal(err)
		}
		file[name] = path
	}
	p, err := CPU(cell, 1, []Source{{Profile: recordedCPU(), Process: -1}})
	keep("cpu", p, err)
	p, err = Slots(cell, 1, []*lanes.Account{a}, 0)
	keep("slots", p, err)
	p, err = Blame(cell, 1, []*lanes.Account{a})
	keep("blame", p, err)
	p, err = Loss(LossInput{Cell: cell, Base: 8, BaseRuns: 1, PeakRuns: 1, BaseParts: Victims([]*lanes.Account{a})[:1], PeakParts: Victims([]*lanes.Account{a}), WallPeakNS: 1})
	keep("loss", p, err)
	ran := map[string]bool{}
	for _, e := range cause.All() {
		for _, c := range e.Commands(file) {
			args := strings.Fields(c)
			if args[0] != "go" || args[2] != "pprof" {
				continue
			}
			shape := strings.ReplaceAll(c, string(e.ID), "")
			if ran[shape] {
				continue
			}
			ran[shape] = true
			// The shell takes a dollar sign before a space as it is.
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil && !bytes.Contains(out, []byte("no matches found")) {
				t.Errorf("%s: %v\n%s", c, err, out)
			}
		}
	}
	if len(ran) < 8 {
		t.Errorf("only %d shapes of commands were tried", len(ran))
	}
}

func ExampleFileName() {
	fmt.Println(FileName("slots", Cell{Target: "lab/mutex", Mode: "thread", Threads: 4}))
	// Output: slots.lab-mutex.thread.t4.pb.gz
}
