package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/analyze"
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

func explainCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say where the cores went in a capture",
		ArgsUsage: "[DIR]",
		Description: "Without DIR, the newest capture here. The result goes to stdout, or to -o FILE.\n" +
			"Annotated profiles are written to the capture's out/.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "from", Usage: "compare from this `T`"},
			&cli.IntFlag{Name: "to", Usage: "compare to this `T`"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: strings.Join(report.Formats(), ", ")},
			&cli.BoolFlag{Name: "brief", Usage: "text without the details: what ends a capture"},
			&cli.StringFlag{Name: "cause", Usage: "print the catalogue's entry of a cause `ID`"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - for stdout"},
			&cli.BoolFlag{Name: "no-files", Usage: "do not write annotated profiles to out/"},
		}, timelineFlags()...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if id := cmd.String("cause"); id != "" {
				return explainCause(env, id)
			}
			if err := checkTimeline(cmd); err != nil {
				return err
			}
			format := cmd.String("format")
			if !report.Known(format) {
				return usagef("unknown format %q; there are %s", format, strings.Join(report.Formats(), ", "))
			}
			if cmd.Bool("brief") && format != "text" {
				return usagef("--brief is of the text; --format %s is whole", format)
			}
			dir, err := captureDir(cmd.Args().Slice())
			if err != nil {
				return err
			}
			if cmd.Bool("timeline") {
				return explainTimeline(ctx, cmd, env, dir)
			}
			r, err := explain(ctx, env, dir, analyze.Options{From: cmd.Int("from"), To: cmd.Int("to")}, !cmd.Bool("no-files"))
			if err != nil {
				return err
			}
			if format == "html" {
				attachLoss(r, dir)
			}
			return render(env, r, format, cmd.String("output"), cmd.Bool("brief"))
		},
	}
}

// captureDir is the capture that the arguments name, or the newest one here.
func captureDir(args []string) (string, error) {
	switch len(args) {
	case 0:
		dir, err := record.FindNewest(".")
		if err != nil {
			return "", withHint(err, "`scaleprof capture` makes one")
		}
		return dir, nil
	case 1:
		return args[0], nil
	}
	return "", usagef("one capture at a time: %q and %q were given", args[0], args[1])
}

// explain loads and analyzes a capture, and writes the annotated profiles where
// it may.
func explain(ctx context.Context, env *environment, dir string, opt analyze.Options, files bool) (*report.Report, error) {
	c, err := record.Load(dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if files {
		opt.OutDir = filepath.Join(dir, record.OutDir)
	}
	if self, err := os.Executable(); err == nil {
		opt.Self = self
	}
	r, err := analyze.Explain(ctx, c, opt)
	var pair *analyze.PairError
	if errors.As(err, &pair) {
		return nil, &codedError{code: exitUsage, err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r.Capture = dir
	return report.Cleaned(r), nil
}

// render writes a report where the user wants it. A file appears whole or not at all.
func render(env *environment, r *report.Report, format, output string, brief bool) error {
	if output == "" || output == "-" {
		opt := textOptions(env, env.Stdout)
		opt.Brief = brief
		return report.Write(env.Stdout, r, format, opt)
	}
	return writeFile(output, func(w io.Writer) error {
		return report.Write(w, r, format, report.TextOptions{Brief: brief})
	})
}

// writeFile writes a temporary file beside name and renames it.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	err = write(f)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", name, err), os.Remove(f.Name()))
	}
	return nil
}

func explainCause(env *environment, id string) error {
	if id == "list" {
		return report.CauseList(env.Stdout, cause.All())
	}
	e, err := cause.Find(id)
	if err != nil {
		return &codedError{code: exitUsage, err: err}
	}
	return report.CauseText(env.Stdout, e, textOptions(env, env.Stdout))
}
