package report

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// columns is the room that s takes on a terminal: wide characters take two
// columns, combining ones none. The locale does not count: a report is the same
// text everywhere, and terminals show ambiguous characters narrow.
func columns(s string) int { return widths().StringWidth(s) }

func widths() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// clip cuts text to width columns, with an ellipsis where something is lost.
func clip(s string, width int) string { return widths().Truncate(s, max(0, width), "…") }

// wrap breaks text into lines of at most width columns, each behind indent.
func wrap(text, indent string, width int) string { return hang(text, indent, indent, width) }

// hang is wrap with another indent for the first line. A word that is longer
// than a line is cut: names come from captures, and some have no end.
func hang(text, first, rest string, width int) string {
	var b strings.Builder
	indent, col := first, -1 // -1: nothing stands on the line
	end := func() {
		b.WriteByte('\n')
		indent, col = rest, -1
	}
	put := func(word string) {
		if col < 0 {
			b.WriteString(indent)
			col = columns(indent)
		} else {
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += columns(word)
	}
	for word := range strings.FieldsSeq(text) {
		if col >= 0 && col+1+columns(word) > width {
			end()
		}
		for room := width - columns(indent); col < 0 && columns(word) > room && room >= 2; room = width - columns(indent) {
			part := widths().Truncate(word, room, "")
			if part == "" {
				break
			}
			put(part)
			end()
			word = word[len(part):]
		}
		if word != "" {
			put(word)
		}
	}
	if col >= 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// command breaks a shell command into lines that can be pasted: each but the
// last ends in a backslash. A word is never cut, so a long path stands out.
func command(s, indent string, width int) string {
	var b strings.Builder
	line := indent
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
			line += word
		case columns(line)+1+columns(word)+len(` \`) > width:
			b.WriteString(line + " \\\n")
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}
