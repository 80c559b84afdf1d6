package imports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// addSeed books the figures of the scalability test.
func (f *facts) addSeed(name string, log *seedLog) {
	f.procsRule, f.clock = "cpus", "wall-with-startup"
	f.cpus = max(f.cpus, log.cpus)
	ops := int64(seedOpsPerCPU * log.cpus)
	var notes []string
	if ops > 0 {
		notes = append(notes, fmt.Sprintf("the log does not print its operations: %d for each of the %d CPUs, by the test's source", seedOpsPerCPU, log.cpus))
	}
	var short, long int64 = math.MaxInt64, 0
	processes := false
	for _, p := range log.points {
		target := "import/" + p.library
		f.addTarget(record.Target{Name: target, Ops: ops, Unit: "op", Notes: notes})
		f.observations = append(f.observations, observation{
			target: target, mode: p.mode, threads: p.threads, procs: log.cpus, wallNS: p.wallNS, ops: ops,
		})
		if p.mode == record.Process {
			processes, short, long = true, min(short, p.wallNS), max(long, p.wallNS)
		}
	}
	if processes {
		f.warn("start-up-in-clock", "%s: the clock of the process series covers process start, JIT compilation and exit, a visible part of runs of %.0f to %.0f ms", name, float64(short)/1e6, float64(long)/1e6)
	}
	f.warn("timings-only", "%s has wall times only: why the cores were lost cannot be told from it", name)
	if log.cpus == 0 {
		f.warn("cpus-unknown", "%s does not say how many CPUs the machine had, nor how many operations were done", name)
	}
}

// addBench books the results of go test -bench.
func (f *facts) addBench(name string, b *benchFile) error {
	for _, fact := range []struct {
		what, value string
		into        *string
	}{{"goos", b.goos, &f.goos}, {"goarch", b.goarch, &f.goarch}, {"cpu", b.cpu, &f.cpu}} {
		if *fact.into != "" && fact.value != "" && *fact.into != fact.value {
			return fmt.Errorf("%s: %s is %q, an earlier file says %q: one capture is of one machine", name, fact.what, fact.value, *fact.into)
		}
		if fact.value != "" {
			*fact.into = fact.value
		}
	}
	if f.procsRule == "" {
		f.procsRule = "threads"
	}
	var order []string
	groups := map[string][]benchPoint{}
	for _, p := range b.points {
		target := "import/" + strings.TrimPrefix(p.pkg+"."+p.name, ".")
		if groups[target] == nil {
			order = append(order, target)
		}
		groups[target] = append(groups[target], p)
	}
	single := true
	for _, target := range order {
		ops, err := constantWork(groups[target])
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, target, err)
		}
		f.addTarget(record.Target{Name: target, Ops: ops, Unit: "op", Notes: []string{
			fmt.Sprintf("wall time is ns/op times %d operations: go test ran as many as fitted its time, at each T another number", ops),
		}})
		for _, p := range groups[target] {
			single = single && p.threads == groups[target][0].threads
			f.observations = append(f.observations, observation{
				target: target, mode: record.Thread, threads: p.threads, procs: p.threads,
				wallNS: int64(math.Round(p.nsPerOp * float64(ops))), ops: ops,
			})
		}
	}
	for _, s := range b.skipped {
		f.warn("line-skipped", "%s", s)
	}
	f.warn("timings-only", "%s has times per operation only: why cores were lost cannot be told from it", name)
	if single {
		f.warn("one-threads", "%s has no benchmark at two values of T: run `go test -bench` with -cpu 1,2,4", name)
		return nil
	}
	f.warn("serial-benchmark", "%s does not say which benchmarks use RunParallel: one that does not gains nothing from more cores", name)
	f.warn("loop-cpu", "%s: with several values in -cpu, a benchmark that uses b.Loop runs its first value under the GOMAXPROCS of the last", name)
	return nil
}

