package report

import (
	"fmt"
	"strings"
)

// verdictRow is the share of the loss from which a row of the verdict's group is
// shown by itself, whatever its own interval says: a group can be certain where
// no single row of it is.
const verdictRow = 0.1

// tableRow is a line of the table of causes: a row, or several folded into one.
type tableRow struct {
	Row
	name string
}

// tableRows are the rows of a table that adds up: those that can be told from
// noise, those that the verdict speaks of, the program's own work and what is
// unexplained; all others are folded into one line.
func tableRows(c *Comparison) []tableRow {
	var out []tableRow
	var noise tableRow
	folded := 0
	for _, r := range c.Rows {
		if r.Distinguishable || r.Cause == "unexplained" || r.Cause == "work/user" || inVerdict(c, r) {
			out = append(out, tableRow{Row: r, name: r.Cause})
			continue
		}
		folded++
		noise.BaseNS += r.BaseNS
		noise.PeakNS += r.PeakNS
		noise.CoresLost += r.CoresLost
		noise.Share += r.Share
	}
	if folded > 0 {
		rows := "rows"
		if folded == 1 {
			rows = "row"
		}
		noise.name = fmt.Sprintf("within noise (%d %s)", folded, rows)
		out = append(out, noise)
	}
	return out
}

// inVerdict says whether a row is what the verdict names, or a good part of it.
func inVerdict(c *Comparison, r Row) bool {
	if named := c.Verdict.Cause; named != nil && r.Cause == *named {
		return true
	}
	group, _, _ := strings.Cut(r.Cause, "/")
	return c.Verdict.Group != nil && group == *c.Verdict.Group && c.CoresLost > 0 && r.CoresLost >= verdictRow*c.CoresLost
}
