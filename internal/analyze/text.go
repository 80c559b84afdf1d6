package analyze

import (
	"fmt"
	"path/filepath"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// duration renders nanoseconds with three digits and a unit.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return fmt.Sprintf("%.3g s", ns/1e9)
}

// bytesText renders bytes with a binary unit.
func bytesText(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for b >= 1024 && i < len(units)-1 {
		b /= 1024
		i++
	}
	if b >= 100 || i == 0 {
		return fmt.Sprintf("%.0f %s", b, units[i])
	}
	return fmt.Sprintf("%.3g %s", b, units[i])
}

// sourceLine shortens a file to its last two elements, as stack traces do.
func sourceLine(file string, line int) string {
	if file == "" || file == "?" || line <= 0 {
		return "" // compiled at run time, or stripped
	}
	dir, base := filepath.Split(file)
	return fmt.Sprintf("%s/%s:%d", filepath.Base(dir), base, line)
}

func minFlt(u *recorder.Usage) int64    { return u.MinFlt }
func voluntary(u *recorder.Usage) int64 { return u.NVCSw }
