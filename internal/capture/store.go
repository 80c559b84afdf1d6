package capture

import "github.com/scaleprof/scaleprof/internal/record"

// store is the capture directory as a session needs it.
type store interface {
	// Save replaces the manifest, whole or not at all.
	Save(m *record.Manifest) error
	// NewRun makes the empty directory of a run, replacing what an interrupted
	// attempt at it left, and gives its path relative to the capture, with
	// slashes, and absolute.
	NewRun(id int, cell string) (rel, abs string, err error)
	// Dir is the capture directory.
	Dir() string
}

func createStore(dir string) (store, error)                 { panic("todo") }
func openStore(dir string) (store, *record.Manifest, error) { panic("todo") }
