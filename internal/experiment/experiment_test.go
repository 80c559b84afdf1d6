package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

func slow(r *rand.Rand) float64 {
	v := math.Exp(0.01 * r.NormFloat64())
	if r.Float64() < 0.1 {
		v *= 1.05 + 0.25*r.Float64()
	}
	return v
}

func repeat(r *rand.Rand, blocks int, median float64) []float64 {
	out := make([]float64, blocks)
	for i := range out {
		out[i] = median * slow(r)
	}
	return out
}

// truth is a figure of noise-free slot times.
func slots(base, peak float64) Slots { return Slots{[]float64{base}, []float64{peak}} }

func TestEffect(t *testing.T) {
	// Baseline 8 to 16: slot time 100 to 160 s. The arm costs 10 everywhere and
	// loses 20 instead of 60.
	e := Contrast{8, 16, slots(100, 160), slots(110, 130)}.Effect()
	want := map[string][2]float64{
		"ns":         {e.NS.Value, 40},
		"cores":      {e.Cores.Value, 40 / 10.0}, // wall at peak is 10
		"efficiency": {e.Efficiency.Value, 110.0 / 130},
		"potential":  {e.Potential.Value, 100.0 / 120},
	}
	for name, v := range want {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, v[0], v[1])
		}
	}
	if e.Cores.CI != nil || e.Blocks != 1 {
		t.Errorf("one block has the interval %v, %d blocks", e.Cores.CI, e.Blocks)
	}
	if p := potential(e.Potential, "gogc=400"); p == nil || p.From != "gogc=400" || p.CI != nil {
		t.Errorf("potential %+v", p)
	}
	missing := Contrast{8, 16, slots(100, 160), Slots{[]float64{110}, []float64{math.NaN()}}}.Effect()
	if !math.IsNaN(missing.Cores.Value) || potential(missing.Potential, "x") != nil {
		t.Errorf("a missing cell gave %+v", missing)
	}
}

