package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/analyze/timeline"
	"github.com/scaleprof/scaleprof/internal/record"
)

// timelineFlags belong to explain --timeline.
func timelineFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "timeline", Usage: "draw what each worker did, from the trace of one cell"},
		&cli.IntFlag{Name: "threads", Usage: "the timeline of this `T` (default: the highest)"},
		&cli.StringFlag{Name: "mode", Usage: "… of this `MODE`: thread or process"},
		&cli.StringFlag{Name: "target", Usage: "… of this `TARGET` (default: the first)"},
		&cli.DurationFlag{Name: "at", Usage: "begin the timeline at this `TIME` of the window, such as 100ms"},
		&cli.DurationFlag{Name: "for", Usage: "… and let it cover this much `TIME` (default: to the end)"},
	}
}

// checkTimeline refuses flags of the timeline without it, and those of a report with it.
func checkTimeline(cmd *cli.Command) error {
	names, other := []string{"threads", "mode", "target", "at", "for"}, "needs --timeline"
	if cmd.Bool("timeline") {
		names, other = []string{"from", "to", "format"}, "is of the report, not of --timeline"
	}
	for _, name := range names {
		if cmd.IsSet(name) {
			return usagef("--%s %s", name, other)
		}
	}
	return nil
}

func explainTimeline(ctx context.Context, cmd *cli.Command, env *environment, dir string) error {
	sel := timeline.Selection{Target: cmd.String("target"), Mode: record.Mode(cmd.String("mode")), Threads: cmd.Int("threads")}
	if sel.Mode != "" && sel.Mode != record.Thread && sel.Mode != record.Process {
		return usagef("--mode %s: want thread or process", sel.Mode)
	}
	if sel.Threads < 0 || cmd.IsSet("threads") && sel.Threads == 0 {
		return usagef("--threads %d: T is at least 1", sel.Threads)
	}
	if cmd.IsSet("for") && cmd.Duration("for") <= 0 {
		return usagef("--for %s: a timeline covers more than nothing", cmd.Duration("for"))
	}
	c, err := record.Load(dir)
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := timeline.Pick(c, sel)
	if err != nil {
		var none *timeline.SelectionError
		if errors.As(err, &none) {
			return &codedError{code: exitUsage, err: fmt.Errorf("%s: %w", dir, err)}
		}
		return withHint(fmt.Errorf("%s: %w", dir, err), "`scaleprof capture` records traces unless --profiles leaves them out")
	}
	draw := func(w io.Writer) error {
		opt := textOptions(env, w)
		t, err := timeline.Read(ctx, p.Sources, timeline.Options{
			At: cmd.Duration("at"), For: cmd.Duration("for"), Columns: max(opt.Width-timeline.NameWidth, 1),
		})
		if err != nil {
			var stretch *timeline.StretchError
			if errors.As(err, &stretch) {
				return &codedError{code: exitUsage, err: err}
			}
			return fmt.Errorf("%s: run %d: %w", dir, p.Run.ID, err)
		}
		for _, text := range t.Warnings {
			fmt.Fprintf(env.Stderr, "scaleprof: warning: run %d: %s\n", p.Run.ID, text)
		}
		if _, err := fmt.Fprintf(w, "%s, %s mode, T=%d: run %d, lanes are %s\n\n", p.Cell.Target, p.Cell.Mode, p.Cell.Threads, p.Run.ID, t.LanesOf); err != nil {
			return err
		}
		return t.Write(w, timeline.Style{Width: opt.Width, Color: opt.Color, ASCII: opt.ASCII})
	}
	if output := cmd.String("output"); output != "" && output != "-" {
		return writeFile(output, draw)
	}
	return draw(env.Stdout)
}
