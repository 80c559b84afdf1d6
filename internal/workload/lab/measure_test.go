package lab

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// The lab is tuned with
//
//	go test -c -o lab.test ./internal/workload/lab
//	./lab.test -test.run Measure -lab.measure 'mutex' -lab.reps 3
//
// which runs each matching form at T=1 and T=2 in fresh processes, in turn,
// and prints the efficiencies. No test asserts on them.
var (
	flagMeasure = flag.String("lab.measure", "", "measure the workloads whose name matches")
	flagReps    = flag.Int("lab.reps", 3, "observations of each cell")
	flagWindow  = flag.Duration("lab.window", 500*time.Millisecond, "aimed length of the window at T=2")
	flagProcs   = flag.String("lab.procs", "", "GOMAXPROCS: empty as the workload asks, cpus, threads, or a number")
	flagT       = flag.String("lab.threads", "1,2", "T values, the first is the base")
	flagGOGC    = flag.String("lab.gogc", "", "GOGC of the child")
	flagParams  = flag.String("lab.params", "", "parameters of the workload, name=value,...")
	flagProfile = flag.String("lab.cpuprofile", "", "prefix of a CPU profile of each cell")
	flagProcess = flag.Bool("lab.process", false, "T processes instead of T goroutines")
	flagChild   = flag.String("lab.child", "", "internal")
)

// cell is one run as the child gets it.
type cell struct {
	Name    string
	Workers int
	Procs   int
	Lo, Hi  int64
	Total   int64
	Values  map[string]string
	Profile string
}

// seen is what a child saw in its window.
type seen struct {
	WallNS, UserNS, SysNS int64
	MinFlt                int64
	ForeignNS, StealNS    int64 // other processes' CPU, the hypervisor's; 0 where unknown
	Cycles                uint32
	Ops                   int64
	Sum                   uint64
}

func TestMeasure(t *testing.T) {
	if *flagChild != "" {
		child(t)
		return
	}
	if *flagMeasure == "" {
		t.Skip("measures only when asked: -lab.measure REGEXP")
	}
	want := regexp.MustCompile(*flagMeasure)
	for _, w := range measured() {
		if want.MatchString(w.Info().Name) {
			measure(t, w.Info())
		}
	}
}

func threads(t *testing.T, info workload.Info) (base, peak int) {
	first, second, _ := strings.Cut(*flagT, ",")
	base, err1 := strconv.Atoi(first)
	peak, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil {
		t.Fatalf("bad -lab.threads %q", *flagT)
	}
	if info.OverCPUs {
		return runtime.NumCPU(), 2 * runtime.NumCPU()
	}
	return base, peak
}

func procs(info workload.Info, workers int) int {
	switch *flagProcs {
	case "":
		if info.ProcsThreads {
			return workers
		}
		return runtime.NumCPU()
	case "cpus":
		return runtime.NumCPU()
	case "threads":
		return workers
	}
	n, _ := strconv.Atoi(*flagProcs)
	return n
}

func measure(t *testing.T, info workload.Info) {
	base, peak := threads(t, info)
	values := map[string]string{}
	for pair := range strings.SplitSeq(*flagParams, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			values[name] = value
		}
	}
	ops := flagWindow.Nanoseconds() * 2 / info.OpNS
	run := func(T int) seen {
		c := cell{Name: info.Name, Workers: T, Procs: procs(info, T), Hi: ops, Total: ops, Values: values}
		if *flagProfile != "" {
			c.Profile = fmt.Sprintf("%s%s.t%d.pb.gz", *flagProfile, strings.ReplaceAll(info.Name, "/", "-"), T)
		}
		if *flagProcess {
			return runProcesses(t, c, T)
		}
		// Another program on the machine makes an observation worthless.
		s := run(t, c)
		for retry := 0; s.ForeignNS > s.WallNS/20 && retry < 8; retry++ {
			s = run(t, c)
		}
		return s
	}
	var e, cpu []float64
	var b, p seen
	for range *flagReps {
		b, p = run(base), run(peak)
		if b.Ops != p.Ops || b.Sum != p.Sum {
			t.Errorf("%s: work changed: %d ops, sum %x at %d; %d, %x at %d", info.Name, b.Ops, b.Sum, base, p.Ops, p.Sum, peak)
		}
		e = append(e, float64(base)*float64(b.WallNS)/float64(peak)/float64(p.WallNS))
		cpu = append(cpu, float64(p.UserNS+p.SysNS)/float64(b.UserNS+b.SysNS))
	}
	var es strings.Builder
	slices.Sort(e)
	for _, v := range e {
		fmt.Fprintf(&es, " %.2f", v)
	}
	fmt.Printf("%-30s E %-20s ns/op %6d  wall %4d %4d ms  cpu x%.2f  user %4d %4d  sys %3d %4d  flt %6d %6d  gc %4d %4d  foreign %d %d steal %d %d\n",
		info.Name, es.String(), b.WallNS*int64(base)/b.Ops, b.WallNS/1e6, p.WallNS/1e6, cpu[len(cpu)/2],
		b.UserNS/1e6, p.UserNS/1e6, b.SysNS/1e6, p.SysNS/1e6, b.MinFlt, p.MinFlt, b.Cycles, p.Cycles,
		b.ForeignNS/1e6, p.ForeignNS/1e6, b.StealNS/1e6, p.StealNS/1e6)
}

