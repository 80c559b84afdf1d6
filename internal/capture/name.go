package capture

import "time"

// Suffix ends the name of every capture directory.
const Suffix = ".scaleprof"

// outName is where the capture goes: what the user asked for, else a name made
// from the first target and the time, which no earlier capture has.
func (o *Options) outName(now time.Time) string {
	if o.Out != "" {
		return o.Out
	}
	return fileSlug(o.Targets[0].Record.Name) + "-" + now.Format("20060102-150405") + Suffix
}
