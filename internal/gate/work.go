package gate

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/record"
)

// work compares what a run did with the first run of its target that did as much as it should have:
// total work is constant over T, so operations and result must agree between any two.
func work(m *record.Manifest, run *record.Run, cell *record.Cell) []record.Gate {
	var target *record.Target
	for i := range m.Plan.Targets {
		if m.Plan.Targets[i].Name == cell.Target {
			target = &m.Plan.Targets[i]
		}
	}
	if run.Ops <= 0 {
		return nil // not counted
	}
	var slack float64
	if target != nil && (target.Kind == "exec" || target.Kind == "import") {
		slack = workSlack
	}
	// A window may have been planned with less work: then only its result is compared, with runs of as much.
	want := planned(m, run)
	if want == 0 && target != nil {
		want = target.Ops
	}
	first := firstLike(m, run, cell)
	if want == 0 && first != nil && run.Kind == record.Timed {
		want = first.Ops
	}
	if want > 0 {
		if off := math.Abs(float64(run.Ops)-float64(want)) / float64(want); off > slack {
			return []record.Gate{broken(WorkChanged, off, slack,
				"got", fmt.Sprint(run.Ops), "what", "operations", "want", fmt.Sprint(want))}
		}
	}
	if first != nil && first.Ops == run.Ops && first.Checksum != run.Checksum && first.Checksum != 0 && run.Checksum != 0 {
		return []record.Gate{broken(WorkChanged, 1, 0,
			"got", fmt.Sprintf("%#x", run.Checksum), "what", "as the result's checksum", "want", fmt.Sprintf("%#x", first.Checksum))}
	}
	return nil
}

// planned is how many operations the schedule asked of this run, 0 for the target's total.
func planned(m *record.Manifest, run *record.Run) int64 {
	for _, p := range m.Schedule {
		if p.Seq == run.Seq && p.Cell == run.Cell {
			return p.Ops
		}
	}
	return 0
}

// firstLike is the earliest other run of the target whose work must agree with this one's. An arm may change
// what a workload does, so runs are compared within their arm.
func firstLike(m *record.Manifest, run *record.Run, cell *record.Cell) *record.Run {
	for i := range m.Runs {
		r := &m.Runs[i]
		if r.ID == run.ID || r.Error != "" || r.Kind != run.Kind {
			continue
		}
		if c := findCell(m, r.Cell); c != nil && c.Target == cell.Target && c.Arm == cell.Arm {
			return r
		}
	}
	return nil
}
