package annotate

import (
	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Slots is the slot time of a cell by the lanes' call paths, causes and states.
// accounts are those of runs runs, in process mode several for each. Its values
// add up to totalNS exactly; 0 stands for the accounts' own slot time, averaged over runs.
func Slots(c Cell, runs int, accounts []*lanes.Account, totalNS int64) (*profile.Profile, error) {
	parts := Victims(accounts)
	if len(parts) == 0 || runs < 1 {
		return nil, ErrNoProfile
	}
	fit(parts, runs, totalNS)
	b := newBuilder(nanoseconds("slot_time"))
	for _, w := range parts {
		b.add(c, w.Frames, w.Cause, w.State, w.NS)
	}
	c.comment(b.p, "slot time (T x wall) by cause and state: all of it, adds up", runs)
	return b.p, b.p.CheckValid()
}

// Blame is the time that lanes waited or had nothing to do, at the call path of
// whoever made them wait: the holder of a lock, what ran while others were idle.
// Time for which nobody can be charged is left out.
func Blame(c Cell, runs int, accounts []*lanes.Account) (*profile.Profile, error) {
	var parts []Weighted
	for _, a := range accounts {
		if a == nil {
			continue
		}
		for _, p := range a.Parts {
			if p.Culprit != nil && len(p.Culprit.Frames) > 0 {
				parts = append(parts, Weighted{p.Culprit.Frames, p.Cause, p.State.String(), p.NS})
			}
		}
	}
	if runs < 1 || len(parts) == 0 {
		return nil, ErrNoProfile
	}
	fit(parts, runs, 0)
	b := newBuilder(nanoseconds("waited"))
	for _, w := range parts {
		b.add(c, w.Frames, w.Cause, w.State, w.NS)
	}
	c.comment(b.p, "waiting of the lanes, at the code that made them wait", runs)
	return b.p, b.p.CheckValid()
}

// Victims are the parts of accounts at the call paths of the lanes.
func Victims(accounts []*lanes.Account) []Weighted {
	var parts []Weighted
	for _, a := range accounts {
		if a == nil {
			continue
		}
		for _, p := range a.Parts {
			w := Weighted{Cause: p.Cause, State: p.State.String(), NS: p.NS}
			if p.Victim != nil {
				w.Frames = p.Victim.Frames
			}
			parts = append(parts, w)
		}
	}
	return parts
}

// fit averages parts over runs, or makes them add up to a total if one is given.
func fit(parts []Weighted, runs int, want int64) {
	values := make([]int64, len(parts))
	var sum int64
	for i, w := range parts {
		values[i] = w.NS
		sum += w.NS
	}
	if want == 0 {
		want = sum / int64(runs)
	}
	if want == sum {
		return
	}
	for i, v := range apportion(values, want) {
		parts[i].NS = v
	}
}
