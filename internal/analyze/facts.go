package analyze

import (
	"fmt"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
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

// notes are what a reader must know to read a comparison right.
func notes(m *record.Manifest, g *group, base, peak *cell) []string {
	var out []string
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
	if n := len(peak.profiled); n == 1 {
		out = append(out, "one profiled run at each T: the rows have no interval")
	}
	for _, c := range []*cell{base, peak} {
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
func contrast(r *report.Report) {
	for i := range r.Comparisons {
		a := &r.Comparisons[i]
		for j := range r.Comparisons {
			b := &r.Comparisons[j]
			if a.Target != b.Target || a.Mode == b.Mode || a.Base != b.Base || a.Peak != b.Peak {
				continue
			}
			shared := a.CoresLost - b.CoresLost
			if a.Mode == string(record.Process) {
				shared = -shared
			}
			a.ModeContrast = &report.Contrast{
				Mode: b.Mode, Efficiency: b.Efficiency, CI: b.EfficiencyCI, SharedCores: shared,
				Text: contrastText(a, b, shared),
			}
		}
	}
}

func contrastText(a, b *report.Comparison, shared float64) string {
	thread, process := a, b
	if a.Mode == string(record.Process) {
		thread, process = b, a
	}
	text := fmt.Sprintf("threads keep %.0f%% efficiency, processes %.0f%%", 100*thread.Efficiency, 100*process.Efficiency)
	overlap := thread.EfficiencyCI == nil || process.EfficiencyCI == nil ||
		(*thread.EfficiencyCI)[0] <= (*process.EfficiencyCI)[1] && (*process.EfficiencyCI)[0] <= (*thread.EfficiencyCI)[1]
	switch {
	case overlap:
		return text + ": no difference beyond noise, so sharing one runtime, heap and locks is not what the cores are lost to"
	case shared > 0:
		return text + fmt.Sprintf(": %.2f cores are lost by sharing one runtime, heap and locks; the rest is the machine, the system and small heaps", shared)
	}
	return text + fmt.Sprintf(": processes lose %.2f cores more; each has a heap, a collector and scheduler threads of its own", -shared)
}

// potentialOf is the efficiency at peak if the verdict's cause (its group,
// where the report argues by group) cost no more than at base: from the arm that
// proves it where there is one, else by attribution.
func potentialOf(c *report.Comparison) *report.Potential {
	if c.Verdict.Cause == nil || c.SlotPeakNS <= 0 {
		return nil
	}
	if e := proof(c); e != nil {
		return fromArm(c, e)
	}
	var row, group int64
	var iv report.Interval
	for _, r := range c.Rows {
		if r.Cause == *c.Verdict.Cause {
			row, iv = r.ExcessNS, r.CoresLostCI
		}
		if c.Verdict.Group != nil && r.Group == *c.Verdict.Group {
			group += r.ExcessNS
		}
	}
	saved := row
	if float64(row) < ownRow*float64(group) {
		saved, iv = group, nil
	}
	if saved <= 0 || saved >= c.SlotPeakNS {
		return nil
	}
	p := &report.Potential{WithoutCauseEfficiency: float64(c.SlotBaseNS) / float64(c.SlotPeakNS-saved), From: "attribution"}
	if iv != nil {
		wall := float64(c.SlotPeakNS) / float64(c.Peak)
		at := func(cores float64) float64 {
			return float64(c.SlotBaseNS) / (float64(c.SlotPeakNS) - cores*wall)
		}
		p.CI = finite([2]float64{at(iv[0]), at(iv[1])})
	}
	return p
}

// proof is the experiment that bears out the verdict's group with most effect.
func proof(c *report.Comparison) *report.Experiment {
	var best *report.Experiment
	if c.Verdict.Confidence != "proven" {
		return nil
	}
	for i := range c.Experiments {
		e := &c.Experiments[i]
		for _, t := range e.Tests {
			if c.Verdict.Group != nil && cause.ID(t).Group() == *c.Verdict.Group && (best == nil || e.EffectCores > best.EffectCores) {
				best = e
			}
		}
	}
	return best
}

// fromArm takes the arm's effect off the peak.
func fromArm(c *report.Comparison, e *report.Experiment) *report.Potential {
	wall := float64(c.SlotPeakNS) / float64(c.Peak)
	at := func(cores float64) float64 { return float64(c.SlotBaseNS) / (float64(c.SlotPeakNS) - cores*wall) }
	p := &report.Potential{WithoutCauseEfficiency: at(e.EffectCores), From: "the " + e.Arm + " arm"}
	if e.EffectCI != nil {
		p.CI = finite([2]float64{at(e.EffectCI[0]), at(e.EffectCI[1])})
	}
	return p
}
