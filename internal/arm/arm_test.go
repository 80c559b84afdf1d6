package arm

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/record"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ in, want, err string }{
		{in: "gogc=400", want: "gogc=400"},
		{in: "gogc=0400", want: "gogc=400"},
		{in: "gc-off", want: "gc-off"},
		{in: "mode=process", want: "mode=process"},
		{in: "procs=threads", want: "procs=threads"},
		{in: "pin", want: "pin"},
		{in: "delay=lock/mutex", want: "delay=lock/mutex"},
		{in: "procs=threads+gogc=400", want: "gogc=400+procs=threads"},
		{in: " gogc=400 + pin ", want: "gogc=400+pin"},
		{in: "gogc=100", err: "is the baseline"},
		{in: "gogc=0", err: "whole number"},
		{in: "gogc=off", err: "gc-off switches the collector off"},
		{in: "gogc=", err: "whole number"},
		{in: "gogc=-5", err: "whole number"},
		{in: "gc-off=1", err: "takes no value"},
		{in: "mode=thread", err: "mode=process"},
		{in: "procs=4", err: "procs=threads or procs=cpus"},
		{in: "delay=", err: "cause's id"},
		{in: "delay=../etc", err: "cause's id"},
		{in: "delay=Lock", err: "cause's id"},
		{in: "gogc=200+gogc=400", err: "changes gogc twice"},
		{in: "gogc=200+gc-off", err: "sets GOGC twice"},
		{in: "mode=process+procs=threads", err: "sets GOMAXPROCS twice"},
		{in: "", err: "unknown arm"},
		{in: "turbo", err: "unknown arm \"turbo\"; there are gogc=N"},
	} {
		a, err := Parse(test.in)
		switch {
		case test.err == "" && (err != nil || a.Name != test.want):
			t.Errorf("Parse(%q) = %q, %v; want %q", test.in, a.Name, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("Parse(%q): error %v, want one with %q", test.in, err, test.err)
		}
	}
}

func TestParseList(t *testing.T) {
	arms, err := ParseList("gogc, pin,gogc=400,,procs=threads")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range arms {
		names = append(names, a.Name)
	}
	want := []string{"gogc=200", "gogc=400", "gogc=800", "pin", "procs=threads"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if arms, err := ParseList(""); err != nil || len(arms) != 0 {
		t.Errorf("an empty list gave %v, %v", arms, err)
	}
}

func TestEveryArmSaysWhatItIs(t *testing.T) {
	arms := append(All("cpus"), All("threads")...)
	d, err := Parse("delay=lock/mutex")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(arms, d) {
		if len(a.Tests()) == 0 {
			t.Errorf("%s tests nothing", a.Name)
		}
		for _, about := range a.About() {
			if about.Changes == "" || about.Confound == "" || about.Name == "" {
				t.Errorf("%s: %+v leaves something out", a.Name, about)
			}
		}
	}
}

// room is a machine on which every arm is possible.
func room() Room {
	return Room{
		Peak: 4, Mode: "thread", ProcsRule: "cpus", OS: "linux",
		CoreFirst: []int{0, 1, 2, 3}, FreeMemory: 8 << 30, Delays: []string{"lock/mutex"},
	}
}

func TestPossible(t *testing.T) {
	for _, test := range []struct {
		arm  string
		room func(*Room)
		want string // "" for possible
	}{
		{arm: "pin"},
		{arm: "pin", room: func(r *Room) { r.CoreFirst = []int{0, 2} }, want: "4 workers cannot each have a physical core: there are 2"},
		{arm: "pin", room: func(r *Room) { r.CoreFirst = nil }, want: "not known"},
		{arm: "pin", room: func(r *Room) { r.OS = "darwin" }, want: "on Linux only"},
		{arm: "gc-off"},
		{arm: "gc-off", room: func(r *Room) { r.FreeMemory = 0 }, want: "not known"},
		{arm: "gc-off", room: func(r *Room) { r.FreeMemory = 300 << 20 }, want: "300 MB of free memory leave 180 MB"},
		{arm: "gc-off", room: func(r *Room) { r.Mode = "process"; r.FreeMemory = 1 << 30 }, want: "leave 153 MB for each process"},
		{arm: "mode=process"},
		{arm: "mode=process", room: func(r *Room) { r.NoMode = true }, want: "cannot be run as several processes"},
		{arm: "procs=cpus", want: "the baseline already has procs=cpus"},
		{arm: "procs=threads"},
		{arm: "delay=lock/mutex"},
		{arm: "delay=gc/mark", want: "can delay only [lock/mutex]"},
		{arm: "delay=gc/mark", room: func(r *Room) { r.Delays = nil }, want: "no place where a delay can be added"},
		{arm: "gogc=400+pin", room: func(r *Room) { r.CoreFirst = []int{0} }, want: "arm gogc=400+pin: 4 workers"},
	} {
		a, err := Parse(test.arm)
		if err != nil {
			t.Fatal(err)
		}
		r := room()
		if test.room != nil {
			test.room(&r)
		}
		err = a.Possible(r)
		if test.want == "" && err != nil {
			t.Errorf("%s: %v, want it possible", test.arm, err)
		}
		if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.arm, err, test.want)
		}
	}
}