func runProcesses(t *testing.T, c cell, T int) seen {
	all := make([]seen, T)
	var done sync.WaitGroup
	for k := range T {
		c := c
		c.Workers, c.Procs = 1, 1
		c.Lo, c.Hi = c.Total*int64(k)/int64(T), c.Total*int64(k+1)/int64(T)
		done.Go(func() { all[k] = run(t, c) })
	}
	done.Wait()
	sum := seen{}
	for _, s := range all {
		sum.WallNS = max(sum.WallNS, s.WallNS)
		sum.UserNS += s.UserNS
		sum.SysNS += s.SysNS
		sum.MinFlt += s.MinFlt
		sum.Cycles += s.Cycles
		sum.Ops += s.Ops
		sum.Sum += s.Sum
	}
	return sum
}

func run(t *testing.T, c cell) seen {
	spec, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestMeasure$", "-lab.child", string(spec))
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(c.Procs))
	if *flagGOGC != "" {
		cmd.Env = append(cmd.Env, "GOGC="+*flagGOGC)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Name, err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	var s seen
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatalf("%s: %v\n%s", c.Name, err, out)
	}
	return s
}

func child(t *testing.T) {
	var c cell
	if err := json.Unmarshal([]byte(*flagChild), &c); err != nil {
		t.Fatal(err)
	}
	w, err := workload.NewRegistry(measured()...).Lookup(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.Prepare(workload.Params{Workers: c.Workers, Ops: c.Hi - c.Lo, Total: c.Total, Values: c.Values})
	if err != nil {
		t.Fatal(err)
	}
	warmUp(in, c.Workers, c.Lo, c.Hi, (c.Hi-c.Lo)/20)
	runtime.GC()
	if c.Profile != "" {
		f, err := os.Create(c.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			t.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	u0 := usage()
	busy0, steal0 := machine()
	begin := time.Now()
	tally := phase(in, c.Workers, c.Lo, c.Hi)
	wall := time.Since(begin)
	u1 := usage()
	busy1, steal1 := machine()
	runtime.ReadMemStats(&m1)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(seen{
		WallNS: wall.Nanoseconds(), UserNS: u1[0] - u0[0], SysNS: u1[1] - u0[1], MinFlt: u1[2] - u0[2],
		ForeignNS: busy1 - busy0 - (u1[0] - u0[0]) - (u1[1] - u0[1]), StealNS: steal1 - steal0,
		Cycles: m1.NumGC - m0.NumGC, Ops: tally.Ops, Sum: tally.Sum,
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s\n", line)
}

// machine returns the CPU time that all processes took and that the hypervisor
// took, in ns since boot, from /proc/stat; 0 where there is none.
func machine() (busy, steal int64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	const tick = 10_000_000
	for k, field := range strings.Fields(line) {
		n, _ := strconv.ParseInt(field, 10, 64)
		switch k {
		case 1, 2, 3, 6, 7:
			busy += n * tick
		case 8:
			steal += n * tick
		}
	}
	return busy, steal
}

// phase runs all workers over [lo, hi) as the harness does.
func phase(in workload.Instance, workers int, lo, hi int64) workload.Tally {
	return shared(in, workers, lo, hi, hi-lo)
}

// warmUp runs the first n operations, as the harness does: each worker the first
// ones of its own share of [lo, hi), so that their ranges do not touch.
func warmUp(in workload.Instance, workers int, lo, hi, n int64) workload.Tally {
	return shared(in, workers, lo, hi, n)
}

func shared(in workload.Instance, workers int, lo, hi, n int64) workload.Tally {
	tallies := make([]padded[workload.Tally], workers)
	all, first := span{lo, hi}, span{0, n}
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			s := all.part(int64(w), int64(workers))
			tallies[w].value = in.Work(w, s.lo, s.lo+first.part(int64(w), int64(workers)).len())
		})
	}
	done.Wait()
	var sum workload.Tally
	for w := range tallies {
		sum.Ops += tallies[w].value.Ops
		sum.Sum += tallies[w].value.Sum
	}
	return sum
}
