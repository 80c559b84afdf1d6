package analyze

import (
	"context"
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
	"github.com/scaleprof/scaleprof/internal/analyze/memory"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// splitUser divides the growth of work/user from base to peak into what the
// machine loses by itself, contended lines, bandwidth and the code's own.
func (l *loaded) splitUser(ctx context.Context, p *pair, groups []*group, g *group, self string) (userSplit, *memory.Result) {
	base, peak := p.base.userSamples(), p.peak.userSamples()
	if base == nil || peak == nil {
		return nil, nil
	}
	in := memory.Input{
		Base: base, Peak: peak, SampleNS: p.peak.sampleNS(), Binary: l.binary(g.target, self),
		ALULoss:       l.ceiling.certainLoss(kernelALU, p.base.Threads, p.peak.Threads),
		MemoryLoss:    l.memoryLoss(p.base.Threads, p.peak.Threads),
		ProcessGrowth: math.NaN(),
		Processes:     g.mode == string(record.Process),
	}
	if !in.Processes {
		in.ProcessGrowth = processGrowth(groups, g, p)
	}
	r := memory.Divide(ctx, in)
	return userSplit(r.Fractions()), &r
}

// memoryLoss is what the memory kernel that loses most loses beyond its own
// spread; NaN where none was run at both T.
func (l *loaded) memoryLoss(base, peak int) float64 {
	worst := math.NaN()
	for _, k := range []string{kernelStream, kernelRandom} {
		if math.IsNaN(l.ceiling.efficiency(k, base, peak)) {
			continue
		}
		if v := l.ceiling.certainLoss(k, base, peak); math.IsNaN(worst) || v > worst {
			worst = v
		}
	}
	return worst
}

// userSamples are the program's own CPU time by call path, as part of the timed
// runs' slot time, averaged over the observations. nil without a trace.
func (c *cell) userSamples() []memory.Sample {
	slot := float64(c.Threads) * stats.Median(c.wall)
	n := 0
	for _, o := range c.profiled {
		if o.account != nil && o.account.SlotNS > 0 {
			n++
		}
	}
	var out []memory.Sample
	for _, o := range c.profiled {
		if o.account == nil || o.account.SlotNS <= 0 {
			continue
		}
		scale := slot / float64(o.account.SlotNS) / float64(n)
		for _, part := range o.account.Parts {
			if part.Cause == cause.WorkUser && part.State == lanes.OnCPU && part.Victim != nil {
				out = append(out, memory.Sample{Frames: part.Victim.Frames, NS: int64(float64(part.NS) * scale)})
			}
		}
	}
	return out
}

// sampleNS is what one CPU sample weighs in userSamples, for the noise of
// counting: the period, divided by the number of observations averaged over.
func (c *cell) sampleNS() int64 {
	var periods []float64
	for _, o := range c.profiled {
		if o.account == nil {
			continue
		}
		period := 10e6 // runtime/pprof's 100 Hz, where the run does not say
		if r := o.run.Profiles; r != nil && r.CPURateHz > 0 {
			period = 1e9 / float64(r.CPURateHz)
		}
		periods = append(periods, period)
	}
	if len(periods) == 0 {
		return 10e6
	}
	return int64(stats.Mean(periods) / float64(len(periods)))
}

// processGrowth is the growth of the same target's own CPU time between the
// same two T in process mode, where nothing of the program is shared. NaN where
// it was not captured.
func processGrowth(groups []*group, g *group, p *pair) float64 {
	for _, other := range groups {
		if other.target != g.target || other.arm != record.Baseline || other.mode != string(record.Process) {
			continue
		}
		base, peak := other.find(p.base.Threads), other.find(p.peak.Threads)
		if base == nil || peak == nil {
			continue
		}
		b, q := sumNS(base.userSamples()), sumNS(peak.userSamples())
		if b > 0 && q > 0 {
			return q / b
		}
		// Without traces the CPU time of all the process is the next best.
		return stats.Median(peak.cpu) / stats.Median(base.cpu)
	}
	return math.NaN()
}

func sumNS(samples []memory.Sample) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s.NS)
	}
	return sum
}
