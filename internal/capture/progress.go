package capture

import "time"

// Status is what a capture is doing and how far it has come.
type Status struct {
	Phase bool   // begins a new step: worth a line in a log
	Text  string // "pilot json/sonic", "block 3: json/sonic thread T=2, profiled"
	Spent time.Duration
	Left  time.Duration // 0 if unknown
	Bound bool          // Left is the rest of the budget: it takes that long at most
}

// Progress shows a capture's progress. Its methods are called between runs
// only, never inside a window, so that drawing costs no run anything.
type Progress interface {
	Show(Status)
	Warn(text string)
	End()
}

// silent shows nothing.
type silent struct{}

func (silent) Show(Status) {}
func (silent) Warn(string) {}
func (silent) End()        {}
