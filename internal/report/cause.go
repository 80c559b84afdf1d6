package report

import (
	"fmt"
	"io"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// CauseText prints one entry of the catalogue for a terminal.
func CauseText(w io.Writer, e cause.Entry, opt TextOptions) error {
	t := newTextWriter(w, opt)
	t.printf("%s: %s\n", t.bold(string(e.ID)), e.Title)
	section := func(title, body string) {
		if body != "" {
			t.heading(title)
			t.paragraph(body, "  ")
		}
	}
	section("What it means", e.Meaning)
	section("How it is measured", e.Measured)
	section("What it leaves out", e.Excludes)
	if len(e.Confirm) > 0 {
		t.heading("How to confirm it")
		for _, c := range e.Confirm {
			t.printf("  %s\n", c)
		}
	}
	if len(e.Helps) > 0 {
		t.heading("What usually helps")
		for _, h := range e.Helps {
			t.paragraph("- "+h, "  ")
		}
	}
	if len(e.Arms) > 0 {
		t.heading("Arms that test it")
		for _, a := range e.Arms {
			t.printf("  %s\n", a)
		}
	}
	return t.err
}

// CauseList prints the catalogue's causes, one a line.
func CauseList(w io.Writer, entries []cause.Entry) error {
	for _, e := range entries {
		if _, err := fmt.Fprintf(w, "%-24s %s\n", e.ID, e.Title); err != nil {
			return err
		}
	}
	return nil
}
