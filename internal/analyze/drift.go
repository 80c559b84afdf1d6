package analyze

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// driftLimit is the change over a session from which on it is told: what the gate
// on the ALU kernel allows, too.
const driftLimit = 0.05

// drift warns of a session whose runs became slower or faster as it went on.
// Blocks are compared within themselves, so it widens intervals and biases nothing;
// but it is a machine that changes.
func (l *loaded) drift() {
	var runs []stats.Observation
	for i := range l.manifest.Runs {
		r := &l.manifest.Runs[i]
		if r.Kind == record.Timed && r.Error == "" && r.WallNS > 0 && l.byID[r.Cell] != nil {
			runs = append(runs, stats.Observation{Seq: r.Seq, Cell: r.Cell, Value: float64(r.WallNS)})
		}
	}
	d := stats.SessionDrift(runs)
	if !d.Drifted(driftLimit) {
		return
	}
	way, change := "slower", d.Change
	if change < 0 {
		way, change = "faster", -change
	}
	l.warn(nil, "session-drift", fmt.Sprintf("the runs became %s as the session went on: by %.0f%% from first to last (Mann-Kendall p=%.2g); blocks are compared within themselves", way, 100*change, d.P))
}
