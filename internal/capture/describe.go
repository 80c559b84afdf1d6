package capture

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Describe writes what Run would do, without running anything: cells, arms,
// blocks and a rough time, in lines of at most 80 columns. The time stands on
// the workloads' first guesses of their own speed.
func Describe(out io.Writer, opts Options) error {
	if err := opts.check(); err != nil {
		return refuse(err)
	}
	defer opts.end()
	s := newSession(&opts)
	s.guess()
	if err := s.makeCells(); err != nil {
		return refuse(err)
	}
	s.settleBudget()
	var b strings.Builder
	s.describe(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func (s *session) describe(b *strings.Builder) {
	p := &s.m.Plan
	fmt.Fprintf(b, "targets    %s\n", join(p.Targets, func(t record.Target) string { return t.Name }))
	fmt.Fprintf(b, "threads    %s on %d CPUs\n", join(p.Threads, func(t int) string { return fmt.Sprint(t) }), s.plan.info.CPUs)
	fmt.Fprintf(b, "modes      %s\n", join(p.Modes, func(m record.Mode) string { return string(m) }))
	fmt.Fprintf(b, "procs      %s\n", p.ProcsRule)
	fmt.Fprintf(b, "clock      %s\n", p.Clock)
	for _, t := range p.Targets {
		ops := fmt.Sprintf("calibrated to %s at T=%d", s.windowWanted(), s.pilotThreads())
		if t.Ops > 0 {
			ops = fmt.Sprint(t.Ops)
		}
		fmt.Fprintf(b, "ops        %s: %s, the same at every T\n", t.Name, ops)
	}
	fmt.Fprintf(b, "recorders  %s\n", strings.Join(p.Profiles, ", "))
	arms := strings.Join(p.Arms[1:], ", ")
	switch {
	case p.ArmsAuto:
		arms = "those that test the top causes, chosen after the pilot blocks"
	case arms == "":
		arms = "none"
	}
	fmt.Fprintf(b, "arms       %s\n", arms)
	switch {
	case p.Blocks > 0:
		fmt.Fprintf(b, "blocks     %d\n", p.Blocks)
	default:
		fmt.Fprintf(b, "blocks     until every efficiency is known to ±%g%%, or the budget is used\n", 100*p.Precision)
	}
	fmt.Fprintf(b, "seed       %d\n", p.Seed)
	fmt.Fprintf(b, "\n%d cells:\n", len(s.m.Cells))
	for _, c := range s.m.Cells {
		fmt.Fprintf(b, "  %-44s GOMAXPROCS %d", c.ID, c.Procs)
		for _, e := range c.Env {
			fmt.Fprintf(b, "  %s", e)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "\none block  about %s\n", s.blockCost().Round(time.Second))
	for _, kind := range extraKinds() {
		n, cells := 0, 0
		for _, c := range s.m.Cells {
			if w := s.wanted(&c, kind); w > 0 {
				n, cells = n+w, cells+1
			}
		}
		if n > 0 {
			fmt.Fprintf(b, "extra      %d %s runs of %d cells\n", n, kind, cells)
		}
	}
	fmt.Fprintf(b, "%d blocks   about %s\n", s.plannedBlocks(), s.estimate().Round(time.Second))
	if p.Blocks == 0 {
		fmt.Fprintf(b, "budget     %s\n", s.budget().Round(time.Second))
	}
}

func join[T any](all []T, text func(T) string) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = text(v)
	}
	return strings.Join(parts, ", ")
}
