package analyze

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/classify"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// loaded is a capture in memory: cells with their observations.
type loaded struct {
	manifest *record.Manifest
	cells    []*cell // in the manifest's order
	byID     map[string]*cell
	paths    pathTable
	ceiling  ceiling
	sums     map[string]string // of binaries, by path
	warned   map[string]bool   // what is said once
	warnings []report.Warning
}

// load reads a capture: the manifest's runs into cells, and the traces and CPU
// profiles of the profiled runs, several at a time. A file that cannot be read
// costs its run a warning and no more.
func load(ctx context.Context, src *record.Capture) (*loaded, error) {
	m := src.Manifest
	l := &loaded{manifest: m, byID: map[string]*cell{}, paths: pathTable{}, sums: map[string]string{}, warned: map[string]bool{}, ceiling: ceilingOf(m.Ceiling)}
	for _, w := range append(append([]record.Warning(nil), m.Warnings...), src.Warnings...) {
		l.warnings = append(l.warnings, report.Warning{ID: w.ID, Text: w.Text, Run: w.Run})
	}
	ops := map[string]int64{}
	for _, t := range m.Plan.Targets {
		ops[t.Name] = t.Ops
	}
	for _, c := range m.Cells {
		if c.Threads < 1 || l.byID[c.ID] != nil {
			l.warn(nil, "cell", fmt.Sprintf("cell %q is left out: T=%d, or named twice", c.ID, c.Threads))
			continue
		}
		cl := &cell{Cell: c, ops: ops[c.Target]}
		l.cells = append(l.cells, cl)
		l.byID[c.ID] = cl
	}
	blocks := 0
	for i := range m.Runs {
		if b := m.Runs[i].Block; b >= 0 && b < maxBlocks {
			blocks = max(blocks, b+1)
		}
	}
	for _, c := range l.cells {
		c.timed = make([]*record.Run, blocks)
		c.wall, c.cpu = nans(blocks), nans(blocks)
	}
	var jobs []*observation
	for i := range m.Runs {
		if o := l.book(&m.Runs[i]); o != nil {
			jobs = append(jobs, o)
		}
	}
	if err := l.observe(ctx, src, jobs); err != nil {
		return nil, err
	}
	for _, c := range l.cells {
		c.finish()
	}
	l.drift()
	return l, nil
}

// maxBlocks bounds what a manifest can make us allocate.
const maxBlocks = 100_000

