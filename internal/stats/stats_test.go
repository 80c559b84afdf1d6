package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, nan},
		{[]float64{nan}, nan},
		{[]float64{3}, 3},
		{[]float64{3, nan, 1}, 2},
		{[]float64{5, 1, 3, math.Inf(1)}, 3},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
	} {
		if got := Median(c.in); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestSummarizeKeepsOrder(t *testing.T) {
	in := []float64{5, 1, 4, 2, 3, 6}
	s := Summarize(in)
	if !slices.Equal(in, []float64{5, 1, 4, 2, 3, 6}) {
		t.Errorf("Summarize sorted its argument: %v", in)
	}
	if s.CI == nil || s.CI[0] != 1 || s.CI[1] != 6 || s.Median != 3.5 || s.Min != 1 || s.N != 6 {
		t.Errorf("Summarize = %+v, want median 3.5 in [1, 6]", s)
	}
	if s := Summarize(in[:5]); s.CI != nil {
		t.Errorf("five values have the interval %v, want none", *s.CI)
	}
}

func TestIntervalNeedsSixBlocks(t *testing.T) {
	for blocks := range 8 {
		ci := NewBootstrap(blocks, 1, 50).Interval(func(idx []int) float64 { return float64(idx[0]) })
		if (ci != nil) != (blocks >= MinBlocks) {
			t.Errorf("%d blocks: interval %v", blocks, ci)
		}
	}
	l := Pair{1, 2, []float64{1, 1, 1, 1, 1, math.NaN()}, []float64{1, 1, 1, 1, 1, 1}}.Estimate()
	if l.Efficiency.CI != nil {
		t.Error("five observations at base have an interval")
	}
	if l.Efficiency.Value != 0.5 || l.Cores.Value != 1 || l.Blocks != 5 {
		t.Errorf("loss = %+v, want efficiency 0.5 and one core lost of two", l)
	}
}

func TestIntervalOfUndefinedStatistic(t *testing.T) {
	b := NewBootstrap(6, 1, 100)
	if ci := b.Interval(func([]int) float64 { return math.NaN() }); ci != nil {
		t.Errorf("interval of NaN is %v", *ci)
	}
	iv := b.Many(func([]int) []float64 { return []float64{math.Inf(1), 2} })
	if !math.IsNaN(iv[0][0]) || iv[1] != [2]float64{2, 2} {
		t.Errorf("intervals %v, want NaN and [2, 2]", iv)
	}
}

func TestResamplesAreDeterministic(t *testing.T) {
	data := []float64{1, 2, 3, 4, 5, 6, 7, math.NaN()}
	record := func() (all []int) {
		NewBootstrap(8, SeedOf(data), 20).Each(func(idx []int) { all = append(all, idx...) })
		NewBootstrap3(8, 3, 4, SeedOf(data), 20).Each(func(a, b, c []int) {
			all = append(append(append(all, a...), b...), c...)
		})
		return all
	}
	if !slices.Equal(record(), record()) {
		t.Error("the same data gave different resamples")
	}
	if SeedOf(data) == SeedOf(data[:7], data[7:]) || SeedOf(data) == SeedOf(data[:7]) {
		t.Error("different series have the same seed")
	}
}

func TestManyMatchesInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 9)
	for i := range x {
		x[i] = r.Float64()
	}
	b := NewBootstrap(len(x), 3, 200)
	stat := func(idx []int) float64 { m, _ := MedianOf(x, idx, nil); return m }
	one := b.Interval(stat)
	many := b.Many(func(idx []int) []float64 { return []float64{-stat(idx), stat(idx)} })
	if *one != many[1] {
		t.Errorf("Interval %v, Many %v", *one, many[1])
	}
}

