package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// A world draws one block's wall times at base and peak; the true efficiency of
// its Pair is known by construction.
type world struct {
	name  string
	walls func(r *rand.Rand, block, blocks int) (base, peak float64)
	truth float64
}

func noise(r *rand.Rand) float64 { return math.Exp(0.01 * r.NormFloat64()) }

// slow is 1% noise with every tenth run 5 to 30% slow.
func slow(r *rand.Rand) float64 {
	v := noise(r)
	if r.Float64() < 0.1 {
		v *= 1.05 + 0.25*r.Float64()
	}
	return v
}

// modal is 1% noise with a slower second mode.
func modal(r *rand.Rand, share, gap float64) float64 {
	if r.Float64() < share {
		return noise(r) * (1 + gap)
	}
	return noise(r)
}

func drifting(total float64) func(r *rand.Rand, block, blocks int) (float64, float64) {
	return func(r *rand.Rand, block, blocks int) (float64, float64) {
		at := func() float64 { return 1 + total*(float64(block)+r.Float64())/float64(blocks) }
		return slow(r) * at(), slow(r) * at()
	}
}

// worlds are the kinds of noise under which intervals must keep their word.
// Base and peak share the kind of noise, so that the ratio of their medians is 1
// times the factor that coverage puts in.
func worlds() []world {
	return []world{
		{"noise", func(r *rand.Rand, _, _ int) (float64, float64) { return noise(r), noise(r) }, 1},
		{"outliers", func(r *rand.Rand, _, _ int) (float64, float64) { return slow(r), slow(r) }, 1},
		{"drift 5%", drifting(0.05), 1},
		{"drift 20%", drifting(0.20), 1},
		{"two modes 30%", func(r *rand.Rand, _, _ int) (float64, float64) { return modal(r, 0.3, 0.15), modal(r, 0.3, 0.15) }, 1},
		{"two modes 50%", func(r *rand.Rand, _, _ int) (float64, float64) { return modal(r, 0.5, 0.15), modal(r, 0.5, 0.15) }, 1},
		{"slow blocks", func(r *rand.Rand, _, _ int) (float64, float64) {
			m := 1.0
			if r.Float64() < 0.5 {
				m = 1.15
			}
			return slow(r) * m, slow(r) * m
		}, 1},
		{"exponential tail", func(r *rand.Rand, _, _ int) (float64, float64) {
			return 1 + 0.02*r.ExpFloat64(), 1 + 0.02*r.ExpFloat64()
		}, 1},
	}
}

func (w world) pair(r *rand.Rand, blocks int) Pair {
	p := Pair{BaseThreads: 4, PeakThreads: 8}
	for i := range blocks {
		b, q := w.walls(r, i, blocks)
		p.Base = append(p.Base, 1e9*b)
		p.Peak = append(p.Peak, 0.7e9*q) // efficiency 4/(8*0.7)
	}
	return p
}

// long says whether simulations run with as many repetitions as it takes to see
// a percent: SCALEPROF_LONG=1 go test -timeout 1h ./internal/stats
func long() bool { return os.Getenv("SCALEPROF_LONG") != "" }

// TestCoverage checks that 95% intervals of the efficiency hold the truth
// between 90 and 99 times in a hundred, allowing for the simulation's own error
// (3 standard errors).
func TestCoverage(t *testing.T) {
	trials, sizes := 100, []int{6, 10}
	if long() {
		trials, sizes = 1000, []int{6, 7, 8, 10, 12, 15, 20, 40}
	}
	const truth = 4 / (8 * 0.7)
	slack := 3 * math.Sqrt(0.95*0.05/float64(trials))
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range sizes {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				holds, within, cores := 0, 0, 0
				for range trials {
					l := w.pair(r, n).Estimate()
					holds += contains(l.Efficiency.CI, truth)
					within += contains(l.Within.CI, truth)
					cores += contains(l.Cores.CI, 8*(1-truth))
				}
				for _, c := range []struct {
					name  string
					holds int
				}{{"efficiency", holds}, {"within", within}, {"cores", cores}} {
					got := float64(c.holds) / float64(trials)
					t.Logf("n=%d %s covers %.3f", n, c.name, got)
					if got < 0.90-slack || got > 0.99+slack {
						t.Errorf("n=%d: the 95%% interval of %s covers %.3f, want 0.90 to 0.99", n, c.name, got)
					}
				}
			}
		})
	}
}

func contains(ci Interval, v float64) int {
	if ci != nil && ci[0] <= v && v <= ci[1] {
		return 1
	}
	return 0
}

// shares draws one run's division between causes, the first of which is work:
// each other cause is 2% with 10% relative noise, now and then doubled.
func shares(r *rand.Rand, causes int, grown float64) []float64 {
	s := make([]float64, causes)
	rest := 1.0
	for k := 1; k < causes; k++ {
		s[k] = 0.02 * math.Exp(0.1*r.NormFloat64())
		if r.Float64() < 0.05 {
			s[k] *= 1.5
		}
		if k == 1 {
			s[k] += grown
		}
		rest -= s[k]
	}
	s[0] = rest
	return s
}

// TestRowsFalseAlarms checks that where nothing grew, some row of 15 is called
// grown in at most one capture of twenty; and that a cause that did grow is found.
func TestRowsFalseAlarms(t *testing.T) {
	trials, sizes := 40, []int{3, 6}
	if long() {
		trials, sizes = 1000, []int{3, 4, 6, 10}
	}
	const causes = 15
	for _, profiled := range sizes {
		for _, w := range worlds() {
			if !long() && w.name != "outliers" && w.name != "drift 20%" {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(profiled), 11))
			alarms, found, holds := 0, 0, 0
			for range trials {
				p := w.pair(r, 10)
				for i := range p.Peak {
					p.Peak[i] *= 0.5 / 0.7 // nothing is lost
				}
				same := Rows{Pair: p}
				grown := Rows{Pair: p}
				for range profiled {
					s := shares(r, causes, 0)
					same.BaseShare = append(same.BaseShare, s)
					grown.BaseShare = append(grown.BaseShare, s)
					same.PeakShare = append(same.PeakShare, shares(r, causes, 0))
					grown.PeakShare = append(grown.PeakShare, shares(r, causes, 0.2))
				}
				for _, row := range same.Estimate() {
					if row.Grew() {
						alarms++
						break
					}
				}
				rows := grown.Estimate()
				if rows[1].Grew() {
					found++
				}
				holds += contains(rows[1].Cores.CI, 8*0.2)
			}
			rate, power, cover := float64(alarms)/float64(trials), float64(found)/float64(trials), float64(holds)/float64(trials)
			t.Logf("%d profiled, %s: false alarms %.3f, found %.3f, coverage %.3f", profiled, w.name, rate, power, cover)
			se := math.Sqrt(0.05 * 0.95 / float64(trials))
			if rate > 0.05+3*se {
				t.Errorf("%d profiled blocks, %s: a row grew in %.3f of captures where none did, want at most 0.05", profiled, w.name, rate)
			}
			if cover < 0.90-3*se {
				t.Errorf("%d profiled blocks, %s: the interval of a row covers %.3f, want at least 0.90", profiled, w.name, cover)
			}
			if profiled >= 3 && power < 0.7 {
				t.Errorf("%d profiled blocks, %s: a cause of 1.6 cores was found in %.3f of captures", profiled, w.name, power)
			}
		}
	}
}
