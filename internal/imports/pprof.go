package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/record"
)

// profileFile is a loose profile or trace.
type profileFile struct {
	path    string
	kind    string
	threads int
	procs   int // GOMAXPROCS that a trace names, 0 unknown
	gzipped bool
}

// readProfile adds a pprof file.
func (f *facts) readProfile(src Source, r io.Reader, gzipped bool) error {
	p, err := record.ReadProfile(r)
	if err != nil {
		return fmt.Errorf("%s: %w", src.Path, err)
	}
	kind, err := profileKind(src.Path, p)
	if err != nil {
		return fmt.Errorf("%s: %w", src.Path, err)
	}
	threads, err := f.threadsOf(src, labelThreads(p), "the label threads")
	if err != nil {
		return err
	}
	f.profiles = append(f.profiles, profileFile{path: src.Path, kind: kind, threads: threads, gzipped: gzipped})
	return nil
}

// profileKind tells a profile's kind from its sample types. Mutex and block
// profiles have the same ones: there the file's name decides, else who is
// charged, as a mutex profile charges the unlocker.
func profileKind(path string, p *profile.Profile) (string, error) {
	types := make([]string, len(p.SampleType))
	for i, t := range p.SampleType {
		types[i] = t.Type + "/" + t.Unit
	}
	has := func(typ string) bool { return slices.Contains(types, typ) }
	switch {
	case has("cpu/nanoseconds"):
		return "cpu", nil
	case has("time/nanoseconds"):
		return "wall", nil
	case has("contentions/count") && has("delay/nanoseconds"):
		return contentionKind(path, p), nil
	case has("alloc_space/bytes"):
		return "allocs", nil
	}
	return "", fmt.Errorf("a profile of %s is of no use here; CPU, mutex, block, wall-clock and allocation profiles are", strings.Join(types, ", "))
}

func contentionKind(path string, p *profile.Profile) string {
	name := strings.ToLower(filepath.Base(path))
	mutex, block := strings.Contains(name, "mutex"), strings.Contains(name, "block")
	if mutex != block {
		if mutex {
			return "mutex"
		}
		return "block"
	}
	for _, s := range p.Sample {
		if len(s.Location) == 0 || len(s.Location[0].Line) == 0 || s.Location[0].Line[0].Function == nil {
			continue
		}
		leaf := s.Location[0].Line[0].Function.Name
		if strings.Contains(strings.ToLower(leaf), "unlock") {
			return "mutex"
		}
	}
	return "block"
}

// labelThreads is the numeric label threads that all samples share, 0 if none.
func labelThreads(p *profile.Profile) int {
	threads := int64(0)
	for _, s := range p.Sample {
		values := s.NumLabel["threads"]
		if len(values) != 1 || threads != 0 && values[0] != threads {
			return 0
		}
		threads = values[0]
	}
	if threads < 1 || threads > maxThreads {
		return 0
	}
	return int(threads)
}

// readTrace adds an execution trace. It is read until it names GOMAXPROCS,
// which it does at its beginning.
func (f *facts) readTrace(ctx context.Context, src Source, r io.Reader) error {
	procs, err := traceProcs(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", src.Path, err)
	}
	threads, err := f.threadsOf(src, procs, "its GOMAXPROCS")
	if err != nil {
		return err
	}
	f.profiles = append(f.profiles, profileFile{path: src.Path, kind: "trace", threads: threads, procs: procs})
	return nil
}

// traceEvents bounds how far into a trace GOMAXPROCS is looked for.
const traceEvents = 1 << 20

// traceProcs is the GOMAXPROCS that a trace names first, 0 if it names none.
func traceProcs(ctx context.Context, r io.Reader) (int, error) {
	reader, err := trace.NewReader(r)
	if err != nil {
		return 0, fmt.Errorf("not an execution trace: %w", err)
	}
	some := false // an event that says something was read
	for n := range traceEvents {
		if n%4096 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		ev, err := reader.ReadEvent()
		switch {
		case errors.Is(err, io.EOF) && some:
			return 0, nil
		case err != nil && !some:
			return 0, fmt.Errorf("no event of the trace can be read: %w", err)
		case err != nil:
			return 0, nil // a truncated trace still has a beginning to analyse
		}
		some = some || ev.Kind() != trace.EventSync
		if ev.Kind() != trace.EventMetric {
			continue
		}
		m := ev.Metric()
		if m.Name == "/sched/gomaxprocs:threads" && m.Value.Kind() == trace.ValueUint64 {
			if procs := m.Value.Uint64(); procs >= 1 && procs <= maxThreads {
				return int(procs), nil
			}
		}
	}
	return 0, nil
}

// threadsOf finds the T of a profile: what the user said, else the file's name
// (cpu_t8.pprof, trace.threads=16.out), else what the file itself says, which
// is inside (0 for nothing), described by what.
func (f *facts) threadsOf(src Source, inside int, what string) (int, error) {
	if src.Threads > 0 {
		return src.Threads, nil
	}
	if named := nameThreads(src.Path); named > 0 {
		if inside > 0 && inside != named {
			f.warn("threads", "%s: the name says T=%d, %s %d; the name is believed", src.Path, named, what, inside)
		}
		return named, nil
	}
	if inside > 0 {
		return inside, nil
	}
	return 0, fmt.Errorf("%s: cannot tell which T it is of; say so with --t N=%s", src.Path, src.Path)
}

// nameThreads is the T in a file's name, 0 if there is none or more than one.
func nameThreads(path string) int {
	pattern := regexp.MustCompile(`(?i)(?:^|[._+-])(?:t|threads|procs)[=_-]?(\d{1,5})`)
	found := 0
	base := filepath.Base(path)
	for _, m := range pattern.FindAllStringSubmatchIndex(base, -1) {
		if end := m[3]; end < len(base) && !strings.ContainsRune("._+-", rune(base[end])) {
			continue
		}
		n, err := strconv.Atoi(base[m[2]:m[3]])
		if err != nil || n < 1 || n > maxThreads || found != 0 && found != n {
			return 0
		}
		found = n
	}
	return found
}
