// Package imports makes a capture of what other tools wrote: the output of
// `go test -bench -cpu`, loose pprof and trace files, the log of the published
// scalability test.
//
// It reads each source by what is in it, not by what it is called (recognise),
// turns it into observations (the parsers), and lays these out as a capture
// (assemble). What a source does not say stays unknown, and a warning says
// what therefore cannot be known.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Source is a file to import.
type Source struct {
	Path    string // "-" is Options.Stdin, for text only
	Threads int    // T as the user gave it, 0 to find out
}

// Options say what the sources do not.
type Options struct {
	Sources       []Source
	Stdin         io.Reader
	Name          string // target of loose profiles; "" for the only other target, or "program"
	CPUs          int    // logical CPUs of the machine that the figures are from, 0 unknown
	PhysicalCores int    // 0 unknown
	Now           time.Time
	Command       []string
	Scaleprof     string // version of the importing program
}

// Import is a capture in memory, to be written.
type Import struct {
	Manifest *record.Manifest
	Copies   []Copy
}

// Copy is a profile that goes into the directory of a run.
type Copy struct {
	Run  int    // ID of the run
	Kind string // of the profile
	Name string // base name in the run's directory
	Path string // where it is now
	Gzip bool   // it is not compressed yet, and the name says that it is
}

// observation is one run, or a part of one: timed with a wall time, or a profile.
type observation struct {
	target  string
	mode    record.Mode
	threads int
	procs   int // GOMAXPROCS, 0 unknown

	wallNS int64 // timed
	ops    int64

	kind    string // profile: cpu, mutex, block, wall, allocs, trace
	path    string
	gzipped bool
}

// facts are what sources say beside the observations.
type facts struct {
	targets      []record.Target
	observations []observation
	procsRule    string
	clock        string
	cpus         int
	goos, goarch string
	cpu          string
	warnings     []record.Warning
	profiles     []profileFile
	known        map[string]bool // targets
}

func (f *facts) warn(id, format string, args ...any) {
	f.warnings = append(f.warnings, record.Warning{ID: id, Text: fmt.Sprintf(format, args...)})
}

// Read reads all sources. An error names the file, and the line where there is one.
func Read(ctx context.Context, opts Options) (*Import, error) {
	if len(opts.Sources) == 0 {
		return nil, errors.New("nothing to import")
	}
	if opts.PhysicalCores > 0 && opts.CPUs > 0 && opts.PhysicalCores > opts.CPUs {
		return nil, fmt.Errorf("%d physical cores are more than the %d CPUs", opts.PhysicalCores, opts.CPUs)
	}
	var f facts
	for _, src := range opts.Sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.read(ctx, src, opts.Stdin); err != nil {
			return nil, err
		}
	}
	if err := f.placeProfiles(opts.Name); err != nil {
		return nil, err
	}
	return f.assemble(opts)
}