func TestApply(t *testing.T) {
	base := Setting{Mode: record.Thread, ProcsRule: "cpus"}
	for _, test := range []struct {
		arm  string
		want Setting
	}{
		{"gogc=400", Setting{Mode: record.Thread, ProcsRule: "cpus", Env: []string{"GOGC=400"}}},
		{"gc-off", Setting{Mode: record.Thread, ProcsRule: "cpus", Env: []string{"GOGC=off", "GOMEMLIMIT=5153960755"}}},
		{"mode=process", Setting{Mode: record.Process, ProcsRule: "1"}},
		{"mode=process+gc-off", Setting{Mode: record.Process, ProcsRule: "1", Env: []string{"GOGC=off", "GOMEMLIMIT=1288490188"}}},
		{"procs=threads+pin", Setting{Mode: record.Thread, ProcsRule: "threads", Pin: true}},
		{"delay=lock/mutex", Setting{Mode: record.Thread, ProcsRule: "cpus", DelayNS: map[string]int64{"lock/mutex": DelayNS}}},
	} {
		a, err := Parse(test.arm)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Apply(base, room())
		if got.Mode != test.want.Mode || got.ProcsRule != test.want.ProcsRule || got.Pin != test.want.Pin ||
			!slices.Equal(got.Env, test.want.Env) || len(got.DelayNS) != len(test.want.DelayNS) {
			t.Errorf("%s: %+v, want %+v", test.arm, got, test.want)
		}
		if base.Env != nil || base.DelayNS != nil {
			t.Fatalf("%s changed the baseline", test.arm)
		}
	}
}

// Names are canonical: parsing a name again gives the same name, and the order
// of parts does not matter.
func TestNamesAreCanonical(t *testing.T) {
	parts := []string{"gogc=200", "gogc=400", "gc-off", "mode=process", "procs=threads", "procs=cpus", "pin", "delay=lock/mutex", "delay=gc/mark"}
	rapid.Check(t, func(t *rapid.T) {
		picked := rapid.SliceOfNDistinct(rapid.SampledFrom(parts), 1, 4, rapid.ID).Draw(t, "parts")
		a, err := Parse(strings.Join(picked, "+"))
		if err != nil {
			return
		}
		b, err := Parse(a.Name)
		if err != nil || b.Name != a.Name {
			t.Fatalf("%q parses to %q, %v", a.Name, b.Name, err)
		}
		slices.Reverse(picked)
		c, err := Parse(strings.Join(picked, "+"))
		if err != nil {
			t.Fatal(err)
		}
		aw, cw := words(a.Name), words(c.Name)
		slices.Sort(aw)
		slices.Sort(cw)
		if !slices.Equal(aw, cw) {
			t.Fatalf("%v reversed gives %q instead of %q", picked, c.Name, a.Name)
		}
	})
}

func words(name string) []string { return strings.Split(name, "+") }

func FuzzParseList(f *testing.F) {
	f.Add("gogc,pin,procs=threads+gc-off")
	f.Add("delay=lock/mutex")
	f.Fuzz(func(t *testing.T, list string) {
		arms, err := ParseList(list)
		if err != nil {
			return
		}
		for _, a := range arms {
			b, err := Parse(a.Name)
			if err != nil || b.Name != a.Name {
				t.Errorf("%q is not canonical: %q, %v", a.Name, b.Name, err)
			}
		}
	})
}
