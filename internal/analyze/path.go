package analyze

import (
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// callPath is a call path by function names, leaf first, with the leaf's source line.
type callPath struct {
	frames []string
	source string // file:line of the leaf frame that is the user's, "" unknown
}

// pathTable interns call paths so that the same path of different runs is one
// pointer.
type pathTable map[string]*callPath

// maxPathFrames bounds a path in the report; the full one is in the profiles.
const maxPathFrames = 64

func (t pathTable) stack(s *lanes.Stack) *callPath {
	if s == nil {
		return nil
	}
	names := make([]string, 0, len(s.Frames))
	for _, f := range s.Frames {
		if len(names) == maxPathFrames {
			break
		}
		names = append(names, f.Func)
	}
	p := t.names(names)
	if p.source == "" {
		for _, f := range s.Frames {
			if f.File != "" && !isRuntime(f.Func) {
				p.source = sourceLine(f.File, f.Line)
				break
			}
		}
	}
	return p
}

func (t pathTable) names(names []string) *callPath {
	key := strings.Join(names, "\x00")
	if p, ok := t[key]; ok {
		return p
	}
	p := &callPath{frames: names}
	t[key] = p
	return p
}

func isRuntime(fn string) bool {
	return strings.HasPrefix(fn, "runtime.") || strings.HasPrefix(fn, "internal/runtime/") ||
		strings.HasPrefix(fn, "internal/sync.") || strings.HasPrefix(fn, "sync.") || strings.HasPrefix(fn, "sync/atomic.")
}
