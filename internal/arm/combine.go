package arm

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxCombined is the most arms that are combined: three make eight cells at each T.
const MaxCombined = 3

// Combine adds to two or three arms every combination of them, so that each
// one's share of what all recover can be told (Shapley, METHOD 5.5).
func Combine(arms []Arm) ([]Arm, error) {
	if len(arms) < 2 || len(arms) > MaxCombined {
		return nil, fmt.Errorf("%d arms cannot be combined: name two or three", len(arms))
	}
	var out []Arm
	for size := 1; size <= len(arms); size++ {
		for set := 1; set < 1<<len(arms); set++ {
			if bits.OnesCount(uint(set)) != size {
				continue
			}
			a, err := Parse(setName(arms, set))
			if err != nil {
				return nil, fmt.Errorf("arms that cannot be combined: %w", err)
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// setName is the name of the arms whose bits are set.
func setName(arms []Arm, set int) string {
	var names []string
	for i, a := range arms {
		if set&(1<<i) != 0 {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, "+")
}

// Combined finds, among the names of arms, one combination of which every
// smaller one is there as well: its single arms, and the name of each set of them
// (bit i set: arm i applied; "" for none). The largest combination counts, the
// first of equal ones; nil where there is none.
func Combined(names []string) (single []string, sets []string) {
	have := make(map[string]bool, len(names))
	for _, n := range names {
		have[n] = true
	}
	for _, n := range names {
		a, err := Parse(n)
		if err != nil || len(a.Parts) < 2 || len(a.Parts) > MaxCombined || len(a.Parts) <= len(single) {
			continue
		}
		parts := make([]Arm, len(a.Parts))
		for i, p := range a.Parts {
			parts[i] = Arm{Name: p.String(), Parts: []Part{p}}
		}
		all := make([]string, 1<<len(parts))
		complete := true
		for set := 1; set < len(all); set++ {
			all[set] = setName(parts, set)
			complete = complete && have[all[set]]
		}
		if !complete {
			continue
		}
		single, sets = nil, all
		for _, p := range parts {
			single = append(single, p.Name)
		}
	}
	return single, sets
}
