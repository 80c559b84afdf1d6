package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/imports"
	"github.com/scaleprof/scaleprof/internal/record"
)

func importCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "make a capture of `go test -bench -cpu` output, loose profiles and traces, or the scalability test's log",
		ArgsUsage: "FILES…",
		Description: "What a file is, is told from its contents; - is standard input, for text. The T of a profile\n" +
			"or trace comes from --t, its name (cpu_t8.pprof), its label \"threads\", or the trace's GOMAXPROCS.\n" +
			"What no file says stays unknown; a warning tells what therefore cannot be known.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the capture to `DIR`; it must not exist (default: FILE's name with .scaleprof)"},
			&cli.StringSliceFlag{Name: "t", Usage: "`N=FILE`: the profile or trace FILE is of T = N"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the program that loose profiles and traces are of"},
			&cli.IntFlag{Name: "cpus", Usage: "the figures are from a machine with `N` logical CPUs"},
			&cli.IntFlag{Name: "physical-cores", Aliases: []string{"cpu-cores"}, Usage: "… and with `N` physical cores"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			opts, err := importOptions(cmd, env)
			if err != nil {
				return err
			}
			im, err := imports.Read(ctx, opts)
			if err != nil {
				return err
			}
			dir := cmd.String("output")
			if dir == "" {
				dir = importName(opts.Sources[0].Path)
			}
			if err := writeImport(im, dir); err != nil {
				return err
			}
			for _, w := range im.Manifest.Warnings {
				fmt.Fprintf(env.Stderr, "scaleprof: warning: %s\n", w.Text)
			}
			fmt.Fprintf(env.Stderr, "scaleprof: hint: scaleprof explain %s\n", dir)
			_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", dir, importSummary(im.Manifest))
			return err
		},
	}
}

// importOptions gathers the sources: plain arguments, and those whose T is given.
func importOptions(cmd *cli.Command, env *environment) (imports.Options, error) {
	opts := imports.Options{
		Name: cmd.String("name"), CPUs: cmd.Int("cpus"), PhysicalCores: cmd.Int("physical-cores"),
		Stdin: env.Stdin, Now: time.Now().UTC(), Command: os.Args, Scaleprof: version(),
	}
	for _, name := range []string{"cpus", "physical-cores"} {
		if n := cmd.Int(name); cmd.IsSet(name) && n < 1 {
			return opts, usagef("--%s %d: a machine has at least 1", name, n)
		}
	}
	for _, file := range cmd.Args().Slice() {
		opts.Sources = append(opts.Sources, imports.Source{Path: file})
	}
	for _, pair := range cmd.StringSlice("t") {
		number, file, ok := strings.Cut(pair, "=")
		threads, err := strconv.Atoi(number)
		if !ok || err != nil || threads < 1 || file == "" {
			return opts, usagef("--t %s: want N=FILE, with N at least 1", pair)
		}
		opts.Sources = append(opts.Sources, imports.Source{Path: file, Threads: threads})
	}
	if len(opts.Sources) == 0 {
		return opts, usagef("nothing to import: name the files")
	}
	return opts, nil
}

// writeImport writes a new directory, and leaves none behind when it fails.
func writeImport(im *imports.Import, dir string) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return withHint(fmt.Errorf("%s exists already", dir), "name another directory with -o")
	}
	store, err := record.Create(dir)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, store.Close())
		if err != nil {
			err = errors.Join(err, os.RemoveAll(store.Dir()))
		}
	}()
	return im.Write(store)
}

// importName is the capture's directory, here, by the first file's name.
func importName(file string) string {
	if file == "-" {
		file = "imported"
	}
	base := filepath.Base(file)
	for ext := filepath.Ext(base); ext != "" && ext != base; ext = filepath.Ext(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return base + ".scaleprof"
}

// importSummary is "4 series, 24 timed runs, 3 profiled".
func importSummary(m *record.Manifest) string {
	type series struct {
		target string
		mode   record.Mode
	}
	all := map[series]bool{}
	for _, c := range m.Cells {
		all[series{c.Target, c.Mode}] = true
	}
	timed := 0
	for _, r := range m.Runs {
		if r.Kind == record.Timed {
			timed++
		}
	}
	return fmt.Sprintf("%d series, %d timed runs, %d runs with profiles", len(all), timed, len(m.Runs)-timed)
}
