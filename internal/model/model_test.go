package model

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/report"
)

// simulate makes points of a wall-time law with relative noise.
func simulate(r *rand.Rand, threads []int, blocks int, noise float64, wall func(n float64) float64) []Point {
	var out []Point
	for _, t := range threads {
		p := Point{Threads: t}
		for range blocks {
			p.WallNS = append(p.WallNS, 1e9*wall(float64(t))*math.Exp(noise*r.NormFloat64()))
		}
		out = append(out, p)
	}
	return out
}

func uslWall(sigma, kappa float64) func(n float64) float64 {
	return func(n float64) float64 { return (1 + sigma*(n-1) + kappa*n*(n-1)) / n }
}

func kneeWall(k, yield, serial float64) func(n float64) float64 {
	return func(n float64) float64 { return (1-serial)/cores(n, k, yield) + serial }
}

var (
	eight    = []int{1, 2, 3, 4, 6, 8, 12, 16}
	smt      = []host.Place{{Threads: 8, Name: "physical cores"}, {Threads: 16, Name: "CPUs"}}
	noPlaces []host.Place
)

func find(t interface{ Fatalf(string, ...any) }, r Result, name string) report.Model {
	for _, m := range r.Models {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no model %s in %+v", name, r.Models)
	return report.Model{}
}

func chosen(r Result) string {
	for _, m := range r.Models {
		if m.Chosen {
			return m.Name
		}
	}
	return ""
}

// TestExactCurvesReturnTheirParameters: without noise every law finds itself.
func TestExactCurvesReturnTheirParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0, 0.3).Draw(t, "sigma")
		kappa := rapid.Float64Range(0.001, 0.02).Draw(t, "kappa")
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		m := find(t, Analyze(simulate(r, eight, 1, 0, uslWall(sigma, kappa)), smt), uslName)
		near(t, "contention", m.Parameters["contention"], sigma, 1e-6)
		near(t, "coherency", m.Parameters["coherency"], kappa, 1e-6)
		near(t, "peak", m.Parameters["peak_threads"], math.Sqrt((1-sigma)/kappa), 1e-3)

		m = find(t, Analyze(simulate(r, eight, 1, 0, uslWall(sigma, 0)), smt), amdahlName)
		near(t, "serial fraction", m.Parameters["serial_fraction"], sigma, 1e-6)

		yield := rapid.Float64Range(-0.3, 0.6).Draw(t, "yield")
		m = find(t, Analyze(simulate(r, eight, 1, 0, kneeWall(8, yield, sigma/3)), smt), brokenName)
		near(t, "yield", m.Parameters["yield"], yield, 1e-3)
		near(t, "knee", m.Parameters["knee"], 8, 1e-6)
	})
}

func near(t *rapid.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s = %v, want %v", what, got, want)
	}
}

// TestNoisyCurves: with 1% noise the right law is chosen, and its intervals hold
// the truth, nearly always.
func TestNoisyCurves(t *testing.T) {
	for _, c := range []struct {
		name   string
		wall   func(float64) float64
		law    string
		param  string
		truth  float64
		chosen float64 // least fraction of trials
	}{
		{"amdahl", uslWall(0.05, 0), amdahlName, "serial_fraction", 0.05, 0.85},
		{"perfect", uslWall(0, 0), amdahlName, "serial_fraction", 0, 0.85},
		{"usl", uslWall(0.03, 0.004), uslName, "coherency", 0.004, 0.85},
		{"smt", kneeWall(8, 0.25, 0), brokenName, "yield", 0.25, 0.9},
		{"smt with a serial part", kneeWall(8, 0.25, 0.03), brokenName, "yield", 0.25, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			const trials = 40
			r := rand.New(rand.NewPCG(1, 2))
			right, holds, with := 0, 0, 0
			for range trials {
				// Without the knee's interval, which takes longer than all the rest.
				res := Result{Models: fitAll(newCurve(simulate(r, eight, 6, 0.01, c.wall)), smt).models()}
				got := chosen(res)
				if got == c.law {
					right++
				}
				if c.law == brokenName && got == uslName {
					t.Errorf("an SMT knee was called coherency: %+v", res.Models)
				}
				if ci := find(t, res, c.law).CI[c.param]; ci != nil {
					with++
					if ci[0] <= c.truth && c.truth <= ci[1] {
						holds++
					}
				}
			}
			t.Logf("chosen %d of %d, interval holds %d of %d", right, trials, holds, with)
			if float64(right) < c.chosen*trials {
				t.Errorf("%s was chosen in %d of %d trials", c.law, right, trials)
			}
			if float64(holds) < 0.85*float64(with) || with == 0 {
				t.Errorf("the interval of %s holds %v in %d of %d", c.param, c.truth, holds, with)
			}
		})
	}
}

