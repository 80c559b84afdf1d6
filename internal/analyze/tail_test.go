package analyze

import (
	"math"
	"testing"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

func TestTailShare(t *testing.T) {
	process := func(begin int64, ends ...int64) recorder.Result {
		r := recorder.Result{BeginNS: begin, EndNS: begin}
		for _, e := range ends {
			r.Lanes = append(r.Lanes, recorder.Lane{EndNS: e})
			r.EndNS = max(r.EndNS, begin+e)
		}
		return r
	}
	for name, test := range map[string]struct {
		run     record.Run
		threads int
		want    float64
	}{
		"two lanes, one done at 60%":         {record.Run{WallNS: 100, Processes: []recorder.Result{process(7, 60, 100)}}, 2, 0.2},
		"one process late and last":          {record.Run{WallNS: 100, Processes: []recorder.Result{process(0, 50), process(20, 80)}}, 2, 0.25},
		"a lane is missing":                  {record.Run{WallNS: 100, Processes: []recorder.Result{process(0, 100)}}, 2, math.NaN()},
		"no process":                         {record.Run{WallNS: 100}, 1, math.NaN()},
		"a lane without an end":              {record.Run{WallNS: 100, Processes: []recorder.Result{process(0, 0, 100)}}, 2, math.NaN()},
		"one lane":                           {record.Run{WallNS: 100, Processes: []recorder.Result{process(3, 100)}}, 1, 0},
		"a wall time longer than the window": {record.Run{WallNS: 200, Processes: []recorder.Result{process(0, 100)}}, 1, 0},
	} {
		got := tailShare(&test.run, test.threads)
		if math.IsNaN(got) != math.IsNaN(test.want) || math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestRetailKeepsTheSum(t *testing.T) {
	rows := func(work, tail, rest float64) map[cause.ID][2]float64 {
		return map[cause.ID][2]float64{cause.WorkUser: {50, work}, cause.BalanceTail: {0, tail}, cause.Unexplained: {0, rest}}
	}
	for name, test := range map[string]struct {
		rows   map[cause.ID][2]float64
		tail   float64
		traced bool
		want   [3]float64 // work, tail, unexplained
	}{
		"a traced run ended more evenly":  {rows(90, 10, 0), 0.4, true, [3]float64{60, 40, 0}},
		"a traced run ended less evenly":  {rows(60, 40, 0), 0.1, true, [3]float64{90, 10, 0}},
		"without a trace":                 {rows(60, 0, 40), 0.3, false, [3]float64{60, 30, 10}},
		"no more than is not explained":   {rows(60, 0, 40), 0.5, false, [3]float64{60, 40, 0}},
		"ends unknown":                    {rows(60, 30, 10), math.NaN(), true, [3]float64{60, 30, 10}},
		"a trace that is nothing but end": {rows(0, 100, 0), 0.5, true, [3]float64{0, 100, 0}},
	} {
		retail(test.rows, 1, 100, test.tail, test.traced)
		got := [3]float64{test.rows[cause.WorkUser][1], test.rows[cause.BalanceTail][1], test.rows[cause.Unexplained][1]}
		for i := range got {
			if math.Abs(got[i]-test.want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", name, got, test.want)
				break
			}
		}
		if test.rows[cause.WorkUser][0] != 50 {
			t.Errorf("%s: the base was changed", name)
		}
	}
}
