// Package timeline draws what the lanes of one run did, from its execution
// trace, in as many columns as a terminal has. Package lanes follows the trace;
// here its spans are put into buckets of time, exactly, and each bucket of a lane
// shows what took most of it.
package timeline

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Source is the trace of one process of a run.
type Source struct {
	Open  func() (io.ReadCloser, error) // called twice: for the window, and for what is in it
	Input lanes.Input
}

// Options choose the stretch. At and For count from the window's begin; For 0 is
// up to its end.
type Options struct {
	At, For time.Duration
	Columns int // buckets wanted, at least 1; there are fewer where the stretch has fewer ns
}

// Timeline is a stretch of a run's window in buckets.
type Timeline struct {
	LanesOf string // as lanes.Account has it; "processes" where each process has one lane
	WallNS  int64  // of the whole window
	FromNS  int64  // the stretch, from the window's begin
	ToNS    int64
	Rows    []Row // the lanes
	// Shares of the bucket, 0 to 1: of the processes' time with marking on, and of
	// the Ps that run mark workers, and that are free or searching for work.
	Mark, MarkPs, FreePs []float64
	Procs                int // Ps that existed in the stretch, in all processes
	Warnings             []string
}

// Row is one lane.
type Row struct {
	Name  string
	Cells []lanes.Activity             // what took most of each bucket
	NS    [lanes.NumActivities]int64   // in all; adds up to the stretch
	parts [][lanes.NumActivities]int64 // by bucket
}

// StretchError says that a stretch lies outside of the window.
type StretchError struct{ text string }

func (e *StretchError) Error() string { return e.text }

// Read makes the timeline of a run from the traces of its processes.
func Read(ctx context.Context, sources []Source, opt Options) (*Timeline, error) {
	t := &Timeline{}
	accounts := make([]*lanes.Account, len(sources))
	begin, end := int64(0), int64(0)
	for i, s := range sources {
		a, err := pass(ctx, s, nil)
		if err != nil {
			return nil, err
		}
		accounts[i] = a
		if i == 0 {
			begin, end = a.BeginNS, a.EndNS
		}
		begin, end = min(begin, a.BeginNS), max(end, a.EndNS)
		t.LanesOf = a.LanesOf
		for _, w := range a.Warnings {
			// What the account divides by samples is no matter of a timeline.
			if a.Truncated && len(t.Warnings) == 0 {
				t.Warnings = append(t.Warnings, w)
			}
		}
	}
	t.WallNS = end - begin
	if err := t.choose(opt); err != nil {
		return nil, err
	}
	g := grid{from: begin + t.FromNS, to: begin + t.ToNS, n: int64(max(opt.Columns, 1))}
	g.n = min(g.n, g.to-g.from)
	if len(sources) > 1 && t.LanesOf == "workers" && each(accounts, 1) {
		t.LanesOf = "processes"
	}
	all := newSums(g)
	for i, s := range sources {
		one := newSums(g)
		if _, err := pass(ctx, s, one.take); err != nil {
			return nil, err
		}
		all.add(one)
		t.rows(g, one, accounts[i], i, len(sources))
	}
	t.levels(g, all, len(sources))
	return t, nil
}

func each(accounts []*lanes.Account, n int) bool {
	for _, a := range accounts {
		if len(a.Lanes) != n {
			return false
		}
	}
	return true
}

func pass(ctx context.Context, s Source, watch func(lanes.Span)) (*lanes.Account, error) {
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in := s.Input
	in.Watch = watch
	return lanes.Read(ctx, r, in)
}

// choose finds the stretch.
func (t *Timeline) choose(opt Options) error {
	wall := time.Duration(t.WallNS)
	if opt.At < 0 || opt.For < 0 {
		return &StretchError{"a stretch neither begins before the window nor has a negative length"}
	}
	if opt.At >= wall {
		return &StretchError{fmt.Sprintf("the window is %s long: nothing is at %s", wall.Round(time.Microsecond), opt.At)}
	}
	t.FromNS, t.ToNS = int64(opt.At), t.WallNS
	if opt.For > 0 && opt.For < wall-opt.At {
		t.ToNS = int64(opt.At + opt.For)
	}
	return nil
}

// rows adds a process's lanes, or its Ps where those are the lanes.
func (t *Timeline) rows(g grid, s *sums, a *lanes.Account, process, processes int) {
	tracks, name := s.lanes, "worker"
	if a.LanesOf == "Ps" {
		tracks, name = s.procs, "P"
	}
	for i := range tracks {
		r := Row{Name: fmt.Sprintf("%s %d", name, i+1), parts: tracks[i]}
		switch {
		case t.LanesOf == "processes":
			r.Name = fmt.Sprintf("process %d", process+1)
		case a.LanesOf == "Ps":
			r.Name = fmt.Sprintf("P %d", i)
			if !existed(tracks[i]) {
				continue
			}
		}
		if processes > 1 && t.LanesOf != "processes" {
			r.Name = fmt.Sprintf("%d: %s", process+1, r.Name)
		}
		if r.parts == nil {
			r.parts = g.row()
		}
		r.finish(g)
		t.Rows = append(t.Rows, r)
	}
}

func existed(parts [][lanes.NumActivities]int64) bool {
	for i := range parts {
		for _, ns := range parts[i] {
			if ns > 0 {
				return true
			}
		}
	}
	return false
}

// finish gives what no span covers to Absent and finds each bucket's majority.
// Of equal parts the first activity counts.
func (r *Row) finish(g grid) {
	r.Cells = make([]lanes.Activity, g.n)
	for i := range r.parts {
		lo, hi := g.bucket(int64(i))
		left := hi - lo
		for _, ns := range r.parts[i] {
			left -= ns
		}
		r.parts[i][lanes.Absent] += left
		best := lanes.Absent
		for k, ns := range r.parts[i] {
			r.NS[k] += ns
			if ns > r.parts[i][best] {
				best = lanes.Activity(k)
			}
		}
		r.Cells[i] = best
	}
}

// levels fills the rows of the collector and the Ps.
func (t *Timeline) levels(g grid, s *sums, processes int) {
	t.Mark, t.MarkPs, t.FreePs = make([]float64, g.n), make([]float64, g.n), make([]float64, g.n)
	ps := make([][lanes.NumActivities]int64, g.n)
	for _, p := range s.procs {
		if existed(p) {
			t.Procs++
		}
		for i := range p {
			for k, ns := range p[i] {
				ps[i][k] += ns
			}
		}
	}
	for i := range t.Mark {
		lo, hi := g.bucket(int64(i))
		if s.mark != nil {
			t.Mark[i] = float64(s.mark[i][lanes.Running]) / float64(hi-lo) / float64(processes)
		}
		if t.Procs > 0 {
			all := float64(hi-lo) * float64(t.Procs)
			t.MarkPs[i] = float64(ps[i][lanes.Marking]) / all
			t.FreePs[i] = float64(ps[i][lanes.Free]+ps[i][lanes.Searching]) / all
		}
	}
}
