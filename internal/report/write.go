package report

import (
	"fmt"
	"io"
	"slices"
)

// Formats are the names that Write knows.
func Formats() []string { return []string{"text", "markdown", "json", "bench", "html"} }

// Known reports whether Write knows the format.
func Known(format string) bool { return slices.Contains(Formats(), format) }

// Write renders a report in the named format. opt concerns the text form alone.
func Write(w io.Writer, r *Report, format string, opt TextOptions) error {
	switch format {
	case "text":
		return Text(w, r, opt)
	case "markdown":
		return Markdown(w, r)
	case "json":
		return JSON(w, r)
	case "bench":
		return Bench(w, r)
	case "html":
		return HTML(w, r)
	}
	return fmt.Errorf("unknown format %q", format)
}