// TestKneeIsFoundAndNamed: with interval, and named only where a place is.
func TestKneeIsFoundAndNamed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	points := simulate(r, eight, 10, 0.01, kneeWall(8, 0.25, 0))
	k := Analyze(points, smt).Knee
	if k == nil || k.Threads != 8 || k.Place != "physical cores" || k.CI == nil || k.CI[0] > 8 || k.CI[1] < 8 || k.CI[1]-k.CI[0] > 4 {
		t.Errorf("knee %+v (interval %v), want 8 at the physical cores", k, k.CI)
	}
	k = Analyze(points, noPlaces).Knee
	if k == nil || k.Threads < 7 || k.Threads > 9 || k.Place != "" {
		t.Errorf("searched knee %+v, want about 8 and no name", k)
	}
	wrong := []host.Place{{Threads: 3, Name: "one last-level cache"}}
	if k = Analyze(points, wrong).Knee; k == nil || k.Place != "" || k.Threads < 7 || k.Threads > 9 {
		t.Errorf("knee %+v, want about 8, which is not the cache's place", k)
	}
	if k = Analyze(simulate(r, eight, 10, 0.01, uslWall(0.05, 0)), smt).Knee; k != nil {
		t.Errorf("Amdahl's law has the knee %+v", k)
	}
}

func TestTwoThreadsFitNoUSL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(1, 32).Draw(t, "p")
		b := rapid.IntRange(a+1, 64).Draw(t, "q")
		blocks := rapid.IntRange(1, 8).Draw(t, "blocks")
		wall := rapid.SliceOfN(rapid.Float64Range(1e3, 1e12), blocks, blocks)
		res := Analyze([]Point{{a, wall.Draw(t, "at p")}, {b, wall.Draw(t, "at q")}}, smt)
		for _, m := range res.Models {
			if len(m.Parameters) != 0 || m.Identified || m.Chosen || !strings.Contains(m.Why, "add T=") {
				t.Fatalf("two T gave %+v", m)
			}
		}
	})
}

// TestAnalyzeSurvivesAnything: untrusted numbers give no panic, no NaN and no
// infinity in what becomes JSON.
func TestAnalyzeSurvivesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wall := rapid.OneOf(rapid.Float64(), rapid.Float64Range(1, 1e12), rapid.Just(math.NaN()))
		point := rapid.Custom(func(t *rapid.T) Point {
			return Point{rapid.IntRange(-1, 1<<20).Draw(t, "T"), rapid.SliceOfN(wall, 0, 8).Draw(t, "wall")}
		})
		place := rapid.Custom(func(t *rapid.T) host.Place {
			return host.Place{Threads: rapid.IntRange(0, 1<<12).Draw(t, "at"), Name: "somewhere"}
		})
		points := rapid.SliceOfN(point, 0, 8).Draw(t, "points")
		res := Analyze(points, rapid.SliceOfN(place, 0, 3).Draw(t, "places"))
		for _, m := range res.Models {
			for name, v := range m.Parameters {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s of %s is %v", name, m.Name, v)
				}
			}
			if strings.Contains(m.Why, "NaN") || m.Why == "" {
				t.Fatalf("why %q", m.Why)
			}
		}
		if res.Best == nil && len(res.Marginal) > 0 {
			t.Fatal("points without a best one")
		}
	})
}

