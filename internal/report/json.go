package report

import "io"

// JSON writes the public form.
func JSON(w io.Writer, r *Report) error { return WriteJSON(w, r) }
