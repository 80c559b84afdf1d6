package report

import (
	"fmt"
	"strings"
)

// combinedText says what arms recover together and which part is whose.
func combinedText(c *Combined) string {
	var names, parts []string
	for _, s := range c.Shares {
		names = append(names, s.Arm)
		parts = append(parts, fmt.Sprintf("%s %s", s.Arm, coresWithRange(s.Cores, s.CI)))
	}
	text := fmt.Sprintf("%s together give back %s; in any order that is %s",
		strings.Join(names, " and "), coresWithRange(c.All, c.AllCI), strings.Join(parts, ", "))
	ci := c.InteractionCI
	switch {
	case ci == nil:
		text += "; in too few blocks for intervals"
	case ci[1] < 0:
		text += fmt.Sprintf("; %s less than one at a time, so they remove in part the same loss", cores(-c.Interaction))
	case ci[0] > 0:
		text += fmt.Sprintf("; %s more than one at a time, so neither helps alone as much", cores(c.Interaction))
	default:
		text += "; that they act on each other is not seen"
	}
	return text
}

func coresWithRange(v float64, iv Interval) string {
	if iv == nil {
		return cores(v)
	}
	return fmt.Sprintf("%s (%s)", cores(v), coresRange(iv))
}
