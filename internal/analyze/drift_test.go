package analyze

import (
	"strings"
	"testing"

	"github.com/scaleprof/scaleprof/internal/record"
)

func TestDrift(t *testing.T) {
	session := func(wall func(k int) int64) *loaded {
		m := &record.Manifest{}
		l := &loaded{manifest: m, byID: map[string]*cell{"a": {}, "b": {}}}
		for k := range 24 {
			name, scale := "a", int64(1)
			if k%2 == 1 {
				name, scale = "b", 3
			}
			m.Runs = append(m.Runs, record.Run{Cell: name, Kind: record.Timed, Seq: k, WallNS: scale * wall(k)})
		}
		m.Runs = append(m.Runs, record.Run{Cell: "a", Kind: record.Profiled, Seq: 99, WallNS: 1e12}, record.Run{Cell: "gone", Kind: record.Timed, Seq: 100, WallNS: 1})
		return l
	}
	for want, wall := range map[string]func(k int) int64{
		"slower as the session went on: by 23%": func(k int) int64 { return 1e8 + int64(k)*1e6 },
		"faster as the session went on: by ":    func(k int) int64 { return 2e8 - int64(k)*2e6 },
		"":                                      func(k int) int64 { return 1e8 + int64(k%3)*4e6 },
	} {
		l := session(wall)
		l.drift()
		got := ""
		for _, w := range l.warnings {
			got += w.Text
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
