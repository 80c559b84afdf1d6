package report

import "fmt"

// footnotes numbers the findings about cells, each text once over all tables.
type footnotes struct {
	texts []string
	at    map[string]int
}

// marks returns the footnote marks of a cell, " [1][2]", numbering new ones.
func (f *footnotes) marks(gates []Gate, threads int, mode string) string {
	out := ""
	for _, g := range gates {
		key := g.ID + "\x00" + g.Text
		if f.at == nil {
			f.at = map[string]int{}
		}
		n, seen := f.at[key]
		if !seen {
			f.texts = append(f.texts, g.Text)
			n = len(f.texts)
			f.at[key] = n
		}
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
		t.paragraph(fmt.Sprintf("[%d] %s", i+1, s), "  ")
	}
}
