package analyze

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/analyze/memory"
	"github.com/scaleprof/scaleprof/internal/annotate"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// outputs writes the annotated profiles of a capture.
type outputs struct {
	l   *loaded
	src *record.Capture
	r   *report.Report
	dir string
}

// annotate writes the annotated profiles of the baseline cells and of each
// compared pair below dir, and lists them in the report. What cannot be written
// is a warning: the report does not depend on it.
func (l *loaded) annotate(ctx context.Context, src *record.Capture, r *report.Report, pairs []*explained, dir string) {
	if err := makeDir(dir); err != nil {
		l.warn(nil, "annotate", err.Error())
		return
	}
	o := &outputs{l: l, src: src, r: r, dir: dir}
	for _, c := range l.cells {
		if ctx.Err() != nil {
			return
		}
		if c.Arm == record.Baseline {
			o.cell(c)
		}
	}
	for _, e := range pairs {
		o.loss(e)
	}
}

// explained is a comparison with what it was made of.
type explained struct {
	c        *report.Comparison
	p        *pair
	division *memory.Result
}

func (o *outputs) keep(kind, name string, p *profile.Profile, err error, open string) {
	if err != nil {
		o.l.warn(nil, "annotate", fmt.Sprintf("%s is not written: %v", name, err))
		return
	}
	if _, err := annotate.Write(o.dir, name, p); err != nil {
		o.l.warn(nil, "annotate", err.Error())
		return
	}
	rel := path.Join(record.OutDir, name)
	o.r.Files = append(o.r.Files, report.File{Path: rel, Kind: kind, OpenWith: "go tool pprof " + open + " " + rel})
}

// describe is the cell as annotate wants it.
func describe(c *cell) annotate.Cell {
	out := annotate.Cell{Target: c.Target, Mode: string(c.Mode), Threads: c.Threads, Procs: c.Procs, Arm: c.Arm}
	for _, g := range gatesOf(c, stats.Summarize(c.wall).N) {
		out.Gates = append(out.Gates, g.Text)
	}
	return out
}

// cell writes what was recorded of one cell, and its slot time and blame.
func (o *outputs) cell(c *cell) {
	a := describe(c)
	kinds := []struct {
		name string
		make func(annotate.Cell, int, []annotate.Source) (*profile.Profile, error)
	}{
		{"cpu", annotate.CPU}, {"mutex", annotate.Mutex}, {"block", annotate.Block}, {"wall", annotate.Wall},
	}
	for _, k := range kinds {
		if runs, sources := o.recorded(c, k.name); len(sources) > 0 {
			p, err := k.make(a, runs, sources)
			o.keep(k.name, annotate.FileName(k.name, a), p, err, "-tagroot=cause -top")
		}
	}
	if p, err := annotate.Allocs(a, o.allocated(c)); err == nil {
		o.keep("allocs", annotate.FileName("allocs", a), p, nil, "-sample_index=alloc_space -top")
	} else if !errors.Is(err, annotate.ErrNoProfile) {
		o.keep("allocs", annotate.FileName("allocs", a), nil, err, "")
	}
	accounts := c.accounts()
	if len(accounts) == 0 {
		return
	}
	slot := int64(math.Round(float64(c.Threads) * stats.Median(c.wall)))
	p, err := annotate.Slots(a, len(accounts), accounts, max(0, slot))
	o.keep("slots", annotate.FileName("slots", a), p, err, "-tagroot=cause -top")
	if p, err = annotate.Blame(a, len(accounts), accounts); err == nil {
		o.keep("blame", annotate.FileName("blame", a), p, nil, "-top")
	} else if !errors.Is(err, annotate.ErrNoProfile) {
		o.keep("blame", annotate.FileName("blame", a), nil, err, "")
	}
}

func (c *cell) accounts() []*lanes.Account {
	var out []*lanes.Account
	for _, o := range c.profiled {
		if o.account != nil {
			out = append(out, o.account)
		}
	}
	return out
}

