package capture

import (
	"path/filepath"
	"strings"
	"time"
)

// Suffix ends the name of every capture directory.
const Suffix = ".scaleprof"

// outName is where the capture goes: what the user asked for, else a name made
// from the first target and the time, which no earlier capture has.
func (o *Options) outName(now time.Time) string {
	if o.Out != "" {
		return o.Out
	}
	safe := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}
	const most = 60
	name := strings.Map(safe, o.Targets[0].Record.Name)
	name = strings.Trim(name[:min(len(name), most)], "-")
	if name == "" {
		name = "capture"
	}
	return name + "-" + now.Format("20060102-150405") + Suffix
}

// shown is the directory's name as the user knows it: as given, or relative to
// where scaleprof was called.
func (o *Options) shown(abs string) string {
	if o.Out != "" {
		return o.Out
	}
	return filepath.Base(abs)
}
