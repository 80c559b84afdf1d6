package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/gobench"
	"github.com/scaleprof/scaleprof/internal/record"
)

// benchFlags are those of a Go package's benchmarks.
func benchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "bench", Usage: "run the Go benchmarks that match `REGEXP`, as go test -bench takes it, of the package given as argument; what follows -- are build flags"},
		&cli.BoolFlag{Name: "copies", Usage: "run a serial benchmark as T copies at once, each its share"},
	}
}

// notWithBench are flags that only make sense for other targets.
var notWithBench = []string{"workload", "doc", "json", "param", "clock"}

// benchTargets are the targets of --bench, nil without it.
func benchTargets(ctx context.Context, cmd *cli.Command, opts *capture.Options) ([]capture.Target, error) {
	if !cmd.IsSet("bench") {
		if cmd.IsSet("copies") {
			return nil, fmt.Errorf("copies: this flag is about Go benchmarks, and --bench names none")
		}
		return nil, nil
	}
	for _, name := range notWithBench {
		if cmd.IsSet(name) {
			return nil, fmt.Errorf("%s: this flag is not for --bench", name)
		}
	}
	o := gobench.Options{
		Pattern: cmd.String("bench"), Package: ".", Copies: cmd.Bool("copies"), Warn: opts.Progress.Warn,
	}
	args := cmd.Args().Slice()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.Package, args = args[0], args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("bench: one package at a time, and %q is another; build flags come after --", args[0])
	}
	o.Flags = args
	var err error
	if o.Patience, err = duration(cmd, "timeout"); err != nil {
		return nil, err
	}
	targets, own, err := gobench.Targets(ctx, o)
	if err != nil {
		return nil, err
	}
	if own {
		if cmd.IsSet("procs") && cmd.String("procs") != "threads" {
			return nil, fmt.Errorf("procs: one of the benchmarks starts its own goroutines, so that T is GOMAXPROCS")
		}
		opts.ProcsRule = "threads"
	}
	return targets, nil
}

// resolveBench finds the benchmarks of a capture that is resumed again.
func resolveBench(ctx context.Context, other func(record.Target) (capture.Target, error)) func(record.Target) (capture.Target, error) {
	return func(r record.Target) (capture.Target, error) {
		if r.Kind != gobench.Kind {
			return other(r)
		}
		return gobench.Resolve(ctx, r)
	}
}
