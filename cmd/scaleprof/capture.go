package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/arm"
	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/workload/builtin"
)

func captureCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:  "capture",
		Usage: "run a workload at several levels of parallelism and explain where the cores went",
		Description: "Every run is a fresh process; the total work is the same at every T. The capture goes to a\n" +
			"directory NAME.scaleprof; its explanation is printed at the end.",
		Flags:        slices.Concat(captureFlags(), benchFlags(), execFlags()),
		OnUsageError: usageError,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.NArg() > 0 && !cmd.IsSet("bench") {
				return usagef("capture takes no argument %q; a workload is named by --workload", cmd.Args().First())
			}
			if dir := cmd.String("resume"); dir != "" {
				return resumeCapture(ctx, cmd, env, dir)
			}
			opts, err := captureOptions(ctx, cmd, env)
			if err != nil {
				return &codedError{code: exitUsage, err: err}
			}
			if cmd.Bool("dry-run") {
				return captured(ctx, env, "", capture.Describe(env.Stdout, opts))
			}
			dir, err := capture.Run(ctx, opts)
			return captured(ctx, env, dir, err)
		},
	}
}

func captureFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "workload", Value: "json/sonic,json/std", Usage: "run `NAMES`, see scaleprof list"},
		&cli.StringFlag{Name: "doc", Usage: "`NAME` of the json workloads' document"},
		&cli.StringFlag{Name: "json", Usage: "`FILE` with a document of your own for the json workloads", TakesFile: true},
		&cli.StringSliceFlag{Name: "param", Usage: "`NAME=VALUE` of a workload's parameter"},
		&cli.StringFlag{Name: "threads", Value: capture.DefaultThreads, Usage: "levels of parallelism: a `LIST` of numbers, fractions of the CPUs, full, full-1"},
		&cli.StringFlag{Name: "mode", Usage: "`MODES`: thread, process or both (default: thread,process)"},
		&cli.StringFlag{Name: "procs", Value: "cpus", Usage: "GOMAXPROCS of each run by this `RULE`: cpus, threads or a number"},
		&cli.StringFlag{Name: "ops", Usage: "total `N` of operations of every run (default: half a second's worth at full T)"},
		&cli.StringFlag{Name: "blocks", Usage: "`N` timed blocks (default: as --precision and --budget say)"},
		&cli.StringFlag{Name: "precision", Value: "2%", Usage: "stop when every efficiency is known to plus or minus `P`"},
		&cli.StringFlag{Name: "budget", Usage: "stop after this `TIME` at the latest (default: what six blocks need, at least 115s)"},
		&cli.StringFlag{Name: "profiles", Usage: "`RECORDERS` of the profiled runs: cpu,mutex,block,trace,wall,allocs or none (default: all)"},
		&cli.StringFlag{Name: "arms", Usage: "experiments: auto, none, all or a `LIST` of " + arm.Forms + " (default: auto, with --quick none)"},
		&cli.BoolFlag{Name: "arms-combine", Usage: "run two or three arms of --arms in every combination, to share out what they recover"},
		&cli.StringFlag{Name: "clock", Value: string(capture.ClockWall), Usage: "`CLOCK`: wall, or wall-with-startup, which has process start inside"},
		&cli.StringFlag{Name: "seed", Usage: "`N` that the random order of runs is drawn from (default: drawn, and recorded)"},
		&cli.StringFlag{Name: "timeout", Usage: "kill a run that takes longer than this `TIME` (default: from calibration)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "create `DIR` (default: named after workload and time)"},
		&cli.StringFlag{Name: "resume", Usage: "finish the capture in `DIR`"},
		&cli.BoolFlag{Name: "quick", Usage: "about 20s: thread mode, few blocks, no arms"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the plan and run nothing"},
	}
}

// What --quick leaves of a capture.
const (
	quickBudget = 16 * time.Second
	quickWindow = 300 * time.Millisecond
	fullWindow  = 400 * time.Millisecond
)

