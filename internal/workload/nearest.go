package workload

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest returns up to three registered names close to name, closest first.
func (r *Registry) nearest(name string) []string { return Nearest(name, r.Names()) }

// Nearest returns up to three of names that name may be a slip of, closest
// first: those that contain it whole, and those within an edit distance of a
// third of its length. Case does not count.
func Nearest(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	wanted := strings.ToLower(name)
	limit := max(1, len(wanted)/3)
	var near []candidate
	for _, n := range names {
		lower := strings.ToLower(n)
		_, last, _ := strings.Cut(lower, "/")
		distance := min(levenshtein.ComputeDistance(wanted, lower), levenshtein.ComputeDistance(wanted, last))
		if distance <= limit || len(wanted) >= 3 && strings.Contains(lower, wanted) {
			near = append(near, candidate{n, distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	if len(near) > 3 {
		near = near[:3]
	}
	out := make([]string, len(near))
	for i, c := range near {
		out[i] = c.name
	}
	return out
}