// TestRowsAddUp is the identity that a statement stands on: whatever was
// measured, rows add up to the slot times and to the excess.
func TestRowsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wall := rapid.SliceOfN(rapid.Float64Range(1e6, 1e10), 1, 10)
		causes := rapid.IntRange(1, 6).Draw(t, "causes")
		share := rapid.Custom(func(t *rapid.T) []float64 {
			s := rapid.SliceOfN(rapid.Float64Range(0.01, 1), causes, causes).Draw(t, "share")
			sum := 0.0
			for _, v := range s {
				sum += v
			}
			for k := range s {
				s[k] /= sum
			}
			return s
		})
		r := Rows{
			Pair: Pair{
				BaseThreads: rapid.IntRange(1, 8).Draw(t, "p"), PeakThreads: rapid.IntRange(9, 64).Draw(t, "q"),
				Base: wall.Draw(t, "base"), Peak: wall.Draw(t, "peak"),
			},
			BaseShare: rapid.SliceOfN(share, 1, 5).Draw(t, "shares at base"),
			PeakShare: rapid.SliceOfN(share, 1, 5).Draw(t, "shares at peak"),
		}
		loss := r.Pair.Estimate()
		var base, peak, excess, cores float64
		for _, row := range r.Estimate() {
			base += row.Base
			peak += row.Peak
			excess += row.Excess.Value
			cores += row.Cores.Value
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"base", base, loss.SlotBase},
			{"peak", peak, loss.SlotPeak},
			{"excess", excess, loss.Excess.Value},
			{"cores", cores, loss.Cores.Value},
		} {
			if math.Abs(c.got-c.want) > 1e-9*(math.Abs(c.want)+loss.SlotPeak) {
				t.Fatalf("rows' %s add up to %v, want %v", c.name, c.got, c.want)
			}
		}
	})
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	want := []float64{0.03, 0.06, 0.06, 0.02}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("Holm = %v, want %v", got, want)
		}
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm of nothing = %v", got)
	}
}

func TestSignedRank(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 1},
		{[]float64{0, 0}, 1},
		{[]float64{1, 2, 3, 4, 5, 6}, 1.0 / 64},
		{[]float64{-1, -2, -3}, 1},
		{[]float64{-1, 2, 3}, 2.0 / 8}, // sums of plus ranks of at least 5: {2,3} and {1,2,3}
		{[]float64{1, 1, -1}, 0.5},     // ties: two or three of three equal ranks
	} {
		if got := SignedRank(c.in); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("SignedRank(%v) = %v, want %v", c.in, got, c.want)
		}
	}
	var many []float64
	for i := range 60 {
		many = append(many, float64(i%3)-0.9)
	}
	if p := SignedRank(many); p < 0 || p > 1 {
		t.Errorf("p = %v", p)
	}
}

func TestMedianInterval(t *testing.T) {
	// Six values: [1, 6] has 96.9%, [2, 5] 78.1%; 95% lies between.
	ci := MedianInterval([]float64{6, 5, 4, 3, 2, 1})
	if ci == nil || ci[0] <= 1 || ci[0] >= 1.5 || ci[1] >= 6 || ci[1] <= 5.5 {
		t.Errorf("interval %v, want a little inside [1, 6]", ci)
	}
	if MedianInterval([]float64{1, 2, 3, 4, 5}) != nil {
		t.Error("five values have an interval")
	}
}

func TestBlocksNeeded(t *testing.T) {
	for _, c := range []struct {
		blocks      int
		width, want float64
		n           int
	}{
		{6, 0.04, 0.02, 24},
		{10, 0.02, 0.02, 10},
		{10, 0.01, 0.02, 6},
		{3, math.NaN(), 0.02, 6},
		{8, math.NaN(), 0.02, 8},
		{8, 0.1, 0, 8},
	} {
		if got := BlocksNeeded(c.blocks, c.width, c.want); got != c.n {
			t.Errorf("BlocksNeeded(%d, %v, %v) = %d, want %d", c.blocks, c.width, c.want, got, c.n)
		}
	}
}
