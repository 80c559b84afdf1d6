package memory

import (
	"errors"
	"slices"
)

const (
	// pageBytes is the smallest step by which a loader moves a program.
	pageBytes = 4096
	// inlineDepth is how many frames of a call path may share the leaf's function.
	inlineDepth = 24
	// voters is how many addresses choose the slide.
	voters = 200
	// agreement is the part of the samples whose address must lie in a function
	// of their call path for a binary to be the one that ran.
	agreement = 0.8
)

// align finds by how much the program was moved when it was loaded, and checks
// that this is the binary that ran: samples' addresses must lie in functions that
// their call paths name. Most programs are not moved; position-independent ones are.
func (m *image) align(addresses []*address) error {
	var known []*address
	for _, a := range addresses {
		if len(a.frames) > 0 && a.frames[0].Func != "" {
			known = append(known, a)
		}
	}
	if len(known) == 0 {
		return errors.New("the samples carry no addresses")
	}
	m.slide = 0
	if m.agrees(known) >= agreement {
		return nil
	}
	byName := map[string][]function{}
	for i := range m.table.Funcs {
		f := &m.table.Funcs[i]
		key := f.Name
		if before, after, ok := cutTypes(key); ok {
			key = before + "[...]" + after
		}
		byName[key] = append(byName[key], function{f.Name, f.Entry, f.End})
	}
	votes := map[uint64]int{}
	for _, a := range known[:min(len(known), voters)] {
		for _, fr := range a.frames[:min(len(a.frames), inlineDepth)] {
			key := fr.Func
			if before, after, ok := cutTypes(key); ok {
				key = before + "[...]" + after
			}
			for _, f := range byName[key] {
				if f.end-f.entry > maxFunction || f.end < f.entry {
					continue
				}
				// All page multiples that bring the address into the function.
				lo := a.pc - f.end + 1
				for s := (lo + pageBytes - 1) / pageBytes * pageBytes; s <= a.pc-f.entry && s >= lo; s += pageBytes {
					votes[s]++
				}
			}
		}
	}
	best, most := uint64(0), 0
	for s, n := range votes {
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	m.slide = best
	if most == 0 || m.agrees(known) < agreement {
		return errors.New("the binary is not the one that ran: addresses and functions do not agree")
	}
	return nil
}

// agrees is the part of the samples, by weight, whose address lies in a function
// that their call path names.
func (m *image) agrees(known []*address) float64 {
	good, all := 0.0, 0.0
	for _, a := range known {
		weight := a.base + a.peak
		all += weight
		f, ok := m.function(a.pc - m.slide)
		if ok && slices.ContainsFunc(a.frames[:min(len(a.frames), inlineDepth)], func(fr frame) bool { return sameFunction(f.name, fr.Func) }) {
			good += weight
		}
	}
	return good / all
}
