package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/host/doctor"
)

func doctorCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine means for measuring on it, and what to change",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "exit 1 when something would spoil a measurement"},
			&cli.BoolFlag{Name: "ceiling", Usage: "also run the calibration kernels (a few seconds)"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.StringFlag{Name: "root", Value: "/", Usage: "read a copy of another machine's /proc and /sys below `DIR`"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runDoctor(ctx, env, cmd)
		},
	}
}

func runDoctor(ctx context.Context, env *environment, cmd *cli.Command) error {
	if cmd.Args().Present() {
		return usagef("doctor takes no arguments, got %q", cmd.Args().First())
	}
	format, root := cmd.String("format"), cmd.String("root")
	if format != "text" && format != "json" {
		return usagef("unknown format %q; doctor knows text and json", format)
	}
	if s, err := os.Stat(root); err != nil || !s.IsDir() {
		return usagef("--root %s is no directory", root)
	}
	r, err := doctor.Examine(ctx, doctor.Options{Root: root, Ceiling: cmd.Bool("ceiling")})
	if err != nil {
		return err
	}
	if format == "json" {
		enc := json.NewEncoder(env.Stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		opt := textOptions(env, env.Stdout)
		err = r.Text(env.Stdout, doctor.TextOptions{Width: opt.Width, Color: opt.Color})
	}
	if err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	if n := r.Bad(); n > 0 && cmd.Bool("strict") {
		return fmt.Errorf("%d of the findings would spoil a measurement", n)
	}
	return nil
}
