package analyze

import (
	"fmt"
	"math"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/experiment"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

func hostOf(m *record.Manifest) report.Host {
	h := m.Host
	out := report.Host{
		CPUs: h.CPUs, PhysicalCores: known(h.PhysicalCores), SMT: known(h.SMT), NUMANodes: known(h.NUMANodes),
		QuotaCPUs: h.QuotaCPUs, OS: h.OS, Arch: h.Arch, CPU: h.CPU,
	}
	// An imported capture knows nothing of the machine beyond its name.
	if h.Kernel != "" || h.Virtual {
		virtual := h.Virtual
		out.Virtual = &virtual
	}
	return out
}

func known(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

func toolchainOf(m *record.Manifest) report.Toolchain {
	return report.Toolchain{Go: m.Toolchain.Go, Scaleprof: m.Toolchain.Scaleprof, Libraries: m.Toolchain.Libraries}
}

func targetsOf(m *record.Manifest) []report.Target {
	var out []report.Target
	for _, t := range m.Plan.Targets {
		out = append(out, report.Target{Name: t.Name, Kind: t.Kind, Ops: t.Ops, Unit: t.Unit, Params: t.Params})
	}
	return out
}

// notes are what a reader must know to read a comparison right.
func notes(m *record.Manifest, g *group, p *pair) []string {
	var out []string
	base, peak := p.base, p.peak
	for _, t := range m.Plan.Targets {
		if t.Name == g.target {
			out = append(out, t.Notes...)
		}
	}
	if g.mode == string(record.Thread) && base.Procs > 0 {
		switch {
		case base.Procs != peak.Procs:
			out = append(out, fmt.Sprintf("GOMAXPROCS is %d at T=%d and %d at T=%d: at base neither the collector nor producers could use further cores", base.Procs, base.Threads, peak.Procs, peak.Threads))
		case base.Procs > base.Threads:
			out = append(out, fmt.Sprintf("GOMAXPROCS is %d at every T: at T=%d the collector may use cores that no worker wants; the arm procs=threads takes them away", base.Procs, base.Threads))
		}
	}
	if unitOf(peak) == "P-seconds" {
		out = append(out, "the trace does not say which goroutines are the workers: the lanes are the Ps, and idle Ps count as lost whether or not there was work for them")
	}
	if p.leftOut > 0 {
		out = append(out, fmt.Sprintf("%d of %d profiled pairs of runs were disturbed and are not in the rows", p.leftOut, p.leftOut+len(p.baseRows)))
	}
	if n := len(peak.profiled); n == 1 {
		out = append(out, "one profiled run at each T: the rows have no interval")
	}
	for _, c := range []*cell{base, peak} {
		if timed, traced := c.cycles(); traced > 0 && timed >= 10 && math.Abs(timed/traced-1) > pacingSlack {
			out = append(out, fmt.Sprintf("at T=%d the profiled runs collect %.0f times where the timed ones collect %.0f times: the gc rows are those of the profiled runs", c.Threads, traced, timed))
		}
		for _, o := range c.profiled {
			if o.account != nil && o.account.Truncated {
				out = append(out, fmt.Sprintf("the trace of run %d ends early; its account covers what could be read", o.run.ID))
			}
		}
	}
	return out
}

// contrast sets the two modes of a target beside each other: what processes,
// which share nothing of the program, do not lose is lost by sharing.
func contrast(pairs []*explained) {
	for _, a := range pairs {
		for _, b := range pairs {
			if a.c.Target != b.c.Target || a.c.Mode == b.c.Mode || a.c.Base != b.c.Base || a.c.Peak != b.c.Peak {
				continue
			}
			a.c.ModeContrast = experiment.Modes(b.c.Mode, experiment.Contrast{
				BaseThreads: a.c.Base, PeakThreads: a.c.Peak,
				Baseline: experiment.Slots{Base: a.p.base.slot(), Peak: a.p.peak.slot()},
				Arm:      experiment.Slots{Base: b.p.base.slot(), Peak: b.p.peak.slot()},
			})
			if a.c.Mode == string(record.Thread) && loses(a.c) && loses(b.c) {
				a.c.Notes = append(a.c.Notes, "processes share no runtime, heap or locks, and lose as well: not all of the loss can come from sharing them")
			}
		}
	}
}

// potential is the efficiency at peak if the verdict's cause (its group, where
// the report argues by group) cost no more than at base: from the arm that
// proves it where there is one, else by attribution.
func (p *pair) potential(c *report.Comparison) *report.Potential {
	if c.Verdict.Cause == nil {
		return nil
	}
	if c.Verdict.Confidence == "proven" {
		if e := experimentOn(c, *c.Verdict.Group); e != nil && e.Potential != nil {
			return e.Potential
		}
	}
	var row, group float64
	var saved []cause.ID
	for _, r := range c.Rows {
		if r.Cause == *c.Verdict.Cause {
			row = float64(r.ExcessNS)
		}
		if c.Verdict.Group != nil && r.Group == *c.Verdict.Group {
			group += float64(r.ExcessNS)
			saved = append(saved, cause.ID(r.Cause))
		}
	}
	if row >= ownRow*group {
		saved = []cause.ID{cause.ID(*c.Verdict.Cause)}
	}
	excess := p.resampled(func(f figures) []float64 {
		sum := 0.0
		for _, id := range saved {
			r := f.rows[id]
			sum += r[1] - r[0]
		}
		return []float64{sum}
	})[0]
	return experiment.FromAttribution(float64(c.SlotBaseNS), float64(c.SlotPeakNS), excess)
}

// loses says whether a comparison lost more than two cells of one program
// differ by, beyond noise where that is known.
func loses(c *report.Comparison) bool {
	return 1-c.Efficiency >= notableLoss && (c.CoresLostCI == nil || c.CoresLostCI[0] > 0)
}

// pacingSlack is how far the number of collections under the recorders may be
// from that without them before the report says so.
const pacingSlack = 0.25

// cycles is the median number of collections of the timed and of the profiled runs.
func (c *cell) cycles() (timed, profiled float64) {
	var p []float64
	for _, o := range c.profiled {
		p = append(p, sumMetric(o.run, "/gc/cycles/automatic:gc-cycles"))
	}
	return c.metric("/gc/cycles/automatic:gc-cycles"), stats.Median(p)
}
