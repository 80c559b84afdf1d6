package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Line is a line of a result for people: a label and what is said of it.
type Line struct{ Label, Text string }

// Lines writes labelled lines as text.
func Lines(w io.Writer, title string, lines []Line, opt TextOptions) error {
	t := newTextWriter(w, opt)
	t.paragraph(cleanText(title), "")
	for _, l := range lines {
		s := cleanText(l.Text)
		if l.Label != "" {
			s = cleanText(l.Label) + ": " + s
		}
		t.paragraph(s, "  ")
	}
	return t.err
}

// MarkdownLines writes labelled lines as a list for a pull-request comment.
func MarkdownLines(w io.Writer, title string, lines []Line) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", escape(cleanText(title)))
	for _, l := range lines {
		if l.Label == "" {
			fmt.Fprintf(&b, "- %s\n", escape(cleanText(l.Text)))
			continue
		}
		fmt.Fprintf(&b, "- **%s** %s\n", escape(cleanText(l.Label)), escape(cleanText(l.Text)))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes a value as all JSON forms are: cleaned, indented, with a final
// newline.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(*cleaned(&v))
}
