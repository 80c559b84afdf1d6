package report

import "fmt"

// footnotes numbers the findings about cells, each kind once over all tables,
// with the text of the cell that showed it first.
type footnotes struct {
	texts []string
	cells []int // that show it
	at    map[string]int
}

// marks returns the footnote marks of a cell, " [1][2]", numbering new ones.
func (f *footnotes) marks(gates []Gate) string {
	out := ""
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
		out += fmt.Sprintf("[%d]", n)
	}
	if out != "" {
		out = " " + out
	}
	return out
}

func (t *textWriter) footnotes() {
	if len(t.notes.texts) == 0 {
		return
	}
	t.printf("\n")
	for i, s := range t.notes.texts {
		if n := t.notes.cells[i]; n > 1 {
			s += fmt.Sprintf("; %d cells in all, each with figures of its own in --format json", n)
		}
		t.paragraph(fmt.Sprintf("[%d] %s", i+1, s), "  ")
	}
}
