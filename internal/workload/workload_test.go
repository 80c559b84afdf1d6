package workload

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type named string

func (n named) Info() Info {
	return Info{Name: string(n), Params: map[string]string{"size": "bytes"}}
}
func (named) Prepare(Params) (Instance, error) { return nil, nil }

func TestNearest(t *testing.T) {
	names := []string{"json/goccy", "json/jsoniter", "json/jsonv2", "json/segmentio", "json/sonic", "json/std", "lab/mutex", "lab/rwmutex"}
	for _, tt := range []struct {
		in, first string
	}{
		{"json/sonci", "json/sonic"},
		{"sonic", "json/sonic"},
		{"JSON/Std", "json/std"},
		{"json/stdlib", "json/std"},
		{"lab/mutx", "lab/mutex"},
		{"mutex", "lab/mutex"},
		{"jsoniter", "json/jsoniter"},
		{"segment", "json/segmentio"},
		{"zzz", ""},
		{"", ""},
	} {
		got := Nearest(tt.in, names)
		first := ""
		if len(got) > 0 {
			first = got[0]
		}
		if first != tt.first {
			t.Errorf("Nearest(%q) = %q, want %q first", tt.in, got, tt.first)
		}
	}
}

func TestNearestNamesOnlyWhatExists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z]{1,4}(/[a-z]{1,6})?`), rapid.ID[string]).Draw(t, "names")
		name := rapid.String().Draw(t, "name")
		got := Nearest(name, names)
		if len(got) > 3 {
			t.Fatalf("%d names", len(got))
		}
		for _, n := range got {
			if !slices.Contains(names, n) {
				t.Fatalf("%q is none of %q", n, names)
			}
		}
		if len(names) > 0 && len(names[0]) >= 3 {
			if near := Nearest(names[0], names); !slices.Contains(near, names[0]) && len(near) < 3 {
				t.Fatalf("%q is not near itself: %q", names[0], near)
			}
		}
	})
}

func TestLookup(t *testing.T) {
	r := NewRegistry(named("json/std"), named("json/sonic"))
	if w, err := r.Lookup("json/sonic"); err != nil || w.Info().Name != "json/sonic" {
		t.Errorf("Lookup: %v, %v", w, err)
	}
	_, err := r.Lookup("json/sonik")
	if err == nil || !strings.Contains(err.Error(), "did you mean json/sonic") {
		t.Errorf("a slip of the pen: %v", err)
	}
	_, err = r.Lookup("postgres")
	if err == nil || !strings.Contains(err.Error(), "scaleprof list") {
		t.Errorf("something else: %v", err)
	}
	if got := r.All(); len(got) != 2 || got[0].Info().Name != "json/sonic" {
		t.Errorf("All is not in order: %v", got)
	}
}

func TestCheckParams(t *testing.T) {
	w := named("json/std")
	if err := CheckParams(w, map[string]string{"size": "1"}); err != nil {
		t.Error(err)
	}
	err := CheckParams(w, map[string]string{"sise": "1"})
	if err == nil || !strings.Contains(err.Error(), `no parameter "sise"; it takes size`) {
		t.Errorf("unknown parameter: %v", err)
	}
}
