package recorder

import (
	"embed"
	"io/fs"
)

//go:embed child.go clock.go decode.go encode.go figures.go files.go lanes.go meeting.go metrics.go pacing.go recorder.go spec.go sys_linux.go sys_other.go sys_unix.go
var sources embed.FS

// Sources are this package's own files by name, but for this one: all that is
// needed to build it under another import path.
func Sources() (map[string][]byte, error) {
	entries, err := sources.ReadDir(".")
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if out[e.Name()], err = fs.ReadFile(sources, e.Name()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
