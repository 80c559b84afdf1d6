package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/analyze"
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/check"
	"github.com/scaleprof/scaleprof/internal/diff"
	"github.com/scaleprof/scaleprof/internal/report"
)

func checkCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "hold a capture against thresholds, for CI: exit 3 when one is broken",
		ArgsUsage: "[DIR | report.json]",
		Description: "A threshold is broken only where the whole 95% interval is beyond it. Where the interval is missing or\n" +
			"straddles it the answer is \"cannot tell\", which passes unless --strict is given.\n" +
			"Efficiency is against the lowest T. A loss is what a cause or group grew by between the two T that\n" +
			"explain compares, as a share of the slot time at the higher one; all of them add up to 1 - efficiency.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "min-efficiency", Usage: "at least `70%`"},
			&cli.StringSliceFlag{Name: "max-loss", Usage: "`CAUSE=10%`, a cause or a group such as gc; may be repeated"},
			&cli.StringFlag{Name: "baseline", Usage: "an older capture or its report in JSON, `OLD`"},
			&cli.StringFlag{Name: "max-drop", Usage: "efficiency may fall by `5%` (points) against --baseline (default: 5%)"},
			&cli.IntFlag{Name: "at", Usage: "check this `T` (default: the highest)"},
			&cli.IntFlag{Name: "from", Usage: "count losses from this `T`"},
			&cli.BoolFlag{Name: "strict", Usage: "\"cannot tell\" is a failure, too"},
			&cli.BoolFlag{Name: "force", Usage: "take a baseline of another machine, toolchain or amount of work"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "text, markdown, json"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runCheck(ctx, env, cmd)
		},
	}
}

func runCheck(ctx context.Context, env *environment, cmd *cli.Command) error {
	opt, err := checkOptions(cmd)
	if err != nil {
		return &codedError{code: exitUsage, err: err}
	}
	format := cmd.String("format")
	if !slices.Contains(resultFormats, format) {
		return usagef("unknown format %q; there are %s", format, strings.Join(resultFormats, ", "))
	}
	from := analyze.Options{From: cmd.Int("from"), To: cmd.Int("at")}
	dir, err := captureDir(cmd.Args().Slice())
	if err != nil {
		return err
	}
	r, err := reportOf(ctx, env, dir, from)
	if err != nil {
		return err
	}
	if old := cmd.String("baseline"); old != "" {
		if opt.Baseline, err = reportOf(ctx, env, old, analyze.Options{}); err != nil {
			return err
		}
		if err := comparable(env, opt.Baseline, r, cmd.Bool("force")); err != nil {
			return err
		}
	}
	result := check.Check(r, *opt)
	if err := writeResult(env.Stdout, env, format, "scaleprof check: "+string(result.Outcome), result.Lines(), result); err != nil {
		return err
	}
	switch {
	case result.Outcome == check.Broken:
		return &codedError{code: exitThreshold, err: errors.New("a threshold is broken")}
	case result.Outcome == check.CannotTell && cmd.Bool("strict"):
		return &codedError{code: exitThreshold, err: errors.New("a threshold cannot be judged, and --strict was given")}
	}
	return nil
}

// resultFormats are the forms of check's and diff's results.
var resultFormats = []string{"text", "markdown", "json"}

func writeResult(w io.Writer, env *environment, format, title string, lines []report.Line, v any) error {
	switch format {
	case "json":
		return report.WriteJSON(w, v)
	case "markdown":
		return report.MarkdownLines(w, title, lines)
	}
	return report.Lines(w, title, lines, textOptions(env, w))
}

func checkOptions(cmd *cli.Command) (*check.Options, error) {
	opt := &check.Options{At: cmd.Int("at"), MaxLoss: map[string]float64{}}
	if text := cmd.String("min-efficiency"); text != "" {
		v, err := fraction("min-efficiency", text)
		if err != nil {
			return nil, err
		}
		opt.MinEfficiency = &v
	}
	for _, text := range cmd.StringSlice("max-loss") {
		name, limit, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("max-loss: want CAUSE=10%%, not %q", text)
		}
		v, err := fraction("max-loss", limit)
		if err != nil {
			return nil, err
		}
		if cause.GroupTitle(name) == name {
			if _, err := cause.Find(name); err != nil {
				return nil, fmt.Errorf("max-loss: %w", err)
			}
		}
		if _, twice := opt.MaxLoss[name]; !twice {
			opt.Order = append(opt.Order, name)
		}
		opt.MaxLoss[name] = v
	}
	if cmd.String("baseline") != "" {
		v := 0.05
		if text := cmd.String("max-drop"); text != "" {
			var err error
			if v, err = fraction("max-drop", text); err != nil {
				return nil, err
			}
		}
		opt.MaxDrop = &v
	} else if cmd.String("max-drop") != "" {
		return nil, errors.New("--max-drop needs --baseline OLD")
	}
	if opt.MinEfficiency == nil && len(opt.Order) == 0 && opt.MaxDrop == nil {
		return nil, errors.New("nothing to check: give --min-efficiency, --max-loss or --baseline")
	}
	return opt, nil
}

// reportOf explains a capture, or reads a report that was stored as JSON.
func reportOf(ctx context.Context, env *environment, name string, opt analyze.Options) (*report.Report, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return explain(ctx, env, name, opt, false)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a capture nor a report in JSON", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		return nil, withHint(fmt.Errorf("%s: %w", name, err), "`scaleprof explain DIR --format json -o "+name+"` writes one")
	}
	return r, nil
}

// comparable refuses reports that cannot be compared; forced, it warns instead.
func comparable(env *environment, before, after *report.Report, force bool) error {
	all := diff.Mismatches(before, after)
	if len(all) == 0 {
		return nil
	}
	if force {
		for _, m := range all {
			fmt.Fprintf(env.Stderr, "scaleprof: warning: compared although they differ in %q\n", m.String())
		}
		return nil
	}
	var parts []string
	for _, m := range all {
		parts = append(parts, fmt.Sprintf("%q", m.String()))
	}
	return withHint(usagef("the two captures cannot be compared, they differ in %s", strings.Join(parts, ", ")),
		"capture both alike (--ops N fixes the work, --procs GOMAXPROCS), or --force")
}
