package analyze

import (
	"github.com/scaleprof/scaleprof/internal/report"
)

func (l *loaded) knee(g *group) int { return 0 }
func (l *loaded) series(g *group) report.Series {
	return report.Series{Target: g.target, Mode: g.mode, Arm: g.arm, Points: l.points(g), Models: []report.Model{}}
}
