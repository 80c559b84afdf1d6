package gobench

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Options name the benchmarks.
type Options struct {
	Pattern  string   // as go test -bench takes it
	Package  string   // a package pattern as the go command takes it
	Flags    []string // build flags for go test
	Copies   bool     // run serial benchmarks as T copies
	Patience time.Duration
	// Warn is told of benchmarks that match and cannot be run. Never nil.
	Warn func(text string)
}

// Kind of the targets.
const Kind = "bench"

// Parameters of the targets.
const (
	paramPackage   = "package"
	paramBenchmark = "benchmark"
	paramForm      = "form"
	paramBuild     = "build" // sum of the test binary
	paramFlags     = "flags" // of the build, one a line
)

// Forms, as the driver has them.
const (
	formParallel = "parallel"
	formCopies   = "copies"
	formOwn      = "own"
)

// Targets builds the packages and finds the benchmarks. With own, T is
// GOMAXPROCS for one of them at least.
func Targets(ctx context.Context, o Options) (targets []capture.Target, own bool, err error) {
	if err := o.check(); err != nil {
		return nil, false, err
	}
	packages, err := list(ctx, o.Package, o.Flags)
	if err != nil {
		return nil, false, err
	}
	b, err := newBuilder(ctx, o.Flags)
	if err != nil {
		return nil, false, err
	}
	defer b.close()
	var refusals []string
	for _, p := range packages {
		bin, err := b.build(ctx, p)
		var all []found
		if err == nil {
			all, err = survey(ctx, bin, o.Pattern, o.Patience)
		}
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if err != nil {
			refusals = append(refusals, err.Error())
			continue
		}
		for _, f := range all {
			form, refusal := f.form(o.Copies)
			if refusal != "" {
				refusals = append(refusals, fmt.Sprintf("%s.%s %s", p.ImportPath, f.Name, refusal))
				continue
			}
			own = own || form == formOwn
			targets = append(targets, o.target(bin, f, form))
		}
	}
	if len(targets) == 0 && len(refusals) == 0 {
		return nil, false, fmt.Errorf("no benchmark in %s matches %q", o.Package, o.Pattern)
	}
	if len(targets) == 0 {
		more := ""
		if n := len(refusals) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return nil, false, fmt.Errorf("%s%s", refusals[0], more)
	}
	for _, r := range refusals {
		o.Warn(r + "; left out")
	}
	return targets, own, nil
}

func (o *Options) check() error {
	if o.Pattern == "" {
		return fmt.Errorf("bench: the regular expression is empty; . matches all benchmarks")
	}
	if _, err := regexp.Compile(o.Pattern); err != nil {
		return fmt.Errorf("bench: %q is no regular expression: %w", o.Pattern, err)
	}
	if o.Patience == 0 {
		o.Patience = quiet
	}
	return checkFlags(o.Flags)
}

// form is how a benchmark is run at T, or why it is not.
func (f *found) form(copies bool) (form, refusal string) {
	switch {
	case f.Fault != "":
		return "", f.Fault
	case f.Parallel == 1 && f.Parallelism == 1:
		return formParallel, ""
	case f.Parallel > 0:
		return formOwn, ""
	case copies:
		return formCopies, ""
	case f.Goroutines > 0:
		return formOwn, ""
	}
	return "", "is serial: it calls no RunParallel and starts no goroutines, so that T would change nothing; --copies runs T copies of it at once"
}

// notes say in the report what T is and what the figures leave open.
func (f *found) notes(form string) []string {
	switch {
	case form == formParallel:
		return []string{"T is RunParallel's goroutines; each takes some 100 µs worth of iterations at once, as in a long run by time"}
	case form == formCopies:
		return []string{"T copies of the benchmark function run at once, each its share of the iterations"}
	case f.Parallelism > 1:
		return []string{fmt.Sprintf("SetParallelism makes it %d goroutines for each of GOMAXPROCS = T; lanes are Ps", f.Parallelism)}
	}
	return []string{"it starts goroutines of its own: T is GOMAXPROCS, lanes are Ps; b.N is the same at every T, but whether N means the same work cannot be counted"}
}

func (o *Options) target(bin *binary, f found, form string) capture.Target {
	t := capture.Target{
		Record: record.Target{
			Name: "bench/" + bin.pkg + "." + f.Name, Kind: Kind, Unit: "op", Binary: bin.path,
			Params: map[string]string{
				paramPackage: bin.pkg, paramBenchmark: f.Name, paramForm: form, paramBuild: bin.sum,
			},
			Notes: f.notes(form),
		},
		Exec:      &capture.Processes{Launcher: launcher{bin}},
		OpNS:      1000,
		External:  form == formOwn,
		Recorders: []string{"cpu", "mutex", "block", "trace", "allocs"},
		Libraries: map[string]string{},
	}
	if len(o.Flags) > 0 {
		t.Record.Params[paramFlags] = strings.Join(o.Flags, "\n")
	}
	if bin.module != "" && bin.modVer != "" {
		t.Libraries[bin.module] = bin.modVer
	}
	return t
}

// launcher starts a test binary for one benchmark.
type launcher struct{ bin *binary }

// Command selects the benchmark and GOMAXPROCS; the driver chooses how much runs.
func (l launcher) Command(job *capture.Job, spec *recorder.Spec) (capture.Command, error) {
	return capture.Command{
		Path: l.bin.path, Dir: l.bin.dir,
		Args: []string{
			"-test.run=^$", "-test.bench=" + anchored(job.Target.Params[paramBenchmark]), "-test.benchtime=1x",
			"-test.count=1", "-test.timeout=0", "-test.cpu=" + strconv.Itoa(spec.Procs),
		},
	}, nil
}

// Resolve finds a target of a capture that is resumed: the code must be the same.
func Resolve(ctx context.Context, r record.Target) (capture.Target, error) {
	p := r.Params
	if p[paramFlags] != "" {
		// A capture comes from anywhere, and build flags can name programs to run.
		return capture.Target{}, fmt.Errorf("%s was built with flags of its own and cannot be resumed; capture anew", r.Name)
	}
	o := Options{Pattern: anchored(p[paramBenchmark]), Package: p[paramPackage], Copies: p[paramForm] == formCopies, Warn: func(string) {}}
	if strings.HasPrefix(o.Package, "-") || o.Package == "" {
		return capture.Target{}, fmt.Errorf("%s names no package", r.Name)
	}
	targets, _, err := Targets(ctx, o)
	if err != nil {
		return capture.Target{}, err
	}
	for _, t := range targets {
		if t.Record.Name != r.Name {
			continue
		}
		if !maps.Equal(t.Record.Params, p) {
			return capture.Target{}, fmt.Errorf("%s is not the code that the capture began with; capture anew", r.Name)
		}
		return t, nil
	}
	return capture.Target{}, fmt.Errorf("%s is not there any more", r.Name)
}
