package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func session(r *rand.Rand, blocks int, total float64) []Observation {
	var runs []Observation
	cells := []string{"t1", "t2", "t4"}
	for i := range blocks {
		for j, k := range r.Perm(len(cells)) {
			seq := i*len(cells) + j
			at := 1 + total*float64(seq)/float64(blocks*len(cells)-1)
			runs = append(runs, Observation{Seq: seq, Cell: cells[k], Value: float64(k+1) * noise(r) * at})
		}
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs
}

func TestSessionDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const trials = 400
	alarms, found, change := 0, 0, 0.0
	for range trials {
		if SessionDrift(session(r, 6, 0)).P <= Alpha {
			alarms++
		}
		d := SessionDrift(session(r, 6, 0.1))
		if d.Drifted(0.02) {
			found++
		}
		change += d.Change / trials
	}
	t.Logf("false alarms %d, found %d of %d, mean change %.3f", alarms, found, trials, change)
	if alarms > trials*8/100 {
		t.Errorf("%d of %d steady sessions drift", alarms, trials)
	}
	if found < trials*95/100 {
		t.Errorf("a drift of 10%% was found in %d of %d sessions", found, trials)
	}
	if math.Abs(change-0.1) > 0.02 {
		t.Errorf("mean change %.3f, want 0.1", change)
	}
}

func TestSessionDriftOfLittle(t *testing.T) {
	for _, runs := range [][]Observation{
		nil,
		{{0, "a", 1}, {1, "b", 2}, {2, "c", 3}, {3, "d", 4}}, // each cell once
		{{0, "a", 1}, {1, "a", math.NaN()}, {2, "a", -1}},
	} {
		if d := SessionDrift(runs); d.P != 1 || d.Drifted(0) {
			t.Errorf("SessionDrift(%v) = %+v, want nothing", runs, d)
		}
	}
}

func TestKendallExact(t *testing.T) {
	// Four values: 24 orders, one has 0 and one 6 inversions.
	if got, want := kendallExact(4, 6), 2.0/24; math.Abs(got-want) > 1e-12 {
		t.Errorf("P(|S| >= 6) = %v, want %v", got, want)
	}
	if got := kendallExact(5, 0); math.Abs(got-1) > 1e-12 {
		t.Errorf("P(|S| >= 0) = %v, want 1", got)
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []float64
		want int
	}{
		{"two", []float64{1, 1.01, 1.15, 1, 1.16, 1.15, 1.005, 1.152}, 2},
		{"one", []float64{1, 1.01, 1.02, 1.005, 1.015, 1.012}, 0},
		{"an outlier is no mode", []float64{1, 1.01, 1.02, 1.005, 1.015, 1.5}, 0},
		{"too close to matter", []float64{1, 1, 1, 1.01, 1.01, 1.01}, 0},
		{"too few", []float64{1, 1, 2, 2}, 0},
		{"equal", []float64{1, 1, 1, 1, 1, 1}, 0},
	} {
		if got := Modes(c.in); len(got) != c.want {
			t.Errorf("%s: modes %v, want %d", c.name, got, c.want)
		}
	}
}

func TestModesFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{6, 7, 8, 10, 12, 15, 20, 40} {
		const trials = 3000
		one, two := 0, 0
		for range trials {
			v, w := make([]float64, n), make([]float64, n)
			for i := range v {
				v[i] = 1 + 0.05*r.NormFloat64() // wide enough that minModeGap is no help
				w[i] = modal(r, 0.4, 0.2)
			}
			if Modes(v) != nil {
				one++
			}
			if Modes(w) != nil {
				two++
			}
		}
		t.Logf("n=%d: false alarms %.3f, found %.2f", n, float64(one)/trials, float64(two)/trials)
		if one > trials*2/100 {
			t.Errorf("n=%d: %d of %d normal samples have two modes", n, one, trials)
		}
	}
}
