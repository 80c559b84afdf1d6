package arm

import (
	"slices"
	"strings"
	"testing"
)

func TestCombine(t *testing.T) {
	for list, want := range map[string]string{
		"gogc=400,pin":                      "gogc=400 pin gogc=400+pin",
		"pin,gogc=400":                      "pin gogc=400 gogc=400+pin",
		"gogc=400,procs=threads,pin":        "gogc=400 procs=threads pin gogc=400+procs=threads gogc=400+pin procs=threads+pin gogc=400+procs=threads+pin",
		"gogc=400":                          "error: 1 arms",
		"gogc=200,gogc=400":                 "error: arms that cannot be combined",
		"gogc=400,gc-off":                   "error: arms that cannot be combined",
		"gogc=400,gc-off,pin,procs=threads": "error: 4 arms",
	} {
		arms, err := ParseList(list)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Combine(arms)
		var names []string
		for _, a := range all {
			names = append(names, a.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && !(strings.HasPrefix(want, "error") && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

func TestCombinedNeedsEverySubset(t *testing.T) {
	single, sets := Combined([]string{"pin", "gogc=400", "gogc=400+pin", "gogc=800"})
	if !slices.Equal(single, []string{"gogc=400", "pin"}) || !slices.Equal(sets, []string{"", "gogc=400", "pin", "gogc=400+pin"}) {
		t.Errorf("%q, %q", single, sets)
	}
	for _, names := range [][]string{
		{"pin", "gogc=400"},
		{"pin", "gogc=400+pin"},
		nil,
		{"no such arm"},
		{"gogc=400", "pin", "procs=threads", "gogc=400+procs=threads+pin"},
	} {
		if single, _ := Combined(names); single != nil {
			t.Errorf("%q: %q", names, single)
		}
	}
}
