package capture

import "github.com/scaleprof/scaleprof/internal/capture/recorder"

// SelfCommand is the hidden subcommand of scaleprof that is a child process.
const SelfCommand = "__run"

// Self launches built-in workloads: fresh processes of scaleprof's own
// executable. Exe is its path.
type Self struct {
	Exe string
}

// Command is the same for every process: the Spec says the rest.
func (s Self) Command(*Job, *recorder.Spec) (Command, error) {
	return Command{Path: s.Exe, Args: []string{SelfCommand}}, nil
}