func nans(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

func (l *loaded) warn(run *int, id, text string) {
	l.warnings = append(l.warnings, report.Warning{ID: id, Text: text, Run: run})
}

// book puts a run into its cell and returns it when it has profiles to read.
func (l *loaded) book(r *record.Run) *observation {
	id := r.ID
	c := l.byID[r.Cell]
	switch {
	case c == nil:
		l.warn(&id, "run", fmt.Sprintf("run %d is of no known cell", r.ID))
		return nil
	case r.Error != "":
		l.warn(&id, "run-failed", fmt.Sprintf("run %d of %s: %s", r.ID, r.Cell, firstLine(r.Error)))
		return nil
	case r.Block < 0 || r.Block >= len(c.timed):
		l.warn(&id, "run", fmt.Sprintf("run %d is of block %d", r.ID, r.Block))
		return nil
	}
	if r.Kind == record.Timed {
		if r.WallNS <= 0 {
			l.warn(&id, "run", fmt.Sprintf("run %d has no wall time", r.ID))
			return nil
		}
		// A later run of the same cell and block is a repeat of one whose gate
		// broke. It counts in its place unless it is worse.
		if old := c.timed[r.Block]; old == nil || len(r.Gates) <= len(old.Gates) {
			c.timed[r.Block] = r
			c.wall[r.Block] = float64(r.WallNS)
			c.cpu[r.Block] = cpuOf(r)
		}
		if c.ops == 0 {
			c.ops = r.Ops
		}
		return nil
	}
	o := &observation{run: r}
	c.profiled = append(c.profiled, o)
	c.profiledRuns = append(c.profiledRuns, r)
	return o
}

// finish orders the observations and drops those that nothing is known of.
func (c *cell) finish() {
	sort.SliceStable(c.profiled, func(i, j int) bool { return c.profiled[i].run.Block < c.profiled[j].run.Block })
	kept := c.profiled[:0]
	var wall []float64
	for _, o := range c.profiled {
		if o.run.Kind == record.Profiled && o.run.WallNS > 0 && o.run.Ops == c.ops {
			wall = append(wall, float64(o.run.WallNS))
		}
		if o.account != nil || len(o.onCPU) > 0 {
			kept = append(kept, o)
		}
	}
	c.profiled = kept
	c.profiledWall = wall
	c.perturbed = medianRatio(wall, c.wall)
}

// observe reads the runs' profiles on as many cores as there are.
func (l *loaded) observe(ctx context.Context, src *record.Capture, jobs []*observation) error {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex // over l.paths and l.warnings
		gate = make(chan struct{}, runtime.GOMAXPROCS(0))
		said = make([][]report.Warning, len(jobs))
	)
	for i, o := range jobs {
		if o.run.Kind != record.Profiled {
			continue
		}
		wg.Add(1)
		gate <- struct{}{}
		go func() {
			defer func() { <-gate; wg.Done() }()
			account, warnings := l.account(ctx, src, o.run)
			samples, more := readCPU(src, o.run)
			allocs, faults := readAllocs(src, o.run)
			mu.Lock()
			defer mu.Unlock()
			o.account, o.allocs = account, allocs
			for _, s := range samples {
				s.path = l.paths.names(s.names)
				o.onCPU = append(o.onCPU, s)
				o.samples += s.count
			}
			said[i] = append(append(warnings, more...), faults...)
		}()
	}
	wg.Wait()
	// In the runs' order, whichever was read first.
	for _, w := range said {
		l.warnings = append(l.warnings, w...)
	}
	return ctx.Err()
}

// readCPU classifies the samples of a run's CPU profiles.
func readCPU(src *record.Capture, r *record.Run) (samples []cpuSample, warnings []report.Warning) {
	for _, f := range r.Files {
		if f.Kind != "cpu" {
			continue
		}
		p, err := src.Profile(f)
		if err != nil {
			id := r.ID
			warnings = append(warnings, report.Warning{ID: "profile", Text: fmt.Sprintf("run %d: %v", r.ID, err), Run: &id})
			continue
		}
		at := cpuIndex(p)
		if at < 0 {
			continue
		}
		for _, s := range p.Sample {
			if at >= len(s.Value) || s.Value[at] <= 0 {
				continue
			}
			names := functionNames(s)
			samples = append(samples, cpuSample{
				cause: classify.Stack(len(names), func(i int) string { return names[i] }),
				names: names, ns: float64(s.Value[at]), count: count(p, s), background: inBackground(names),
			})
		}
	}
	return samples, warnings
}

// cpuIndex is the index of the sample type in nanoseconds, -1 if there is none.
func cpuIndex(p *profile.Profile) int {
	for i, t := range p.SampleType {
		if t.Type == "cpu" && t.Unit == "nanoseconds" {
			return i
		}
	}
	return -1
}

// count is how many samples of the profiler a sample of the file stands for.
func count(p *profile.Profile, s *profile.Sample) int {
	if p.SampleType[0].Unit == "count" && len(s.Value) > 0 {
		return int(max(0, s.Value[0]))
	}
	return 1
}

// functionNames are the names of a sample's frames, leaf first, inlined ones too.
func functionNames(s *profile.Sample) []string {
	var names []string
	for _, loc := range s.Location {
		if loc == nil {
			continue
		}
		for _, line := range loc.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
		if len(names) >= maxPathFrames {
			break
		}
	}
	return names
}

func inBackground(names []string) bool {
	for _, n := range names {
		switch n {
		case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.sysmon":
			return true
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func medianRatio(a, b []float64) float64 {
	return stats.Median(a) / stats.Median(b)
}
