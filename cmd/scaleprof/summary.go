package main

import (
	"context"

	"github.com/scaleprof/scaleprof/internal/analyze"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// summarise ends `scaleprof capture` with the explanation of what it captured.
func summarise(ctx context.Context, env *environment, dir string) error {
	r, err := explain(ctx, env, dir, analyze.Options{}, true)
	if err != nil {
		return err
	}
	opt := textOptions(env, env.Stdout)
	opt.Brief = true
	return report.Text(env.Stdout, r, opt)
}

// chooseArms names the arms that test the top causes of a capture so far.
func chooseArms(ctx context.Context, dir string) ([]string, error) {
	c, err := record.Load(dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return analyze.ChooseArms(ctx, c)
}
