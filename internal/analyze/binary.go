package analyze

import (
	"github.com/scaleprof/scaleprof/internal/record"
)

// binary is the file that ran a target, "" where it is not known or is no longer
// what it was: instructions of a program that was built anew would be read at the
// wrong addresses. A workload that ran in a scaleprof since removed, as `go run`
// leaves none, is looked up in this one if it is the same to the byte.
func (l *loaded) binary(target, self string) string {
	for _, t := range l.manifest.Plan.Targets {
		if t.Name != target {
			continue
		}
		if t.BinarySum == "" {
			return t.Binary // of before sums were kept; the addresses are checked in any case
		}
		for _, path := range []string{t.Binary, self} {
			if path != "" && l.sum(path) == t.BinarySum {
				return path
			}
		}
		if t.Binary != "" && !l.warned["binary "+t.Name] {
			l.warned["binary "+t.Name] = true
			l.warn(nil, "binary", t.Name+": the binary that ran is gone or was built anew, so the growth of its own code cannot be divided")
		}
	}
	return ""
}

// sum is a file's sum, "" where it cannot be read.
func (l *loaded) sum(path string) string {
	if s, ok := l.sums[path]; ok {
		return s
	}
	s, err := record.SumFile(path)
	if err != nil {
		s = ""
	}
	l.sums[path] = s
	return s
}
