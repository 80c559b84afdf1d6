package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/export"
	"github.com/scaleprof/scaleprof/internal/record"
)

func exportCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write the loss, or any pprof file, for flame-graph tools",
		ArgsUsage: "[DIR | FILE]",
		Description: "Without an argument, the loss profile of the newest capture here.\n\n" +
			"A loss profile has call paths that cost less at the peak than at the base. Flame graphs\n" +
			"cannot draw those, so \"folded\" leaves them out and says so (--shrunk writes them instead),\n" +
			"\"difffolded\" has base and peak side by side, and \"speedscope\" has both as profiles of their own.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "folded", Usage: "folded, difffolded, speedscope"},
			&cli.StringFlag{Name: "sample", Usage: "sample `TYPE`: excess, base, peak, cores_lost, … (default: the profile's)"},
			&cli.StringFlag{Name: "root", Usage: "`LABELS` that become the outermost frames, or none (default: cause, where the profile has it)"},
			&cli.BoolFlag{Name: "shrunk", Usage: "with folded: the call paths that shrank, by how much"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - for stdout"},
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			file, err := exportFile(cmd.Args().Slice())
			if err != nil {
				return err
			}
			p, err := readProfileFile(file)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := exportAs(env, &text, p, file, cmd); err != nil {
				return err
			}
			output := cmd.String("output")
			if output == "" || output == "-" {
				_, err = env.Stdout.Write(text.Bytes())
				return err
			}
			return writeFile(output, func(w io.Writer) error {
				_, err := w.Write(text.Bytes())
				return err
			})
		},
	}
}

// exportAs writes p in the format that the flags ask for.
func exportAs(env *environment, w io.Writer, p *profile.Profile, file string, cmd *cli.Command) error {
	format, shrunk := cmd.String("format"), cmd.Bool("shrunk")
	if shrunk && format != "folded" {
		return usagef("--shrunk is for --format folded; %s shows what shrank by itself", format)
	}
	opt := export.Options{Sample: cmd.String("sample"), Roots: words(cmd.String("root"))}
	switch {
	case !cmd.IsSet("root") && export.HasLabel(p, "cause"):
		opt.Roots = []string{"cause"}
	case len(opt.Roots) == 1 && opt.Roots[0] == "none":
		opt.Roots = nil
	}
	var err error
	switch format {
	case "folded":
		var left export.Left
		left, err = export.Folded(w, p, opt, shrunk)
		if err == nil && left.Paths > 0 && !shrunk {
			by := fmt.Sprintf("%d %s", -left.Sum, left.Unit)
			if left.Unit == "nanoseconds" {
				by = time.Duration(-left.Sum).String()
			}
			fmt.Fprintf(env.Stderr, "scaleprof: warning: %d call paths shrank, by %s in all, and are left out: flame graphs cannot draw less than nothing\n", left.Paths, by)
			fmt.Fprintln(env.Stderr, "scaleprof: hint: --shrunk writes them instead, --format difffolded both sides")
		}
	case "difffolded":
		if opt.Sample != "" {
			return usagef("--format difffolded has base and peak; --sample has no place in it")
		}
		err = export.DiffFolded(w, p, opt.Roots)
	case "speedscope":
		err = export.Speedscope(w, p, filepath.Base(file), opt)
	default:
		return usagef("unknown format %q; there are folded, difffolded, speedscope", format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// exportFile is the pprof file that the arguments name: itself, or the loss
// profile of a capture.
func exportFile(args []string) (string, error) {
	dir, err := captureDir(args)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return dir, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, record.OutDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "loss.") && strings.HasSuffix(name, ".pb.gz") {
			found = append(found, filepath.Join(dir, record.OutDir, name))
		}
	}
	switch len(found) {
	case 0:
		return "", withHint(fmt.Errorf("%s has no loss profile", dir), "`scaleprof explain "+dir+"` writes it, where profiles were taken")
	case 1:
		return found[0], nil
	}
	return "", withHint(usagef("%s has %d loss profiles: name one of %s", dir, len(found), strings.Join(found, ", ")), "scaleprof export "+found[0])
}

func readProfileFile(name string) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := record.ReadProfile(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return p, nil
}
