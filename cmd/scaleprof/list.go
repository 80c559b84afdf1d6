package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/workload"
	"github.com/scaleprof/scaleprof/internal/workload/builtin"
)

func listCommand(env *environment) *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "show the built-in workloads, their parameters and the causes that the lab's are known to have",
		ArgsUsage: "[PART OF A NAME…]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			registry := builtin.All()
			chosen, err := chooseWorkloads(registry, cmd.Args().Slice())
			if err != nil {
				return err
			}
			switch format := cmd.String("format"); format {
			case "text":
				return listText(env.Stdout, chosen)
			case "json":
				return listJSON(env.Stdout, chosen)
			default:
				return usagef("unknown format %q; list knows text and json", format)
			}
		},
	}
}

// chooseWorkloads keeps those whose name contains any of the given parts.
func chooseWorkloads(registry *workload.Registry, parts []string) ([]workload.Info, error) {
	var chosen []workload.Info
	for _, w := range registry.All() {
		info := w.Info()
		if len(parts) == 0 || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(info.Name, p) }) {
			chosen = append(chosen, info)
		}
	}
	if len(chosen) == 0 {
		_, err := registry.Lookup(parts[0])
		return nil, &codedError{code: exitUsage, err: err}
	}
	return chosen, nil
}

// lineWidth is what text output fits, in columns.
const lineWidth = 80

// listText writes a table 80 columns wide, then the parameters, each once.
func listText(out io.Writer, chosen []workload.Info) error {
	width, widest := 0, len("loses to") // of the first two columns
	for _, info := range chosen {
		width = max(width, len(info.Name))
		widest = max(widest, len(info.Expect))
	}
	width += widest + 2*len("  ")
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft = ""
	t.Style().Box.PaddingRight = "  "
	t.Style().Format.Header = text.FormatDefault
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 3, WidthMax: lineWidth - width, WidthMaxEnforcer: text.WrapSoft},
	})
	t.AppendHeader(table.Row{"workload", "loses to", "what it does"})
	for _, info := range chosen {
		what := info.Title
		if info.Unavailable != "" {
			what += "; cannot run here: " + info.Unavailable
		}
		t.AppendRow(table.Row{info.Name, orDash(info.Expect), what})
	}
	for line := range strings.Lines(t.Render() + "\n") {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return listParams(out, chosen)
}

// listParams writes each parameter once, with the workloads that take it.
func listParams(out io.Writer, chosen []workload.Info) error {
	type param struct{ name, meaning string }
	takers := map[param][]string{}
	for _, info := range chosen {
		for name, meaning := range info.Params {
			takers[param{name, meaning}] = append(takers[param{name, meaning}], info.Name)
		}
	}
	if len(takers) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out, "\nparameters"); err != nil {
		return err
	}
	params := slices.SortedFunc(maps.Keys(takers), func(a, b param) int { return strings.Compare(a.name+a.meaning, b.name+b.meaning) })
	for _, p := range params {
		for line := range strings.Lines(text.WrapSoft(p.name+": "+p.meaning+". For "+strings.Join(families(takers[p], chosen), ", "), lineWidth-4) + "\n") {
			if _, err := fmt.Fprintln(out, "  "+strings.TrimRight(line, " \n")); err != nil {
				return err
			}
		}
	}
	return nil
}

// families shortens names to "json/*" where all that are chosen of a family are there.
func families(names []string, chosen []workload.Info) []string {
	of := func(name string) string { family, _, _ := strings.Cut(name, "/"); return family }
	all, here := map[string]int{}, map[string]int{}
	for _, info := range chosen {
		all[of(info.Name)]++
	}
	for _, name := range names {
		here[of(name)]++
	}
	var short []string
	for _, name := range names {
		if family := of(name); here[family] > 1 && here[family] == all[family] {
			name = family + "/*"
		}
		if !slices.Contains(short, name) {
			short = append(short, name)
		}
	}
	return short
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// listedWorkload is a workload in `scaleprof list --format json`.
type listedWorkload struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Expect      *string           `json:"expected_cause"` // null where no cause is known by construction
	Twin        *string           `json:"twin"`
	Library     *string           `json:"library"`
	Version     *string           `json:"version"`
	Params      map[string]string `json:"parameters"`
	Unavailable *string           `json:"unavailable"` // why this machine cannot run it
}

func listJSON(out io.Writer, chosen []workload.Info) error {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	listed := make([]listedWorkload, 0, len(chosen))
	for _, info := range chosen {
		params := info.Params
		if params == nil {
			params = map[string]string{}
		}
		listed = append(listed, listedWorkload{
			Name: info.Name, Title: info.Title, Expect: orNull(info.Expect), Twin: orNull(info.Twin),
			Library: orNull(info.Library), Version: orNull(workload.Versions(info.Library)[info.Library]),
			Params: params, Unavailable: orNull(info.Unavailable),
		})
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string][]listedWorkload{"workloads": listed})
}
