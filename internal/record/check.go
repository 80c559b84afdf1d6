package record

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// Bounds on figures: beyond them they cannot be true, and sums over all runs
// could overflow.
const (
	maxNS    = int64(30 * 24 * 3600 * 1e9)
	maxCount = int64(1) << 50
	maxFloat = 1e18
	maxText  = 64 << 10
)

func damaged(run int, format string, args ...any) Warning {
	w := Warning{ID: "damaged", Text: fmt.Sprintf("run %d: ", run) + fmt.Sprintf(format, args...), Run: &run}
	if run < 0 {
		w.Run, w.Text = nil, fmt.Sprintf(format, args...)
	}
	return w
}

// check makes a manifest safe to work with. What cannot be right is left out,
// with a warning; a run whose figures cannot be right keeps its place, with an Error.
func check(m *Manifest) (warnings []Warning) {
	cleanStrings(reflect.ValueOf(m).Elem(), 0)
	// Nothing to complain about here has come from outside yet.
	warn := func(format string, args ...any) { warnings = append(warnings, damaged(-1, format, args...)) }

	p := &m.Plan
	p.Threads = slices.DeleteFunc(p.Threads, func(t int) bool { return t < 1 || t > MaxThreads })
	p.Modes = slices.DeleteFunc(p.Modes, func(md Mode) bool { return !md.valid() })
	p.Targets = slices.DeleteFunc(p.Targets, func(t Target) bool {
		return t.Name == "" || !within(t.Ops, maxCount) || !within(t.Warm, maxCount)
	})
	if !(p.Precision >= 0 && p.Precision < 1) {
		p.Precision = 0
	}
	if !within(p.BudgetNS, maxNS) {
		p.BudgetNS = 0
	}
	if !within(m.SpentNS, maxNS) {
		m.SpentNS = 0
	}
	cells := make(map[string]*Cell, len(m.Cells))
	m.Cells = slices.DeleteFunc(m.Cells, func(c Cell) bool {
		err := c.check()
		if err == nil && cells[c.ID] != nil {
			err = errors.New("it is there twice")
		}
		if err != nil {
			warn("cell %q: %v; left out", c.ID, err)
			return true
		}
		cells[c.ID] = &c
		return false
	})
	m.Schedule = slices.DeleteFunc(m.Schedule, func(s Planned) bool {
		bad := cells[s.Cell] == nil || s.Seq < 0 || s.Block < 0 || !within(s.Ops, maxCount)
		if bad {
			warn("a scheduled run of cell %q: impossible; left out", s.Cell)
		}
		return bad
	})
	runs := make(map[int]bool, len(m.Runs))
	kept := m.Runs[:0]
	for i := range m.Runs {
		r := m.Runs[i]
		cell := cells[r.Cell]
		switch {
		case cell == nil:
			warn("run %d: its cell %q is unknown; left out", r.ID, r.Cell)
			continue
		case r.ID < 0 || runs[r.ID]:
			warn("run %d: its number is there twice, or negative; left out", r.ID)
			continue
		}
		runs[r.ID] = true
		if err := r.check(cell); err != nil {
			warnings = append(warnings, damaged(r.ID, "%v; its figures are not used", err))
			if r.Error == "" {
				r.Error = "damaged: " + err.Error()
			}
			r.WallNS, r.Ops, r.Processes, r.System = 0, 0, nil, nil
		}
		r.Files = slices.DeleteFunc(r.Files, func(f File) bool {
			bad := !localPath(f.Path) || f.Process < 0 || f.Process > MaxThreads || f.Bytes < 0
			if bad {
				warnings = append(warnings, damaged(r.ID, "%q is no file inside the capture; left out", f.Path))
			}
			return bad
		})
		kept = append(kept, r)
	}
	m.Runs = kept
	m.Ceiling = slices.DeleteFunc(m.Ceiling, func(k KernelRun) bool {
		bad := k.Threads < 1 || k.Threads > MaxThreads || k.Block < 0 || k.WallNS <= 0 || k.WallNS > maxNS ||
			k.Ops <= 0 || k.Ops > math.MaxInt64/2 || !(k.HopNS >= 0 && k.HopNS < maxFloat)
		if bad {
			warn("a run of kernel %q: impossible figures; left out", k.Kernel)
		}
		return bad
	})
	return warnings
}

func (md Mode) valid() bool { return md == Thread || md == Process }

func (c *Cell) check() error {
	switch {
	case !safeName(c.ID):
		return errors.New("its name is no name for a file")
	case c.Target == "" || !c.Mode.valid():
		return fmt.Errorf("target %q, mode %q", c.Target, c.Mode)
	case c.Threads < 1 || c.Threads > MaxThreads || c.Procs < 0 || c.Procs > MaxThreads:
		return fmt.Errorf("%d threads on %d procs", c.Threads, c.Procs)
	}
	return nil
}

