package report

import (
	"fmt"
	"math"
	"strings"
)

// Wall renders nanoseconds with three digits.
func Wall(ns int64) string {
	v := float64(ns)
	switch {
	case v < 1e3:
		return fmt.Sprintf("%.0f ns", v)
	case v < 1e6:
		return fmt.Sprintf("%s µs", digits(v/1e3))
	case v < 1e9:
		return fmt.Sprintf("%s ms", digits(v/1e6))
	}
	return fmt.Sprintf("%s s", digits(v/1e9))
}

// digits renders a value of 1 to 1000 with three digits.
func digits(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func percent(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

// cores renders cores lost; two decimals tell a hundredth of a core.
func cores(v float64) string {
	s := fmt.Sprintf("%.2f", v)
	if s == "-0.00" {
		return "0.00"
	}
	return s
}

func coresRange(iv Interval) string {
	if iv == nil {
		return ""
	}
	return cores(iv[0]) + " to " + cores(iv[1])
}

func percentRange(iv Interval) string {
	if iv == nil {
		return ""
	}
	return fmt.Sprintf("%.0f to %.0f%%", 100*iv[0], 100*iv[1])
}

func optional(v *float64, format func(float64) string) string {
	if v == nil || math.IsNaN(*v) {
		return "-"
	}
	return format(*v)
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }

// shortFunc drops the directories of a function's import path.
func shortFunc(name string) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}

// pathLine renders a call path leaf first in at most width columns. Runtime and
// sync frames below the user's own are folded to the leaf, since the first frame
// of user code is what a reader can act on.
func pathLine(s Stack, width int) string {
	var parts []string
	for i, f := range s.Frames {
		if i > 0 && internalFrame(f) && len(parts) > 0 {
			continue
		}
		parts = append(parts, shortFunc(f))
	}
	out := ""
	for i, p := range parts {
		next := out + p
		if i > 0 {
			next = out + " < " + p
		}
		if columns(next) > width {
			break
		}
		out = next
	}
	if out == "" && len(parts) > 0 {
		out = clip(parts[0], width)
	}
	return out
}

func internalFrame(f string) bool {
	for _, p := range []string{"runtime.", "internal/runtime/", "internal/sync.", "sync.", "sync/atomic.", "internal/poll.", "syscall."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
