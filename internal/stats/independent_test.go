package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDifference(t *testing.T) {
	d, iv := Difference(10, &[2]float64{7, 12}, 4, &[2]float64{3, 8})
	if d != 6 || iv == nil || iv[0] != 6-5 || math.Abs(iv[1]-(6+math.Hypot(2, 1))) > 1e-12 {
		t.Errorf("Difference = %v, %v", d, iv)
	}
	if _, iv := Difference(10, nil, 4, &[2]float64{3, 8}); iv != nil {
		t.Errorf("an interval out of nothing: %v", *iv)
	}
	// A point outside its own interval makes the interval wider, never NaN.
	if _, iv := Difference(10, &[2]float64{11, 12}, 4, &[2]float64{3, 3.5}); iv == nil || iv[0] > 6 || iv[1] < 6 {
		t.Errorf("Difference of points outside their intervals = %v", iv)
	}
}

func TestRatio(t *testing.T) {
	r, iv := Ratio(8, &[2]float64{8, 8}, 2, &[2]float64{1, 4})
	if r != 4 || iv == nil || math.Abs(iv[0]-2) > 1e-12 || math.Abs(iv[1]-8) > 1e-12 {
		t.Errorf("Ratio = %v, %v", r, iv)
	}
	if r, iv := Ratio(1, nil, 0, nil); !math.IsNaN(r) || iv != nil {
		t.Errorf("Ratio by zero = %v, %v", r, iv)
	}
}

func TestNotZero(t *testing.T) {
	if p := NotZero(1.959963984540054, &[2]float64{0, 3}); math.Abs(p-0.05) > 1e-9 {
		t.Errorf("p at the interval's end = %v, want 0.05", p)
	}
	if p := NotZero(-1, &[2]float64{-1, -1}); p != 0 {
		t.Errorf("p of certainty = %v", p)
	}
	if p := NotZero(3, nil); p != 1 {
		t.Errorf("p without an interval = %v", p)
	}
}

// TestDifferenceCovers: intervals of the difference of two captures' medians
// hold the truth as often as they say, with skewed noise and seven blocks.
func TestDifferenceCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	capture := func(scale float64) (float64, Interval) {
		v := make([]float64, 7)
		for i := range v {
			v[i] = scale * (1 + 0.05*r.ExpFloat64())
		}
		all := identity(len(v))
		iv := NewBootstrap(len(v), SeedOf(v), 400).Interval(func(idx []int) float64 {
			m, _ := MedianOf(v, idx, nil)
			return m
		})
		m, _ := MedianOf(v, all, nil)
		return m, iv
	}
	truth := (100 - 80) * (1 + 0.05*math.Ln2)
	rounds, held := 400, 0
	for range rounds {
		a, ai := capture(100)
		b, bi := capture(80)
		if _, iv := Difference(a, ai, b, bi); iv[0] <= truth && truth <= iv[1] {
			held++
		}
	}
	if share := float64(held) / float64(rounds); share < 0.92 {
		t.Errorf("%.1f%% of the intervals hold the truth, want 95%%", 100*share)
	} else {
		t.Logf("%.1f%% of the intervals hold the truth", 100*share)
	}
}
