package diff

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Rename gives a target of the report another name; false where it has none of
// that name.
func Rename(r *report.Report, from, to string) bool {
	found := false
	rename := func(name *string) {
		if *name == from {
			*name, found = to, true
		}
	}
	for i := range r.Series {
		rename(&r.Series[i].Target)
	}
	for i := range r.Comparisons {
		rename(&r.Comparisons[i].Target)
	}
	for i := range r.Targets {
		rename(&r.Targets[i].Name)
	}
	return found && to != ""
}

// Lines are the differences for people: of each pair the answer, then the figures.
func (d *Diff) Lines() []report.Line {
	var out []report.Line
	say := func(label, text string) { out = append(out, report.Line{Label: label, Text: text}) }
	for _, m := range d.Mismatches {
		say("differs", m.String())
	}
	for _, m := range d.Changes {
		say("changed", m.String())
	}
	for i := range d.Pairs {
		p := &d.Pairs[i]
		say(p.Target, p.Mode+" mode")
		for _, s := range p.Text {
			say("", s)
		}
		for _, pt := range p.Points {
			text := fmt.Sprintf("wall %s to %s", report.Wall(pt.OldWallNS), report.Wall(pt.NewWallNS))
			if pt.Faster != nil {
				text += fmt.Sprintf(", %.2f times as fast", *pt.Faster)
				if iv := pt.FasterCI; iv != nil {
					text += fmt.Sprintf(" (%.2f to %.2f)", iv[0], iv[1])
				}
			}
			if f := pt.Efficiency; f != nil {
				text += fmt.Sprintf("; efficiency %.0f%% to %.0f%%, %+.0f points", 100*f.Old, 100*f.New, 100*f.Diff)
				if iv := f.DiffCI; iv != nil {
					text += fmt.Sprintf(" (%+.0f to %+.0f)", 100*iv[0], 100*iv[1])
				}
			}
			say(fmt.Sprintf("T=%d", pt.Threads), text)
		}
		if p.OldKnee != nil || p.NewKnee != nil {
			say("knee", knee(p.OldKnee)+" to "+knee(p.NewKnee))
		}
		if c := p.Causes; c != nil {
			say("cores lost", line(c.Lost))
			for _, r := range c.Rows {
				if r.Says == Better || r.Says == Worse || r.Says == CannotTell && abs(r.Diff) >= 0.1 {
					say(r.Name, line(r.Figure))
				}
			}
		}
		if p.Why != "" {
			say("causes", p.Why)
		}
	}
	for _, s := range d.OnlyOld {
		say("only before", s)
	}
	for _, s := range d.OnlyNew {
		say("only now", s)
	}
	return out
}

func line(f Figure) string {
	s := fmt.Sprintf("%.2f to %.2f, %+.2f", f.Old, f.New, f.Diff)
	if f.DiffCI != nil {
		s += fmt.Sprintf(" (%+.2f to %+.2f)", f.DiffCI[0], f.DiffCI[1])
	}
	return s + ": " + string(f.Says)
}

func knee(k *report.Knee) string {
	if k == nil {
		return "none"
	}
	return fmt.Sprintf("T=%d", k.Threads)
}