// constantWork is the number of operations that all T are scaled to: what the
// lowest T ran, more where the shortest wall time would be below a
// millisecond, so that rounding to nanoseconds costs nothing.
func constantWork(points []benchPoint) (int64, error) {
	lowest := slices.MinFunc(points, func(a, b benchPoint) int { return a.threads - b.threads })
	fastest := slices.MinFunc(points, func(a, b benchPoint) int {
		switch {
		case a.nsPerOp < b.nsPerOp:
			return -1
		case a.nsPerOp > b.nsPerOp:
			return 1
		}
		return 0
	})
	const enough = 1e6 // ns
	ops := float64(lowest.iters)
	if wall := fastest.nsPerOp * ops; wall < enough {
		ops = math.Ceil(enough / fastest.nsPerOp)
	}
	for _, p := range points {
		if p.nsPerOp*ops > float64(maxWallNS) || ops > float64(maxWallNS) {
			return 0, fmt.Errorf("%d iterations of %v ns are no measurement", lowest.iters, p.nsPerOp)
		}
	}
	return int64(ops), nil
}

func (f *facts) addTarget(t record.Target) {
	if f.known[t.Name] {
		return
	}
	if f.known == nil {
		f.known = map[string]bool{}
	}
	f.known[t.Name] = true
	t.Kind = "import"
	f.targets = append(f.targets, t)
}

// placeProfiles gives the loose profiles a target: the named one, else the only
// one that the other sources have, else "import/program".
func (f *facts) placeProfiles(name string) error {
	if len(f.profiles) == 0 {
		if name != "" {
			return fmt.Errorf("a target name (%s) is given, but no profile or trace that it could be for", name)
		}
		return nil
	}
	target := "import/" + strings.TrimPrefix(name, "import/")
	switch {
	case name != "":
	case len(f.targets) == 1:
		target = f.targets[0].Name
	default:
		target = "import/program"
	}
	timed := f.known[target]
	f.addTarget(record.Target{Name: target})
	if !timed {
		f.warn("no-timings", "%s has profiles only: speed-up and efficiency need wall times at constant work", target)
	}
	for _, p := range f.profiles {
		f.observations = append(f.observations, observation{
			target: target, mode: record.Thread, threads: p.threads, procs: p.procs,
			kind: p.kind, path: p.path, gzipped: p.gzipped,
		})
	}
	return nil
}

// assemble lays the observations out as a capture.
func (f *facts) assemble(opts Options) (*Import, error) {
	m := &record.Manifest{
		Schema: record.Schema, Created: opts.Now, Command: opts.Command, Complete: true,
		Plan: record.Plan{
			Targets: f.targets, Arms: []string{record.Baseline},
			ProcsRule: f.procsRule, Clock: f.clock,
		},
		Host:      host.Info{OS: f.goos, Arch: f.goarch, CPU: f.cpu, CPUs: f.cpus, PhysicalCores: opts.PhysicalCores},
		Toolchain: record.Toolchain{Scaleprof: opts.Scaleprof},
		Warnings:  f.warnings,
	}
	if opts.CPUs > 0 {
		if f.cpus > 0 && f.cpus != opts.CPUs {
			return nil, fmt.Errorf("%d CPUs are given, but the log says %d", opts.CPUs, f.cpus)
		}
		m.Host.CPUs = opts.CPUs
	}
	if m.Host.PhysicalCores > 0 && m.Host.CPUs > 0 {
		if m.Host.PhysicalCores > m.Host.CPUs {
			return nil, fmt.Errorf("%d physical cores are more than the %d CPUs", m.Host.PhysicalCores, m.Host.CPUs)
		}
		if m.Host.CPUs%m.Host.PhysicalCores == 0 {
			m.Host.SMT = m.Host.CPUs / m.Host.PhysicalCores
		}
	}
	im := &Import{Manifest: m}
	b := builder{
		im: im, cells: map[cellKey]int{}, ids: map[string]int{},
		timed: map[int]int{}, profiled: map[int][]int{}, kinds: map[runKind]bool{},
	}
	for i := range f.observations {
		b.add(&f.observations[i])
	}
	m.Plan.Threads = slices.Compact(slices.Sorted(slices.Values(m.Plan.Threads)))
	for _, n := range b.timed {
		m.Plan.Blocks = max(m.Plan.Blocks, n)
	}
	return im, nil
}

