package report

import (
	"fmt"
	"math"
)

// Breakdown is where the time of a target went at each T, from profiles without
// timings at constant work. Shares are of each T's own time: they say what the
// program did with its cores, not what was lost from one T to another.
type Breakdown struct {
	Target  string         `json:"target"`
	Mode    string         `json:"mode"`
	Unit    string         `json:"unit"` // "slot time", "P-seconds" where lanes are Ps, "CPU time" without a trace
	Threads []int          `json:"threads"`
	Rows    []BreakdownRow `json:"rows"` // largest at the highest T first
}

// BreakdownRow is one cause's share at each T, and its call paths at the highest.
type BreakdownRow struct {
	Cause  string          `json:"cause"`
	Group  string          `json:"group"`
	Shares []float64       `json:"shares"` // as Breakdown.Threads; each T's add up to 1
	Paths  []BreakdownPath `json:"paths"`
}

// BreakdownPath is one call path, leaf first, with its share of all time.
type BreakdownPath struct {
	Frames []string `json:"frames"`
	Source string   `json:"source,omitempty"`
	Share  float64  `json:"share"`
}

// smallShare is the share of time below which rows and paths are not shown.
const smallShare = 0.005

// breakdown prints a table of shares.
func (t *textWriter) breakdown(b *Breakdown) {
	t.heading(fmt.Sprintf("Where the time went: %s, shares of %s", b.Target, b.Unit))
	g := &grid{columns: []column{{title: "cause", left: true}}}
	for _, n := range b.Threads {
		g.columns = append(g.columns, column{title: fmt.Sprintf("T=%d", n)})
	}
	small, rest := 0, make([]float64, len(b.Threads))
	for _, r := range b.Rows {
		most := 0.0
		for _, v := range r.Shares {
			most = math.Max(most, v)
		}
		if most < smallShare {
			small++
			for i, v := range r.Shares {
				rest[i] += v
			}
			continue
		}
		g.add(shareCells(r.Cause, r.Shares)...)
	}
	if small > 0 {
		g.add(shareCells(fmt.Sprintf("%d more", small), rest)...)
	}
	t.table(g)
	t.paragraph("There are no wall times at constant work, so what was lost from one T to another cannot be told: shares that grow with T are where to look.", "  ")
	for _, r := range b.Rows {
		if r.Cause == "work/user" || len(r.Paths) == 0 || r.Paths[0].Share < smallShare {
			continue
		}
		t.printf("  %s\n", r.Cause)
		for _, p := range r.Paths {
			if p.Share >= smallShare {
				prefix := fmt.Sprintf("    %5.1f%%  ", 100*p.Share)
				line := pathLine(Stack{Frames: p.Frames}, t.opt.Width-columns(prefix))
				if src := source(Stack{Source: p.Source}); src != "" && columns(prefix+line+"  "+src) <= t.opt.Width {
					line += "  " + t.dim(src)
				}
				t.printf("%s%s\n", prefix, line)
			}
		}
	}
}

func shareCells(name string, shares []float64) []string {
	out := []string{name}
	for _, v := range shares {
		out = append(out, fmt.Sprintf("%.1f%%", 100*v))
	}
	return out
}
