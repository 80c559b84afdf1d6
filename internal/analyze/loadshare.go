package analyze

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// loadShare is what a load generator on the same machine used beside a server,
// in CPUs, and what it may have kept from the server at peak.
type loadShare struct {
	base, peak float64
	// kept is how many CPUs the server may have wanted and the load had: those that
	// the server left unused, less those that nobody used, and no more than the
	// load had.
	kept float64
	cpus int
}

// loadShareOf is nil where no load generator was measured.
func (l *loaded) loadShareOf(p *pair) *loadShare {
	base, peak := p.base.loadCPUs(), p.peak.loadCPUs()
	if math.IsNaN(base) || math.IsNaN(peak) {
		return nil
	}
	s := &loadShare{base: base, peak: peak, cpus: l.manifest.Host.CPUs}
	used, busy := stats.Median(p.peak.cpu)/stats.Median(p.peak.wall), p.peak.busyCPUs()
	if s.cpus > 0 && !math.IsNaN(used+busy) {
		idle := math.Max(float64(s.cpus)-busy, 0)
		s.kept = math.Max(0, math.Min(peak, float64(p.peak.Threads)-used-idle))
	}
	return s
}

// perWall is the median over timed runs of one of the machine's counts over the
// wall time; NaN where it is not known.
func (c *cell) perWall(count func(i int) *int64) float64 {
	var values []float64
	for i, r := range c.timed {
		if r == nil || r.System == nil || r.WallNS <= 0 {
			continue
		}
		if ns := count(i); ns != nil {
			values = append(values, float64(*ns)/float64(r.WallNS))
		}
	}
	return stats.Median(values)
}

func (c *cell) loadCPUs() float64 {
	return c.perWall(func(i int) *int64 { return c.timed[i].System.LoadNS })
}

func (c *cell) busyCPUs() float64 {
	return c.perWall(func(i int) *int64 { return c.timed[i].System.BusyNS })
}

// crowded says whether the load may have taken so much that the rows are no
// picture of the server.
func (s *loadShare) crowded(lost float64) bool {
	return s != nil && s.kept >= disturbing*lost
}

// note says what the load used.
func (s *loadShare) note() string {
	text := fmt.Sprintf("the load generator used %.2f CPUs at base and %.2f at peak, on the same machine as the server; they are neither the server's nor a neighbour's", s.base, s.peak)
	if s.kept > 0.01*float64(s.cpus) {
		text += fmt.Sprintf(". At peak up to %.2f of them may be CPUs that the server wanted", s.kept)
	}
	return text
}

// besideLoad takes back a verdict that a load generator on the same CPUs may
// have made: waits for whoever had no CPU are longer, whatever they are for. It
// also says what a server means that waits for the network.
func besideLoad(c *report.Comparison, s *loadShare) {
	if s == nil || 1-c.Efficiency < notableLoss || c.Verdict.Confidence == "proven" {
		return
	}
	claim, network := 0.0, c.Verdict.Cause != nil && *c.Verdict.Cause == string(cause.IONetwork)
	for _, r := range c.Rows {
		if c.Verdict.Group != nil && r.Group == *c.Verdict.Group {
			claim += r.CoresLost
		}
	}
	switch {
	case s.crowded(c.CoresLost) && claim < 2*s.kept:
		c.Verdict = unclear(c, fmt.Sprintf("the load generator used %.2f of the machine's %d CPUs, up to %.2f of which the server wanted", s.peak, s.cpus, s.kept))
		c.Verdict.Advice = "run the load on other CPUs than the server's: from another machine, or at a T that leaves CPUs for it"
	case network:
		c.Verdict.Text += "; the server had no request to answer, or waited for answers of others"
		c.Verdict.Advice = "let the load keep more requests open, if it is the load that the server waits for"
	}
}