func captureOptions(ctx context.Context, cmd *cli.Command, env *environment) (capture.Options, error) {
	opts := capture.Options{
		ProcsRule: cmd.String("procs"), Clock: capture.Clock(cmd.String("clock")),
		Quick: cmd.Bool("quick"), Out: cmd.String("output"),
		Command: os.Args, Scaleprof: version(), Progress: newProgress(env.Stderr),
		ChooseArms: chooseArms,
	}
	var err error
	if opts.Targets, err = captureTargets(ctx, cmd, &opts); err != nil {
		return opts, err
	}
	if opts.Threads, err = capture.ParseThreads(cmd.String("threads"), usableCPUs()); err != nil {
		return opts, err
	}
	opts.Modes = modes(cmd.String("mode"))
	if opts.Ops, err = positive(cmd, "ops"); err != nil {
		return opts, err
	}
	blocks, err := positive(cmd, "blocks")
	if err != nil {
		return opts, err
	}
	opts.Blocks = int(min(blocks, 1<<30))
	if opts.Precision, err = fraction("precision", cmd.String("precision")); err != nil {
		return opts, err
	}
	if opts.Budget, err = duration(cmd, "budget"); err != nil {
		return opts, err
	}
	if opts.Timeout, err = duration(cmd, "timeout"); err != nil {
		return opts, err
	}
	if cmd.IsSet("profiles") {
		opts.Profiles = words(cmd.String("profiles"))
		if len(opts.Profiles) == 1 && opts.Profiles[0] == "none" {
			opts.Profiles = []string{}
		}
	}
	if opts.Seed, err = seed(cmd.String("seed")); err != nil {
		return opts, err
	}
	// A little less than half a second: the experiments and three profiles of each
	// cell then fit in the default budget.
	opts.Window = fullWindow
	if opts.Quick {
		opts.Window = quickWindow
		if opts.Budget == 0 {
			opts.Budget = quickBudget
		}
		if opts.Modes == nil {
			opts.Modes = []record.Mode{record.Thread}
		}
	}
	return opts, armOptions(cmd.String("arms"), cmd.Bool("arms-combine"), &opts)
}

// armOptions reads --arms.
func armOptions(list string, combine bool, opts *capture.Options) (err error) {
	if list == "" {
		list = "auto"
		if opts.Quick {
			list = "none"
		}
	}
	switch list {
	case "auto":
		opts.ArmsAuto = true
	case "none":
	case "all":
		opts.Arms, opts.AllArms = arm.All(opts.ProcsRule), true
	default:
		opts.Arms, err = arm.ParseList(list)
	}
	if err == nil && combine {
		if opts.ArmsAuto || opts.AllArms || len(opts.Arms) == 0 {
			return usagef("--arms-combine wants the two or three arms to combine, as in --arms gogc=400,procs=threads")
		}
		opts.Arms, err = arm.Combine(opts.Arms)
	}
	return err
}

// captureTargets are what the flags say is to be run.
func captureTargets(ctx context.Context, cmd *cli.Command, opts *capture.Options) ([]capture.Target, error) {
	if targets, err := execTargets(ctx, cmd, opts); err != nil || targets != nil {
		return targets, err
	}
	if targets, err := benchTargets(ctx, cmd, opts); err != nil || targets != nil {
		return targets, err
	}
	return workloadTargets(cmd)
}

func workloadTargets(cmd *cli.Command) ([]capture.Target, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's own file: %w", err)
	}
	shared := make(map[string]string)
	for _, p := range cmd.StringSlice("param") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("param: want NAME=VALUE, not %q", p)
		}
		shared[name] = value
	}
	if doc := cmd.String("doc"); doc != "" {
		shared["doc"] = doc
	}
	if file := cmd.String("json"); file != "" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("json: %w", err)
		}
		shared["json"] = abs
	}
	registry := builtin.All()
	var targets []capture.Target
	names := words(cmd.String("workload"))
	if len(names) == 0 {
		return nil, fmt.Errorf("workload: the list is empty")
	}
	for _, name := range names {
		w, err := registry.Lookup(name)
		if err != nil {
			return nil, err
		}
		values := make(map[string]string, len(shared))
		for k, v := range shared {
			values[k] = v
		}
		t, err := capture.WorkloadTarget(w, values, exe)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func resumeCapture(ctx context.Context, cmd *cli.Command, env *environment, dir string) error {
	for _, name := range cmd.FlagNames() {
		if name != "resume" && name != "timeout" && !ofExec(name) && cmd.IsSet(name) {
			return usagef("--resume continues the plan of %s: --%s cannot change it", dir, name)
		}
	}
	timeout, err := duration(cmd, "timeout")
	if err != nil {
		return &codedError{code: exitUsage, err: err}
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's own file: %w", err)
	}
	err = capture.Resume(ctx, dir, capture.Again{
		Resolve:   resolveExec(ctx, cmd, resolveBench(ctx, capture.ResolveWorkload(builtin.All(), exe))),
		Scaleprof: version(), ChooseArms: chooseArms,
		Progress: newProgress(env.Stderr), Timeout: timeout,
	})
	return captured(ctx, env, dir, err)
}

// captured ends a capture: with its explanation, or with the way to finish it.
func captured(ctx context.Context, env *environment, dir string, err error) error {
	var stopped *capture.Interrupted
	var refused *capture.Refused
	switch {
	case errors.As(err, &stopped):
		return withHint(err, fmt.Sprintf("scaleprof capture --resume %s finishes it; scaleprof explain %s explains what is there", dir, dir))
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before the first run; nothing was kept")
	case errors.As(err, &refused):
		return &codedError{code: exitUsage, err: err}
	case err != nil && dir != "" && !errors.Is(err, record.ErrLocked):
		return withHint(err, fmt.Sprintf("what is complete is kept: scaleprof capture --resume %s goes on", dir))
	case err != nil || dir == "":
		return err
	}
	return summarise(ctx, env, dir)
}