// TestEffectCoverage: the interval of an effect holds the truth between 90 and
// 99 times in a hundred, also where the session drifts and blocks are missing.
func TestEffectCoverage(t *testing.T) {
	const trials = 120
	r := rand.New(rand.NewPCG(1, 1))
	for _, blocks := range []int{6, 10} {
		for _, drift := range []float64{0, 0.2} {
			holds := 0
			for range trials {
				c := Contrast{8, 16, Slots{repeat(r, blocks+2, 100), repeat(r, blocks+2, 160)}, Slots{repeat(r, blocks+2, 110), repeat(r, blocks+2, 130)}}
				for i := range blocks + 2 {
					for _, s := range [][]float64{c.Baseline.Base, c.Baseline.Peak, c.Arm.Base, c.Arm.Peak} {
						s[i] *= 1 + drift*float64(i)/float64(blocks+2)
					}
				}
				// Arms start after the pilot blocks.
				for i := range 2 {
					c.Arm.Base[i], c.Arm.Peak[i] = math.NaN(), math.NaN()
				}
				if ci := c.Effect().Cores.CI; ci != nil && ci[0] <= 4 && 4 <= ci[1] {
					holds++
				}
			}
			got := float64(holds) / trials
			t.Logf("%d blocks, drift %.0f%%: covers %.3f", blocks, 100*drift, got)
			if got < 0.90-0.06 || got > 0.99+0.01 {
				t.Errorf("%d blocks, drift %v: the 95%% interval covers %.3f", blocks, drift, got)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	est := func(v, lo, hi float64) stats.Estimate { return stats.Estimate{Value: v, CI: &[2]float64{lo, hi}} }
	point := func(v float64) stats.Estimate { return stats.Estimate{Value: v} }
	for _, c := range []struct {
		name               string
		effect, attributed stats.Estimate
		want               string
	}{
		{"the same", est(2, 1.8, 2.2), est(2.1, 1.9, 2.3), Agree},
		{"close to it, with tight intervals", est(1.8, 1.75, 1.85), est(2, 1.95, 2.05), Agree},
		{"both too small to act on", est(-0.03, -0.04, -0.02), est(0.01, 0.005, 0.015), Agree},
		{"less", est(0.5, 0.3, 0.7), est(2, 1.8, 2.2), Shifted},
		{"nothing though much was attributed", est(0, -0.1, 0.1), est(2, 1.8, 2.2), Shifted},
		{"more", est(3, 2.8, 3.2), est(0.4, 0.3, 0.5), Unexplained},
		{"too wide to tell", est(1, -2, 4), est(2, 1.8, 2.2), Unexplained},
		{"neither", est(0, -0.1, 0.1), est(0.02, -0.1, 0.1), Agree},
		{"no interval", point(2), est(2, 1.8, 2.2), Unexplained},
		{"attribution is a point", est(2, 1.8, 2.2), point(2.1), Agree},
		{"not run", point(math.NaN()), est(2, 1.8, 2.2), Unexplained},
		{"not attributed", est(2, 1.8, 2.2), point(math.NaN()), Unexplained},
	} {
		if got, why := Judge(c.effect, c.attributed); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, why, c.want)
		}
	}
	if Proves(report.Experiment{Verdict: Agree, EffectCI: &[2]float64{-0.1, 0.1}}) {
		t.Error("an effect of nothing proves a cause")
	}
	if !Proves(Of("gogc=400", nil, Effect{Cores: est(2, 1.8, 2.2)}, est(2, 1.9, 2.1), "")) {
		t.Error("an effect that agrees proves nothing")
	}
}

func TestFromAttribution(t *testing.T) {
	p := FromAttribution(100, 160, stats.Estimate{Value: 40, CI: &[2]float64{30, 50}})
	if p.WithoutCauseEfficiency != 100.0/120 || p.CI[0] != 100.0/130 || p.CI[1] != 100.0/110 {
		t.Errorf("potential %+v", p)
	}
	if FromAttribution(100, 160, stats.Estimate{Value: 200}) != nil || FromAttribution(100, 160, stats.Estimate{Value: math.NaN()}) != nil {
		t.Error("a cause that costs more than there is has a potential")
	}
}

// TestDoseReturnsItsParameters: a curve of the form S_inf + c/GOGC is found again.
func TestDoseReturnsItsParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(1e8, 1e11)
		b := line{f.Draw(t, "base inf"), 100 * f.Draw(t, "base c")}
		q := line{f.Draw(t, "peak inf"), 100 * f.Draw(t, "peak c")}
		var rs []Response
		for _, g := range []int{400, 100, 800, 200} {
			rs = append(rs, Response{g, slots(b.at(float64(g)), q.at(float64(g)))})
		}
		d := Dose(16, rs, stats.Estimate{Value: math.NaN()})
		if d == nil || d.GOGC[0] != 100 || d.GOGC[3] != 800 {
			t.Fatalf("dose %+v", d)
		}
		same := func(what string, got, want, scale float64) {
			if math.Abs(got-want) > 1e-6*scale {
				t.Fatalf("%s = %v, want %v", what, got, want)
			}
		}
		same("S_inf at base", d.BaseInfNS, b.inf, b.at(100))
		same("S_inf at peak", d.PeakInfNS, q.inf, q.at(100))
		same("cores", d.GCCores, (q.c-b.c)/100*16/q.at(100), 16*(1+b.at(100)/q.at(100)))
	})
}

