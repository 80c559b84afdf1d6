package counters

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// fake is a kernel with scripted threads and counts.
type fake struct {
	lists  [][]int            // successive answers of threads; the last repeats
	deny   map[string]error   // events that cannot be opened
	script map[string]samples // readings of each event, the same on each thread
	opened int
	closed int
	calls  int
}

type samples []sample

type fakeHandle struct {
	f    *fake
	left samples
}

func (f *fake) threads(int) ([]int, error) {
	i := min(f.calls, len(f.lists)-1)
	f.calls++
	return f.lists[i], nil
}

func (f *fake) open(ev event, tid int) (handle, error) {
	if tid < 0 {
		return nil, errGone
	}
	if err := f.deny[ev.name]; err != nil {
		return nil, err
	}
	f.opened++
	return &fakeHandle{f, f.script[ev.name]}, nil
}

func (h *fakeHandle) read() (sample, error) {
	if len(h.left) == 0 {
		return sample{}, nil
	}
	s := h.left[0]
	h.left = h.left[1:]
	return s, nil
}

func (h *fakeHandle) Close() error { h.f.closed++; return nil }

func TestWindow(t *testing.T) {
	denied := errors.New("denied")
	f := &fake{
		lists: [][]int{{1, 2, -3}}, // -3 has ended
		deny:  map[string]error{RefCycles: denied, LLCMisses: denied},
		script: map[string]samples{
			Instructions: {{100, 10, 10}, {1100, 110, 110}},
			Cycles:       {{0, 0, 0}, {500, 100, 25}}, // counted a quarter of the time
			PageFaults:   {{7, 50, 50}, {7, 50, 50}},  // the thread never ran
			Migrations:   {{0, 10, 0}, {0, 110, 0}},   // wanted, never counted
			"unused":     {{1, 1, 1}, {math.MaxUint64, 1, 1}},
		},
	}
	c, err := open(f, 42)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.End(); err == nil {
		t.Error("End without Begin passes")
	}
	if err := c.Begin(); err != nil {
		t.Fatal(err)
	}
	got, err := c.End()
	if err != nil {
		t.Fatal(err)
	}
	if len(events()) > 1 {
		want := map[string]float64{Instructions: 2000, Cycles: 4000, PageFaults: 0, ContextSwitches: 0}
		for name, v := range want {
			if g, ok := got[name]; !ok || g != v {
				t.Errorf("%s = %v, %v; want %v", name, g, ok, v)
			}
		}
		for _, name := range []string{RefCycles, LLCMisses, Migrations} {
			if v, ok := got[name]; ok {
				t.Errorf("%s = %v, want it absent", name, v)
			}
		}
		if !errors.Is(c.Denied()[RefCycles], denied) {
			t.Errorf("denied: %v", c.Denied())
		}
	}
	c.Close()
	if f.opened == 0 || f.opened != f.closed {
		t.Errorf("opened %d, closed %d", f.opened, f.closed)
	}
}

func TestThreadBornWhileOpening(t *testing.T) {
	f := &fake{lists: [][]int{{1}, {1, 2}, {1, 2}, {1, 2}}}
	c, err := open(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.sets {
		if len(s.handles) != 2 {
			t.Errorf("%s on %d threads, want 2", s.name, len(s.handles))
		}
	}
	c.Close()
	if f.opened != f.closed {
		t.Errorf("opened %d, closed %d", f.opened, f.closed)
	}

	var always [][]int
	for i := range 2 * attempts {
		tids := []int{}
		for tid := range i + 1 {
			tids = append(tids, tid)
		}
		always = append(always, tids)
	}
	f = &fake{lists: always}
	if _, err := open(f, 1); err == nil {
		t.Error("a process that keeps starting threads was opened")
	}
	if f.opened != f.closed {
		t.Errorf("opened %d, closed %d", f.opened, f.closed)
	}
}

func TestAllDenied(t *testing.T) {
	denied := errors.New("denied")
	f := &fake{lists: [][]int{{1}}, deny: map[string]error{}}
	for _, ev := range events() {
		f.deny[ev.name] = denied
	}
	if _, err := open(f, 1); !errors.Is(err, denied) {
		t.Errorf("err = %v", err)
	}
}

// A counter that shares the hardware evenly reads the same, scaled, as one that does not.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Uint64Range(0, 1<<40).Draw(t, "value")
		enabled := rapid.Uint64Range(1, 1<<40).Draw(t, "enabled")
		running := rapid.Uint64Range(1, enabled).Draw(t, "running")
		base := sample{rapid.Uint64Range(0, 1<<40).Draw(t, "base"), 5, 5}
		got, ok := scale(base, sample{base.value + value, base.enabled + enabled, base.running + running})
		want := float64(value) * float64(enabled) / float64(running)
		if !ok || got < float64(value) || math.Abs(got-want) > 1e-9*want {
			t.Fatalf("scale = %v, %v; want %v", got, ok, want)
		}
	})
}