// hasProfiles reports whether a run is there for its profiles, not its timing.
func (k Kind) hasProfiles() bool { return k == Profiled || k == Events || k == Wall }

// within reports whether 0 <= n <= most.
func within(n, most int64) bool { return n >= 0 && n <= most }

func (r *Run) check(c *Cell) error {
	switch {
	case r.Block < 0 || r.Seq < 0:
		return fmt.Errorf("block %d, place %d", r.Block, r.Seq)
	case !within(r.WallNS, maxNS):
		return fmt.Errorf("a wall time of %d ns", r.WallNS)
	case r.WallNS == 0 && r.Error == "" && !r.Kind.hasProfiles(): // imported profiles have none
		return errors.New("no wall time")
	case !within(r.Ops, maxCount):
		return fmt.Errorf("%d operations", r.Ops)
	case r.Dir != "" && !localPath(r.Dir):
		return fmt.Errorf("its directory %q is not inside the capture", r.Dir)
	case len(r.Processes) > c.Threads:
		return fmt.Errorf("%d processes for %d workers", len(r.Processes), c.Threads)
	}
	lanes := 0
	for i := range r.Processes {
		p := &r.Processes[i]
		if err := checkResult(p, r.WallNS); err != nil {
			return fmt.Errorf("process %d: %w", p.Process, err)
		}
		lanes += len(p.Lanes)
	}
	if lanes > c.Threads {
		return fmt.Errorf("%d lanes for %d workers", lanes, c.Threads)
	}
	return nil
}

func checkResult(p *recorder.Result, wallNS int64) error {
	length := p.EndNS - p.BeginNS
	switch {
	case !within(p.BeginNS, math.MaxInt64/2) || !within(p.EndNS, math.MaxInt64/2):
		return fmt.Errorf("a window from %d to %d", p.BeginNS, p.EndNS)
	// A window longer than the run by a little is the clock's; A run in which the
	// start counts is longer than the windows.
	case length < 0 || length > wallNS+int64(1e9):
		return fmt.Errorf("a window of %d ns in a run of %d ns", length, wallNS)
	case p.Process < 0 || p.Process > MaxThreads || !within(int64(p.Procs), MaxThreads) || !within(p.Ops, maxCount):
		return fmt.Errorf("%d operations on %d procs", p.Ops, p.Procs)
	}
	for i, l := range p.Lanes {
		if l.StartNS < 0 || l.EndNS < l.StartNS || l.EndNS > length+int64(1e6) || !within(l.Ops, maxCount) {
			return fmt.Errorf("lane %d from %d to %d ns in a window of %d ns", i, l.StartNS, l.EndNS, length)
		}
	}
	if u := p.Usage; u != nil {
		for _, n := range []int64{u.UserNS, u.SysNS, u.MinFlt, u.MajFlt, u.NVCSw, u.NIVCSw, u.MaxRSS} {
			if n < -maxCount || n > maxNS*64 {
				return fmt.Errorf("impossible resource usage %d", n)
			}
		}
	}
	if t := p.Threads; t != nil && (t.RunNS < -maxCount || t.RunNS > maxNS*64 || t.WaitNS < -maxCount || t.WaitNS > maxNS*64) {
		return fmt.Errorf("impossible schedstat figures %d and %d", t.RunNS, t.WaitNS)
	}
	for _, floats := range []map[string]float64{p.Metrics, p.Counters} {
		for name, v := range floats {
			if !(math.Abs(v) <= maxFloat) {
				delete(floats, name)
			}
		}
	}
	for name, h := range p.Hists {
		if h.Count < 0 || h.Count > maxCount || !(math.Abs(h.Sum) <= maxFloat) || !(math.Abs(h.Max) <= maxFloat) || len(h.Buckets) > 4096 {
			delete(p.Hists, name)
		}
	}
	return nil
}

// cleanStrings makes every string of a value fit to be printed.
func cleanStrings(v reflect.Value, depth int) {
	if depth > 16 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			cleanStrings(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				cleanStrings(f, depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.String, reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
			for i := range v.Len() {
				cleanStrings(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		cleanMap(v, depth)
	case reflect.String:
		if s := v.String(); !isClean(s) {
			v.SetString(clean(s, maxText))
		}
	}
}

func cleanMap(v reflect.Value, depth int) {
	for it := v.MapRange(); it.Next(); {
		k, e := it.Key(), reflect.New(v.Type().Elem()).Elem()
		e.Set(it.Value())
		cleanStrings(e, depth+1)
		if k.Kind() == reflect.String && !isClean(k.String()) {
			v.SetMapIndex(k, reflect.Value{})
			k = reflect.ValueOf(clean(k.String(), 200)).Convert(k.Type())
		}
		v.SetMapIndex(k, e)
	}
}

func isClean(s string) bool {
	if len(s) > maxText || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, hostile)
}

// hostile are the characters that could steer a terminal or reorder a line.
func hostile(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// clean replaces hostile characters and shortens to at most most bytes.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if hostile(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
