package analyze

import (
	"bufio"
	"context"
	"fmt"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// maxTrace bounds the trace that is read of one process; reading is one pass in
// constant memory, so the bound is about time.
const maxTrace = 8 << 30

// readAccount accounts for the slot time of a run from the traces of its
// processes. nil with a warning where there is nothing to read.
func readAccount(ctx context.Context, src *record.Capture, r *record.Run) (*lanes.Account, []report.Warning) {
	var warnings []report.Warning
	warn := func(format string, args ...any) {
		id := r.ID
		warnings = append(warnings, report.Warning{ID: "trace", Text: fmt.Sprintf("run %d: ", r.ID) + fmt.Sprintf(format, args...), Run: &id})
	}
	traces := r.Find("trace")
	var accounts []*lanes.Account
	for _, f := range traces {
		a, err := readTrace(ctx, src, r, f)
		if err != nil {
			warn("%v", err)
			continue
		}
		for _, w := range a.Warnings {
			warn("%s", w)
		}
		accounts = append(accounts, a)
	}
	switch {
	case len(accounts) == 0:
		return nil, warnings
	case len(accounts) < len(traces):
		warn("%d of %d processes left no trace that can be read, so the run is not accounted", len(traces)-len(accounts), len(traces))
		return nil, warnings
	case len(r.Processes) > 1:
		begin, end := window(r)
		return lanes.Merge(accounts, begin, end), warnings
	}
	return accounts[0], warnings
}

// account is readAccount for a run whose cell is known. Where the lanes are the
// Ps, and T is the program's GOMAXPROCS, a program that sets another one by itself is
// not accounted: its slot time is not T times its wall time.
func (l *loaded) account(ctx context.Context, src *record.Capture, r *record.Run) (*lanes.Account, []report.Warning) {
	a, warnings := readAccount(ctx, src, r)
	c := l.byID[r.Cell]
	if a == nil || c == nil || a.LanesOf != "Ps" || c.Procs <= 0 || len(a.Lanes) == c.Procs || l.kind(c.Target) != "exec" {
		return a, warnings
	}
	id := r.ID
	return nil, append(warnings, report.Warning{
		ID: "gomaxprocs", Run: &id,
		Text: fmt.Sprintf("run %d: the trace shows %d Ps where GOMAXPROCS was set to %d for T=%d: the program sets it by itself, so it is not accounted, and its timings are not those of T", r.ID, len(a.Lanes), c.Procs, c.Threads),
	})
}

// kind is what a target is: workload, bench, exec or import.
func (l *loaded) kind(target string) string {
	for _, t := range l.manifest.Plan.Targets {
		if t.Name == target {
			return t.Kind
		}
	}
	return ""
}

func readTrace(ctx context.Context, src *record.Capture, r *record.Run, f record.File) (*lanes.Account, error) {
	file, err := src.Open(f, maxTrace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := lanes.Input{System: r.System, Processes: max(1, len(r.Processes))}
	for i := range r.Processes {
		if r.Processes[i].Process == f.Process {
			in.Result = &r.Processes[i]
		}
	}
	if r.Profiles != nil && r.Profiles.CPURateHz > 0 {
		in.PeriodNS = 1e9 / int64(r.Profiles.CPURateHz)
	}
	a, err := lanes.Read(ctx, bufio.NewReaderSize(file, 1<<20), in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return a, nil
}

// window is from the release of a run's processes to their last end, on the
// clock that they share.
func window(r *record.Run) (begin, end int64) {
	begin, end = r.Processes[0].BeginNS, r.Processes[0].EndNS
	for _, p := range r.Processes {
		begin, end = min(begin, p.BeginNS), max(end, p.EndNS)
	}
	if r.WallNS > end-begin {
		begin = end - r.WallNS
	}
	return begin, end
}
