package diff

import (
	"fmt"
	"strings"

	"github.com/scaleprof/scaleprof/internal/report"
)

// answer says in sentences whether the change helped, where, by which cause, and
// what took its place.
func answer(p *Pair, after *report.Comparison) []string {
	var out []string
	out = append(out, speed(p))
	if s := scaling(p); s != "" {
		out = append(out, s)
	}
	if c := p.Causes; c != nil {
		if s := moved(c, Better, "less"); s != "" {
			out = append(out, s)
		}
		if s := moved(c, Worse, "more"); s != "" {
			out = append(out, s)
		}
	}
	if after != nil && after.Verdict.Text != "" {
		out = append(out, "now: "+after.Verdict.Text)
	}
	return out
}

// speed says at which T an operation takes less time.
func speed(p *Pair) string {
	by := map[Direction][]string{}
	for _, pt := range p.Points {
		s := fmt.Sprintf("T=%d", pt.Threads)
		if pt.Faster != nil {
			s += fmt.Sprintf(" (%.2f times as fast)", *pt.Faster)
		}
		by[pt.FasterSays] = append(by[pt.FasterSays], s)
	}
	return sentence("speed", by)
}

func sentence(what string, by map[Direction][]string) string {
	var parts []string
	for _, k := range []struct {
		d    Direction
		text string
	}{{Better, "better at"}, {Worse, "worse at"}, {Noise, "within noise at"}, {CannotTell, "cannot tell (too few blocks for an interval) at"}} {
		if at := by[k.d]; len(at) > 0 {
			parts = append(parts, k.text+" "+strings.Join(at, ", "))
		}
	}
	if len(parts) == 0 {
		return what + ": no T in common"
	}
	return what + ": " + strings.Join(parts, "; ")
}

// scaling says at which T the efficiency changed, and warns of a gain that is
// only a slower base.
func scaling(p *Pair) string {
	by := map[Direction][]string{}
	slowBase := len(p.Points) > 0 && p.Points[0].FasterSays == Worse
	hollow := false
	for _, pt := range p.Points {
		f := pt.Efficiency
		if f == nil {
			continue
		}
		by[f.Says] = append(by[f.Says], fmt.Sprintf("T=%d (%.0f%% to %.0f%%)", pt.Threads, 100*f.Old, 100*f.New))
		hollow = hollow || f.Says == Better && slowBase && pt.FasterSays != Better
	}
	if len(by) == 0 {
		return ""
	}
	s := sentence("efficiency", by)
	if hollow {
		s += "; but only because the lowest T became slower: nothing is faster"
	}
	return s
}

// moved names the causes that changed most in one direction.
func moved(c *Causes, d Direction, word string) string {
	var parts []string
	for _, r := range c.Rows {
		if r.Says != d || r.Name == "unexplained" {
			continue
		}
		s := fmt.Sprintf("%s by %.2f cores (%.2f to %.2f)", r.Name, abs(r.Diff), r.Old, r.New)
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("lost %s at T=%d: %s", word, c.Peak, strings.Join(parts, ", "))
}

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}
