package lanes

import (
	"cmp"
	"slices"
)

// weighted is a row that takes part of a total in proportion to its weight.
type weighted struct {
	key    partKey
	weight float64
}

// spread divides total, in whole ns, in proportion to the weights. What rounding
// leaves goes to the largest remainders, so that the pieces add up to total.
func spread(total int64, rows []weighted, take func(partKey, int64)) {
	slices.SortFunc(rows, func(a, b weighted) int { return a.key.compare(b.key) })
	sum := 0.0
	for _, r := range rows {
		sum += r.weight
	}
	if total <= 0 || sum <= 0 {
		return
	}
	type piece struct {
		i   int
		ns  int64
		rem float64
	}
	pieces := make([]piece, 0, len(rows))
	left := total
	for i, r := range rows {
		x := float64(total) * (r.weight / sum)
		ns := min(int64(x), left)
		pieces = append(pieces, piece{i, ns, x - float64(ns)})
		left -= ns
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.rem, a.rem) })
	for k := 0; left > 0; k = (k + 1) % len(pieces) {
		step := int64(1)
		if left > int64(len(pieces)) {
			step = left / int64(len(pieces)) // only where weights are beyond what a float can tell apart
		}
		pieces[k].ns += step
		left -= step
	}
	for _, p := range pieces {
		take(rows[p.i].key, p.ns)
	}
}

func (k partKey) compare(o partKey) int {
	return cmp.Or(cmp.Compare(k.cause, o.cause), cmp.Compare(k.state, o.state), cmp.Compare(k.victim, o.victim), cmp.Compare(k.culprit, o.culprit))
}
