package analyze

import (
	"path"
	"strconv"
	"strings"

	"github.com/scaleprof/scaleprof/internal/annotate"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// evidence fills the catalogue's commands with the files of this capture,
// relative to its directory. A command whose file the capture lacks is left out.
func evidence(commands []string, e *explained, have map[string]bool) []string {
	out := []string{}
	a := describe(e.p.peak)
	file := func(kind string) string {
		if kind == "loss" {
			return path.Join(record.OutDir, annotate.LossName(a, e.c.Base))
		}
		return path.Join(record.OutDir, annotate.FileName(kind, a))
	}
	files := map[string]string{
		"{cpu}": file("cpu"), "{mutex}": file("mutex"), "{block}": file("block"), "{wall}": file("wall"), "{allocs}": file("allocs"),
		"{slots}": file("slots"), "{blame}": file("blame"), "{loss}": file("loss"), "{trace}": traceOf(e.p.peak),
	}
	numbers := strings.NewReplacer("{base}", strconv.Itoa(e.c.Base), "{peak}", strconv.Itoa(e.c.Peak), "{target}", e.c.Target)
	for _, c := range commands {
		missing := false
		for name, f := range files {
			if strings.Contains(c, name) {
				missing = missing || f == "" || name != "{trace}" && have != nil && !have[f]
				c = strings.ReplaceAll(c, name, f)
			}
		}
		if !missing {
			out = append(out, numbers.Replace(c))
		}
	}
	return out
}

// traceOf is the trace of a cell's first profiled run.
func traceOf(c *cell) string {
	for _, r := range c.profiledRuns {
		for _, f := range r.Find("trace") {
			return f.Path
		}
	}
	return ""
}

// fileSet are the paths of the files that were written, nil where none were asked for.
func fileSet(files []report.File) map[string]bool {
	if len(files) == 0 {
		return nil
	}
	set := map[string]bool{}
	for _, f := range files {
		set[f.Path] = true
	}
	return set
}
