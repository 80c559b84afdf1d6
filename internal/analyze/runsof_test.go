package analyze

import (
	"math"
	"slices"
	"testing"
)

// TestRunsOf: blocks without a run leave no gap, and CPU times stand beside all
// wall times or nowhere.
func TestRunsOf(t *testing.T) {
	none := math.NaN()
	walls, cpus := runsOf(&cell{wall: []float64{5, none, 7}, cpu: []float64{4, none, 6}})
	if !slices.Equal(walls, []int64{5, 7}) || !slices.Equal(cpus, []int64{4, 6}) {
		t.Errorf("walls %v, cpus %v", walls, cpus)
	}
	if _, cpus := runsOf(&cell{wall: []float64{5, 7}, cpu: []float64{4, none}}); cpus != nil {
		t.Errorf("cpus %v beside a run that has none", cpus)
	}
}
