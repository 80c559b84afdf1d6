package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/capture/child"
	"github.com/scaleprof/scaleprof/internal/workload/builtin"
)

// childCommand is what `scaleprof capture` starts for each process of a run.
func childCommand() *cli.Command {
	return &cli.Command{
		Name:   capture.SelfCommand,
		Usage:  "run one process's share of a workload (started by capture)",
		Hidden: true,
		Action: func(context.Context, *cli.Command) error { return child.Run(builtin.All()) },
	}
}
