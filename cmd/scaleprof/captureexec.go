package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/command"
	"github.com/scaleprof/scaleprof/internal/record"
)

// execFlags are those of a program of the user's own.
func execFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "exec", Usage: "run a program of yours by this shell `COMMAND`, afresh at each GOMAXPROCS = T"},
		&cli.StringFlag{Name: "load", Usage: "the program is a server: it is timed while this `COMMAND` loads it, which must do the same work at every T ($SCALEPROF_THREADS is T)"},
		&cli.StringFlag{Name: "warmup", Usage: "`COMMAND` that is run to its end before the load, outside the clock"},
		&cli.StringFlag{Name: "pprof", Usage: "`URL` of the program's net/http/pprof, to fetch profiles and traces from"},
		&cli.StringFlag{Name: "ready", Usage: "`URL` or HOST:PORT that answers when the server is ready (default: that of --pprof)"},
		&cli.StringFlag{Name: "rate", Usage: "`REGEXP` with a group around the operations per second that the load prints, or else the program"},
		&cli.StringFlag{Name: "requests", Usage: "`REGEXP` with a group around how many operations there were"},
		&cli.StringFlag{Name: "begin", Usage: "time a batch program from its line that matches `REGEXP`"},
		&cli.StringFlag{Name: "end", Usage: "time a batch program up to its line that matches `REGEXP`"},
		&cli.BoolFlag{Name: "own-profiles", Usage: "the program writes cpu.pprof, mutex.pprof, block.pprof, trace.out into $SCALEPROF_PROFILES, where that is set"},
		&cli.BoolFlag{Name: "allow-remote", Usage: "--pprof and --ready may be addresses of other machines"},
	}
}

// notWithExec are flags that only make sense for other targets.
var notWithExec = []string{"workload", "doc", "json", "param", "procs", "ops", "clock"}

// execOptions are what the flags say of a program, false where they name none.
func execOptions(cmd *cli.Command) (command.Options, bool, error) {
	o := command.Options{
		Exec: cmd.String("exec"), Load: cmd.String("load"), Warmup: cmd.String("warmup"),
		Pprof: cmd.String("pprof"), Ready: cmd.String("ready"),
		Rate: cmd.String("rate"), Requests: cmd.String("requests"),
		Begin: cmd.String("begin"), End: cmd.String("end"),
		AllowRemote: cmd.Bool("allow-remote"), OwnProfiles: cmd.Bool("own-profiles"),
	}
	if cmd.IsSet("exec") {
		return o, true, nil
	}
	for _, f := range execFlags() {
		if name := f.Names()[0]; cmd.IsSet(name) {
			return o, false, fmt.Errorf("%s: this flag is about a program of yours, and --exec names none", name)
		}
	}
	return o, false, nil
}

// execTargets are the targets of --exec, nil without it. It settles what T is.
func execTargets(ctx context.Context, cmd *cli.Command, opts *capture.Options) ([]capture.Target, error) {
	o, given, err := execOptions(cmd)
	if err != nil || !given {
		return nil, err
	}
	for _, name := range notWithExec {
		if cmd.IsSet(name) {
			return nil, fmt.Errorf("%s: this flag is not for --exec: the program is as its command says, and T is its GOMAXPROCS", name)
		}
	}
	t, err := command.New(ctx, o)
	if err != nil {
		return nil, err
	}
	opts.ProcsRule = "threads"
	return []capture.Target{t}, nil
}

// resolveExec finds the program of a capture that is resumed: its commands must
// have been given again.
func resolveExec(ctx context.Context, cmd *cli.Command, other func(record.Target) (capture.Target, error)) func(record.Target) (capture.Target, error) {
	return func(r record.Target) (capture.Target, error) {
		if r.Kind != "exec" {
			return other(r)
		}
		o, _, err := execOptions(cmd)
		if err != nil {
			return capture.Target{}, err
		}
		if err := o.Same(r); err != nil {
			return capture.Target{}, err
		}
		return command.New(ctx, o)
	}
}

// ofExec says whether a flag is one of --exec's.
func ofExec(name string) bool {
	return slices.ContainsFunc(execFlags(), func(f cli.Flag) bool { return f.Names()[0] == name })
}