func TestDoseLackOfFit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	make4 := func(peak func(g float64) float64) *report.Dose {
		var rs []Response
		for _, g := range []int{100, 200, 400, 800} {
			rs = append(rs, Response{g, Slots{repeat(r, 8, 100+1000/float64(g)), repeat(r, 8, peak(float64(g)))}})
		}
		return Dose(16, rs, stats.Estimate{Value: math.NaN()})
	}
	const trials = 50
	doubted := 0
	for range trials {
		d := make4(func(g float64) float64 { return 130 + 5000/g })
		if d.Why != "" {
			doubted++
		}
		if d.GCCoresCI == nil {
			t.Fatal("eight blocks without an interval")
		}
	}
	if doubted > trials*10/100 {
		t.Errorf("a good fit was doubted in %d of %d", doubted, trials)
	}
	if d := make4(func(g float64) float64 { return 130 + 0.1*g }); d.Why == "" {
		t.Errorf("slot time that grows with GOGC was not doubted: %+v", d)
	}
	if Dose(16, []Response{{100, slots(1, 2)}}, stats.Estimate{}) != nil || Dose(16, nil, stats.Estimate{}) != nil {
		t.Error("one dose has a fit")
	}
	if d := Dose(16, []Response{{100, slots(10, 20)}, {200, slots(9, 15)}, {200, slots(9, 15)}}, stats.Estimate{}); d == nil || d.Why == "" {
		t.Errorf("two doses are not doubted: %+v", d)
	}
}

func TestExpected(t *testing.T) {
	e := Expected(stats.Estimate{Value: 2, CI: &[2]float64{1, 3}}, 100, 400)
	if e.Value != 1.5 || *e.CI != [2]float64{0.75, 2.25} {
		t.Errorf("expected %+v, want three quarters", e)
	}
}

// TestShapley: shares add up to what all arms recover, a useless arm gets
// nothing, and arms that do the same share alike, in any order of peeling.
func TestShapley(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, MaxCombined).Draw(t, "arms")
		sets := make([]Slots, 1<<k)
		for m := range sets {
			sets[m] = slots(rapid.Float64Range(90, 110).Draw(t, "base"), rapid.Float64Range(100, 200).Draw(t, "peak"))
		}
		s, err := Shapley(16, sets)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, c := range s.Cores {
			sum += c.Value
		}
		if math.Abs(sum-s.All.Value) > 1e-9 {
			t.Fatalf("shares add up to %v, all arms recover %v", sum, s.All.Value)
		}
	})
	// v(1)=30, v(2)=20, v(both)=60: an interaction of 10 is shared equally.
	s, err := Shapley(16, []Slots{slots(100, 160), slots(100, 130), slots(100, 140), slots(100, 100)})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.Cores[0].Value, s.Cores[1].Value; math.Abs(a-3.5) > 1e-12 || math.Abs(b-2.5) > 1e-12 || math.Abs(s.Interaction.Value-1) > 1e-12 {
		t.Errorf("shares %v and %v, interaction %v; want 3.5, 2.5 and 1 cores", a, b, s.Interaction.Value)
	}
	for _, n := range []int{0, 1, 3, 16} {
		if _, err := Shapley(16, make([]Slots, n)); err == nil {
			t.Errorf("%d combinations have shares", n)
		}
	}
}

func TestModes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	c := Contrast{8, 16, Slots{repeat(r, 8, 100), repeat(r, 8, 160)}, Slots{repeat(r, 8, 105), repeat(r, 8, 115)}}
	m := Modes("process", c)
	if m == nil || math.Abs(m.SharedCores-5) > 0.6 || m.SharedCI == nil || m.SharedCI[0] <= 0 || math.Abs(m.Efficiency-105.0/115) > 0.03 {
		t.Errorf("contrast %+v, want 5 cores shared", m)
	}
	back := Modes("thread", Contrast{8, 16, c.Arm, c.Baseline})
	if back == nil || back.SharedCores <= 0 || back.SharedCI[0] <= 0 {
		t.Errorf("contrast from process mode %+v, want the same sign", back)
	}
	if Modes("process", Contrast{8, 16, c.Baseline, Slots{}}) != nil {
		t.Error("a mode that was not run has a contrast")
	}
}