func TestGains(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	res := Analyze(simulate(r, []int{1, 2, 4, 8, 16}, 10, 0.005, kneeWall(4, 0.02, 0)), noPlaces)
	if res.Useless == nil || *res.Useless != 4 {
		t.Errorf("useless beyond %v, want 4", res.Useless)
	}
	if g := res.Marginal[1]; math.Abs(g.Value-1) > 0.05 || g.CI == nil || g.CI[0] > 1.02 || g.CI[1] < 0.98 {
		t.Errorf("gain of the second core %+v, want 1", g)
	}
	res = Analyze(simulate(r, []int{1, 2, 4, 8}, 10, 0.005, uslWall(0.01, 0)), noPlaces)
	if res.Useless != nil || *res.Best != 8 {
		t.Errorf("useless beyond %v, best %d; want none and 8", res.Useless, *res.Best)
	}
}

// TestAmbiguousSaysWhatToAdd: with few T a knee and the USL may both fit.
func TestAmbiguousSaysWhatToAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	res := Analyze(simulate(r, []int{1, 2, 4, 8}, 6, 0.03, uslWall(0.03, 0.002)), noPlaces)
	if m := find(t, res, uslName); m.Identified {
		t.Errorf("USL from T up to 8 with 3%% noise is identified: %+v", m)
	}
	f := fitAll(newCurve(simulate(r, eight, 6, 0.01, kneeWall(8, 0.25, 0))), smt)
	if s := f.next(f.usl, f.broken); !strings.Contains(s, "add T=") {
		t.Errorf("suggestion %q", s)
	}
	res = Analyze(simulate(r, eight, 1, 0.01, uslWall(0.03, 0.004)), smt)
	for _, m := range res.Models {
		if m.Identified || !strings.Contains(m.Why, "one repeat") {
			t.Errorf("one repeat: %+v", m)
		}
		for name, ci := range m.CI {
			if ci != nil {
				t.Errorf("one repeat gave an interval for %s: %v", name, *ci)
			}
		}
	}
}

// seed reads the published figures: four series of six T, one repeat each.
func seed(t *testing.T) map[string][]Point {
	b, err := os.ReadFile("../../testdata/seed-testscalability.log")
	if err != nil {
		t.Fatal(err)
	}
	series := map[string][]Point{}
	name := ""
	run := regexp.MustCompile(`^=== RUN +TestScalability_(\w+/\w+)`)
	cost := regexp.MustCompile(`^(\d+) \w+ total cost: (\d+)us`)
	for line := range strings.Lines(string(b)) {
		if m := run.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if m := cost.FindStringSubmatch(line); m != nil {
			threads, _ := strconv.Atoi(m[1])
			us, _ := strconv.ParseFloat(m[2], 64)
			series[name] = append(series[name], Point{threads, []float64{us * 1e3}})
		}
	}
	return series
}

func TestSeed(t *testing.T) {
	best := map[string]int{"Process/sonic": 8, "Process/std": 8, "Thread/sonic": 12, "Thread/std": 8}
	got := seed(t)
	if len(got) != 4 {
		t.Fatalf("read %d series", len(got))
	}
	for name, points := range got {
		half := []host.Place{{Threads: 8, Name: "half of the CPUs"}, {Threads: 16, Name: "CPUs"}}
		for _, places := range [][]host.Place{half, smt} {
			r := Analyze(points, places)
			if *r.Best != best[name] {
				t.Errorf("%s: best at %d, want %d", name, *r.Best, best[name])
			}
			place := ""
			if best[name] == 8 {
				place = places[0].Name
			}
			if r.Knee == nil || r.Knee.Threads != best[name] || r.Knee.CI != nil || r.Knee.Place != place {
				t.Errorf("%s: knee %+v, want %d at %q without an interval", name, r.Knee, best[name], place)
			}
			if chosen(r) != "" {
				t.Errorf("%s: one repeat chose %s", name, chosen(r))
			}
			t.Logf("%s: useless beyond %v; %v", name, *r.Useless, r.Notes)
			for _, m := range r.Models {
				t.Logf("  %s %v: %s", m.Name, m.Parameters, m.Why)
			}
		}
	}
}
