package check

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Lines are the findings for people, one each.
func (r *Result) Lines() []report.Line {
	var out []report.Line
	for _, f := range r.Findings {
		text := fmt.Sprintf("%s, %s mode", f.Target, f.Mode)
		if f.Threads > 0 {
			text += fmt.Sprintf(", T=%d", f.Threads)
		}
		text += fmt.Sprintf(": %s %.4g%%", f.Threshold, 100*f.Limit)
		if f.Value != nil {
			text += fmt.Sprintf(", it is %.1f%%", 100**f.Value)
		}
		if f.CI != nil {
			text += fmt.Sprintf(" (%.1f to %.1f%%)", 100*f.CI[0], 100*f.CI[1])
		}
		if f.Why != "" {
			text += "; " + f.Why
		}
		out = append(out, report.Line{Label: string(f.Outcome), Text: text})
	}
	return out
}