type cellKey struct {
	target  string
	mode    record.Mode
	threads int
}

// builder turns observations into cells and runs.
type builder struct {
	im       *Import
	cells    map[cellKey]int  // index in the manifest
	ids      map[string]int   // how often an ID was wanted
	timed    map[int]int      // by cell: how many timed runs
	profiled map[int][]int    // by cell: its profiled runs
	kinds    map[runKind]bool // profiles that runs have
}

type runKind struct {
	run  int
	kind string
}

func (b *builder) add(o *observation) {
	m := b.im.Manifest
	key := cellKey{o.target, o.mode, o.threads}
	at, ok := b.cells[key]
	if !ok {
		at = len(m.Cells)
		b.cells[key] = at
		cell := record.Cell{Target: o.target, Mode: o.mode, Threads: o.threads, Procs: o.procs, Arm: record.Baseline}
		cell.ID = b.unique(record.CellID(o.target, o.mode, o.threads, ""))
		m.Cells = append(m.Cells, cell)
		m.Plan.Threads = append(m.Plan.Threads, o.threads)
		if !slices.Contains(m.Plan.Modes, o.mode) {
			m.Plan.Modes = append(m.Plan.Modes, o.mode)
		}
	}
	cell := &m.Cells[at]
	if cell.Procs == 0 {
		cell.Procs = o.procs
	}
	if o.kind == "" {
		b.run(cell.ID, record.Timed, b.timed[at]).WallNS = o.wallNS
		m.Runs[len(m.Runs)-1].Ops = o.ops
		b.timed[at]++
		return
	}
	run := b.profiledRun(at, o.kind)
	name := o.kind + ".pb.gz"
	switch o.kind {
	case "cpu":
		run.Profiles.CPU = true
	case "mutex":
		run.Profiles.Mutex = 1 // its values are scaled to all events, whatever the fraction was
	case "block":
		run.Profiles.Block = 1 // likewise
	case "wall":
		run.Profiles.Wall = true
	case "allocs":
		run.Profiles.Allocs = true
	case "trace":
		run.Profiles.Trace = true
		name = "trace.out"
	}
	b.im.Copies = append(b.im.Copies, Copy{Run: run.ID, Kind: o.kind, Name: name, Path: o.path, Gzip: o.kind != "trace" && !o.gzipped})
}

// profiledRun is the cell's first profiled run that has no file of the kind
// yet: several files of one kind and T are several runs.
func (b *builder) profiledRun(cell int, kind string) *record.Run {
	m := b.im.Manifest
	purpose := record.Profiled
	if kind == "wall" {
		purpose = record.Wall
	}
	block := 0
	for _, at := range b.profiled[cell] {
		run := &m.Runs[at]
		if run.Kind != purpose {
			continue
		}
		if taken := (runKind{run.ID, kind}); !b.kinds[taken] {
			b.kinds[taken] = true
			return run
		}
		block = run.Block + 1
	}
	run := b.run(m.Cells[cell].ID, purpose, block)
	run.Profiles = &recorder.Profiles{}
	b.kinds[runKind{run.ID, kind}] = true
	b.profiled[cell] = append(b.profiled[cell], len(m.Runs)-1)
	return run
}

func (b *builder) run(cell string, kind record.Kind, block int) *record.Run {
	m := b.im.Manifest
	id := len(m.Runs)
	m.Runs = append(m.Runs, record.Run{ID: id, Cell: cell, Kind: kind, Block: block, Seq: id, Started: m.Created})
	return &m.Runs[id]
}

// unique makes a cell's ID differ from those before it.
func (b *builder) unique(id string) string {
	b.ids[id]++
	if n := b.ids[id]; n > 1 {
		return b.unique(id + "-" + strconv.Itoa(n))
	}
	return id
}
