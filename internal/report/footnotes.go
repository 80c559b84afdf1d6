package report

import (
	"fmt"
	"slices"
	"strings"
)

// footnotes numbers the findings about cells, each kind once over all tables,
// with the text of the cell that showed it first.
type footnotes struct {
	texts []string
	cells []int // that show it
	at    map[string]int
}

// marks returns the footnote marks of a cell, "[1][2]", numbering new ones.
func (f *footnotes) marks(gates []Gate) string {
	var numbers []int
	for _, g := range gates {
		if f.at == nil {
			f.at = map[string]int{}
		}
		n, seen := f.at[g.ID]
		if !seen {
			f.texts = append(f.texts, g.Text)
			f.cells = append(f.cells, 0)
			n = len(f.texts)
			f.at[g.ID] = n
		}
		f.cells[n-1]++
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	var b strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// list is the texts behind the marks, in their order.
func (f *footnotes) list() []string {
	var out []string
	for i, s := range f.texts {
		if n := f.cells[i]; n > 1 {
			s += fmt.Sprintf("; the first of %d cells", n)
		}
		out = append(out, fmt.Sprintf("[%d] %s", i+1, s))
	}
	return out
}
