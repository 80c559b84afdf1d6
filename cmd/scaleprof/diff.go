package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/analyze"
	"github.com/scaleprof/scaleprof/internal/diff"
)

func diffCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "did a change help, at which T, by which cause",
		ArgsUsage: "OLD NEW",
		Description: "OLD and NEW are captures, or reports stored with `explain --format json`. Every difference has an\n" +
			"interval made of both captures' own; what lies within it is noise. Different machines, Go versions or\n" +
			"amounts of work are refused without --force.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "from", Usage: "compare losses from this `T`"},
			&cli.IntFlag{Name: "to", Usage: "compare losses up to this `T`"},
			&cli.StringSliceFlag{Name: "map", Usage: "`OLD=NEW`: the target OLD is called NEW now; may be repeated"},
			&cli.BoolFlag{Name: "force", Usage: "compare other machines, toolchains or amounts of work all the same"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: strings.Join(resultFormats, ", ")},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			args := cmd.Args().Slice()
			if len(args) != 2 {
				return usagef("want two captures, OLD and NEW; %d were given", len(args))
			}
			format := cmd.String("format")
			if !slices.Contains(resultFormats, format) {
				return usagef("unknown format %q; there are %s", format, strings.Join(resultFormats, ", "))
			}
			opt := analyze.Options{From: cmd.Int("from"), To: cmd.Int("to")}
			before, err := reportOf(ctx, env, args[0], opt)
			if err != nil {
				return err
			}
			after, err := reportOf(ctx, env, args[1], opt)
			if err != nil {
				return err
			}
			for _, m := range cmd.StringSlice("map") {
				o, n, ok := strings.Cut(m, "=")
				if !ok || !diff.Rename(before, o, n) {
					return usagef("map: want OLD=NEW with a target of %s, not %q", args[0], m)
				}
			}
			if err := comparable(env, before, after, cmd.Bool("force")); err != nil {
				return err
			}
			d := diff.Compare(before, after)
			d.Mismatches = append(d.Mismatches, diff.Mismatches(before, after)...)
			if len(d.Pairs) == 0 {
				return withHint(usagef("%s and %s have no target and mode in common", args[0], args[1]), "--map OLD=NEW says which target is which")
			}
			return writeResult(env.Stdout, env, format, "scaleprof diff: "+args[0]+" to "+args[1], d.Lines(), d)
		},
	}
}
