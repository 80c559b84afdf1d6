package capture

import (
	"github.com/scaleprof/scaleprof/internal/record"
)

// store is the capture directory as a session needs it: a *record.Store, or a
// test's.
type store interface {
	Save(m *record.Manifest) error
	NewRun(id int, cell string) (rel, abs string, err error)
	Dir() string
	Close() error
}