// recorded reads a kind of profile of all the cell's runs.
func (o *outputs) recorded(c *cell, kind string) (runs int, sources []annotate.Source) {
	for _, r := range c.profiledRuns {
		found := false
		for _, f := range r.Find(kind) {
			p, err := o.src.Profile(f)
			if err != nil {
				continue // readCPU has said so
			}
			// The run's processes are in one file, with their label and all their CPU time.
			s := annotate.Source{Profile: p, Process: -1}
			if cpu := cpuOf(r); kind == "cpu" && cpu > 0 && len(r.Find(kind)) == 1 {
				s.CPUNS = int64(cpu)
			}
			sources = append(sources, s)
			found = true
		}
		if found {
			runs++
		}
	}
	return runs, sources
}

// allocated reads the allocation profiles of all the cell's runs, without what
// recorders allocated.
func (o *outputs) allocated(c *cell) (sources []annotate.Allocated) {
	count := func(v float64) int64 {
		if v > 0 && v < math.MaxInt64/2 {
			return int64(v)
		}
		return 0 // unknown
	}
	for _, r := range c.profiledRuns {
		files := r.Find("allocs")
		if len(files) != 1 {
			continue
		}
		p, err := o.src.Profile(files[0])
		if err != nil {
			continue // readAllocs has said so
		}
		p.Sample = slices.DeleteFunc(p.Sample, func(s *profile.Sample) bool { return allocatedAt(s) == "" })
		sources = append(sources, annotate.Allocated{Profile: p, Bytes: count(sumMetric(r, allocBytes)), Objects: count(sumMetric(r, allocObjects))})
	}
	return sources
}

// loss writes the scaling-loss profile of a compared pair.
func (o *outputs) loss(e *explained) {
	a := describe(e.p.peak)
	in := annotate.LossInput{
		Cell: a, Base: e.c.Base, WallPeakNS: int64(stats.Median(e.p.peakWall)),
		Headline: []string{
			fmt.Sprintf("T=%d to T=%d: efficiency %.0f%%, %.2f cores lost", e.c.Base, e.c.Peak, 100*e.c.Efficiency, e.c.CoresLost),
			"verdict: " + e.c.Verdict.Text,
		},
	}
	base, peak := e.p.base.accounts(), e.p.peak.accounts()
	if len(base) > 0 && len(peak) > 0 {
		in.BaseRuns, in.PeakRuns = len(base), len(peak)
		in.BaseParts, in.PeakParts = annotate.Victims(base), annotate.Victims(peak)
		for _, r := range e.c.Rows {
			in.Rows = append(in.Rows, annotate.Row{Cause: cause.ID(r.Cause), BaseNS: r.BaseNS, PeakNS: r.PeakNS})
		}
		in.Moved = moved(e.division)
	} else {
		var sources []annotate.Source
		in.BaseRuns, sources = o.recorded(e.p.base, "cpu")
		in.BaseParts = annotate.OnCPU(sources)
		in.PeakRuns, sources = o.recorded(e.p.peak, "cpu")
		in.PeakParts = annotate.OnCPU(sources)
	}
	if len(in.BaseParts) == 0 || len(in.PeakParts) == 0 {
		return
	}
	p, err := annotate.Loss(in)
	o.keep("loss", annotate.LossName(a, e.c.Base), p, err, "-tagroot=cause -top")
}

func moved(division *memory.Result) []annotate.Moved {
	if division == nil {
		return nil
	}
	var out []annotate.Moved
	for _, p := range division.Parts {
		out = append(out, annotate.Moved{Cause: p.Cause, PCs: p.PCs})
	}
	return out
}

// makeDir makes the directory, and refuses a link in its place: a capture is not
// trusted to say where files are written.
func makeDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Mkdir(dir, 0o755)
	case err == nil && !info.IsDir():
		err = errors.New("it is not a directory")
	}
	if err != nil {
		return fmt.Errorf("writing annotated profiles to %s: %w", dir, err)
	}
	return nil
}
