package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var updateCurves = flag.Bool("update-curves", false, "rewrite the curves' golden files")

// curveOf makes a series from speed-ups.
func curveOf(mode string, threads []int, speedup, ceiling []float64, width float64) Series {
	s := Series{Target: "json/sonic", Mode: mode, Arm: "baseline"}
	for i, t := range threads {
		p := Point{Threads: t, Speedup: &speedup[i]}
		if ceiling != nil {
			p.CeilingSpeedup = &ceiling[i]
		}
		if width > 0 && i > 0 {
			p.SpeedupCI = &[2]float64{speedup[i] * (1 - width), speedup[i] * (1 + width)}
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func TestCurveGolden(t *testing.T) {
	seed := []int{1, 4, 8, 12, 15, 16}
	for _, c := range []struct {
		name   string
		series []Series
		opt    TextOptions
	}{
		{"seed", []Series{
			curveOf("thread", seed, []float64{1, 2.92, 4.02, 4.14, 3.75, 3.83}, nil, 0),
			curveOf("process", seed, []float64{1, 2.31, 2.35, 1.99, 1.70, 1.68}, nil, 0),
		}, TextOptions{}},
		{"ceiling", []Series{
			curveOf("thread", []int{1, 2, 4, 8, 16}, []float64{1, 1.9, 3.6, 5.8, 6.4}, []float64{1, 2, 4, 7.8, 10.5}, 0.08),
		}, TextOptions{}},
		{"two", []Series{
			curveOf("thread", []int{1, 2}, []float64{1, 1.3}, []float64{1, 1.97}, 0.05),
		}, TextOptions{}},
		{"base4", []Series{
			curveOf("thread", []int{4, 8, 16}, []float64{1, 1.8, 2.9}, nil, 0.1),
		}, TextOptions{Width: 50}},
	} {
		for _, ascii := range []bool{false, true} {
			name := c.name + ".txt"
			if ascii {
				name = c.name + "-ascii.txt"
			}
			t.Run(name, func(t *testing.T) {
				opt := c.opt
				opt.ASCII = ascii
				got := strings.Join(Curve(c.series, opt), "\n") + "\n"
				golden := filepath.Join("testdata", "curve", name)
				if *updateCurves {
					if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), got); d != "" {
					t.Errorf("the curve changed (-want +got); -update-curves rewrites:\n%s", d)
				}
			})
		}
	}
}

// TestCurveFits: whatever is drawn, it has at most 12 lines, fits the width and
// is ASCII where it must be.
func TestCurveFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 200).Draw(t, "width")
		ascii := rapid.Bool().Draw(t, "ascii")
		var series []Series
		for range rapid.IntRange(0, 5).Draw(t, "series") {
			s := Series{Mode: rapid.SampledFrom([]string{"thread", "process"}).Draw(t, "mode"), Arm: "gogc=400"}
			for range rapid.IntRange(0, 6).Draw(t, "points") {
				num := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 100))
				v, ceiling := num.Draw(t, "speedup"), num.Draw(t, "ceiling")
				s.Points = append(s.Points, Point{
					Threads: rapid.IntRange(-1, 300).Draw(t, "T"), Speedup: &v, CeilingSpeedup: &ceiling,
					SpeedupCI: &[2]float64{num.Draw(t, "lo"), num.Draw(t, "hi")},
				})
			}
			series = append(series, s)
		}
		lines := Curve(series, TextOptions{Width: width, ASCII: ascii})
		if len(lines) > 12 {
			t.Fatalf("%d lines", len(lines))
		}
		limit := width
		if limit == 0 {
			limit = 80
		}
		for _, l := range lines {
			n := utf8.RuneCountInString(l)
			if n > limit {
				t.Fatalf("a line of %d columns in a terminal of %d: %q", n, limit, l)
			}
			if ascii && len(l) != n {
				t.Fatalf("not ASCII: %q", l)
			}
		}
	})
}
