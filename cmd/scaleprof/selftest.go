package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/selftest"
	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/builtin"
)

// quickSet is what `selftest --quick` looks at: one of each kind.
func quickSet() []string {
	return []string{"lab/compute", "lab/mutex", "lab/channel-handoff", "lab/alloc-small", "lab/atomic-counter", "lab/serial-phase", "lab/tail"}
}

func selftestCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:  "selftest",
		Usage: "does this tool tell the truth on this machine?",
		Description: "Captures workloads whose cause is known by construction, explains them, and compares. Exits 1 when a\n" +
			"cause is named wrongly or a control is blamed.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "a subset, about three minutes"},
			&cli.StringFlag{Name: "only", Usage: "`NAMES` of lab workloads, separated by commas"},
			&cli.StringFlag{Name: "keep", Usage: "keep the captures in `DIR`"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.StringFlag{Name: "set", Value: "lab", Usage: "`SET` lab, or unseen: other workloads, on which nothing was tuned"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return runSelftest(ctx, cmd, env) },
	}
}

func runSelftest(ctx context.Context, cmd *cli.Command, env *environment) error {
	format := cmd.String("format")
	if format != "text" && format != "json" {
		return usagef("unknown format %q; want text or json", format)
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding scaleprof's own file: %w", err)
	}
	reg := builtin.All()
	names := labNames(reg, cmd.String("set"))
	switch {
	case len(names) == 0:
		return usagef("unknown set %q; want lab or unseen", cmd.String("set"))
	case cmd.String("only") != "":
		names = words(cmd.String("only"))
		for i, n := range names {
			if _, err := reg.Lookup(cmd.String("set") + "/" + n); err == nil {
				names[i] = cmd.String("set") + "/" + n
				continue
			}
			if _, err := reg.Lookup(n); err != nil {
				return &codedError{code: exitUsage, err: err}
			}
		}
	case cmd.Bool("quick"):
		names = quickSet()
	}
	if dir := cmd.String("keep"); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("keeping captures: %w", err)
		}
	}
	opt := selftest.Options{
		Registry: reg, Names: names, Exe: exe, CPUs: usableCPUs(), Blocks: 6, Window: 250 * time.Millisecond,
		Budget: 40 * time.Second, Dir: cmd.String("keep"), Version: version(),
	}
	var outcomes []selftest.Outcome
	table := report.NewSelftest(env.Stdout, textOptions(env, env.Stdout))
	err = selftest.Run(ctx, opt, func(o selftest.Outcome) {
		outcomes = append(outcomes, o)
		fmt.Fprintf(env.Stderr, "scaleprof: selftest: %s (%d of %d)\n", o.Name, len(outcomes), len(names))
		if format == "text" {
			table.Row(row(o))
		}
	})
	if format == "json" {
		enc := json.NewEncoder(env.Stdout)
		enc.SetIndent("", "  ")
		err = errors.Join(err, enc.Encode(outcomes))
	}
	if err != nil {
		return err
	}
	wrong := 0
	for _, o := range outcomes {
		if o.Status == selftest.Wrong {
			wrong++
		}
	}
	if format == "text" {
		table.End(tally(outcomes))
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d workloads were explained wrongly", wrong, len(outcomes))
	}
	return nil
}

// labNames are the workloads of a set that have a fixed twin or are controls.
func labNames(reg *workload.Registry, set string) []string {
	var out []string
	for _, n := range reg.Names() {
		if strings.HasPrefix(n, set+"/") && !strings.HasSuffix(n, "/fixed") {
			out = append(out, n)
		}
	}
	return out
}

func row(o selftest.Outcome) report.SelftestRow {
	return report.SelftestRow{
		Name: o.Name, Expected: o.Expected, Named: o.Named, Status: string(o.Status), Why: o.Why,
		Bad: o.Bad, Fixed: o.Fixed, Predicted: o.Predicted, Closure: o.Closure,
	}
}

func tally(outcomes []selftest.Outcome) map[string]int {
	out := map[string]int{}
	for _, o := range outcomes {
		out[string(o.Status)]++
	}
	return out
}
