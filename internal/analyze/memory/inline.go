package memory

import (
	"debug/dwarf"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

type frame = lanes.Frame

// inliner finds who called an inlined function, from debugging information.
type inliner struct {
	data  *dwarf.Data // nil where there is none
	files map[dwarf.Offset][]*dwarf.LineFile
}

func newInliner(open func() (*dwarf.Data, error)) (in *inliner) {
	in = &inliner{files: map[dwarf.Offset][]*dwarf.LineFile{}}
	var err error
	defer func() {
		if recover() != nil || err != nil {
			in.data = nil
		}
	}()
	if open != nil {
		in.data, err = open()
	}
	return in
}

// maxEntries bounds the debugging entries read for one address.
const maxEntries = 2_000_000

// caller is the innermost line outside of the runtime and the atomics that an
// address was inlined into.
func (in *inliner) caller(pc uint64) (file string, line int, ok bool) {
	if in.data == nil {
		return "", 0, false
	}
	defer func() {
		if recover() != nil {
			file, line, ok = "", 0, false
		}
	}()
	r := in.data.Reader()
	unit, err := r.SeekPC(pc)
	if err != nil || unit == nil {
		return "", 0, false
	}
	files := in.filesOf(unit)
	for range maxEntries {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == dwarf.TagCompileUnit {
			break
		}
		if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine && e.Tag != dwarf.TagLexDwarfBlock {
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		if !in.contains(e, pc) {
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		// Entries nest from the outside in: a later one is further in.
		f, _ := e.Val(dwarf.AttrCallFile).(int64)
		l, _ := e.Val(dwarf.AttrCallLine).(int64)
		if f > 0 && int(f) < len(files) && files[f] != nil && !plumbing(files[f].Name) {
			file, line, ok = files[f].Name, int(l), true
		}
	}
	return file, line, ok
}

func (in *inliner) contains(e *dwarf.Entry, pc uint64) bool {
	ranges, err := in.data.Ranges(e)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}

func (in *inliner) filesOf(unit *dwarf.Entry) []*dwarf.LineFile {
	if f, ok := in.files[unit.Offset]; ok {
		return f
	}
	var files []*dwarf.LineFile
	if lr, err := in.data.LineReader(unit); err == nil && lr != nil {
		files = lr.Files()
	}
	in.files[unit.Offset] = files
	return files
}
