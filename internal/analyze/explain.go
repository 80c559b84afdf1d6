package analyze

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/memory"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/stats"
)

// Options choose what Explain looks at.
type Options struct {
	From, To int    // the T to compare; 0 for the default pair
	OutDir   string // where annotated profiles are written; "" writes none
	Self     string // the program that explains: it ran the built-in workloads, if it is the same still
}

// Explain is the whole way from a capture to its report.
func Explain(ctx context.Context, src *record.Capture, opt Options) (*report.Report, error) {
	l, err := load(ctx, src)
	if err != nil {
		return nil, err
	}
	m := l.manifest
	r := &report.Report{
		Schema: report.Schema, Host: hostOf(m), Toolchain: toolchainOf(m), Targets: targetsOf(m),
		Series: []report.Series{}, Comparisons: []report.Comparison{}, Files: []report.File{},
	}
	groups := l.groups()
	for _, g := range groups {
		if s := l.series(g); len(s.Points) > 0 {
			r.Series = append(r.Series, s)
			continue
		}
		if b := l.breakdown(g); b != nil {
			r.Breakdowns = append(r.Breakdowns, *b)
		}
	}
	if len(r.Series) == 0 && len(r.Breakdowns) == 0 {
		if !m.Complete {
			return nil, fmt.Errorf("the capture holds no finished timed run; capture --resume finishes it")
		}
		return nil, fmt.Errorf("the capture holds no finished timed run")
	}
	var pairs []*explained
	for _, g := range groups {
		if g.arm != record.Baseline {
			continue
		}
		e, err := l.comparison(ctx, g, groups, opt)
		if err != nil {
			return nil, err
		}
		if e != nil {
			pairs = append(pairs, e)
		}
	}
	contrast(pairs)
	for _, e := range pairs {
		r.Comparisons = append(r.Comparisons, *e.c)
	}
	if opt.OutDir != "" {
		l.annotate(ctx, src, r, pairs, opt.OutDir)
	}
	have := fileSet(r.Files)
	for i, e := range pairs {
		r.Comparisons[i].Quote = report.Quote(r, &r.Comparisons[i])
		r.Comparisons[i].Verdict.Evidence = evidence(r.Comparisons[i].Verdict.Evidence, e, have)
	}
	if !m.Complete {
		l.warn(nil, "incomplete", "the capture was not finished; the figures are of the runs that were")
	}
	r.Warnings = append([]report.Warning{}, l.warnings...)
	return r, nil
}

// comparison accounts for what a group lost between two T, nil where there is
// but one T.
func (l *loaded) comparison(ctx context.Context, g *group, groups []*group, opt Options) (*explained, error) {
	base, peak, err := l.choose(g, opt)
	if err != nil || base == nil {
		return nil, err
	}
	p := pairOf(base, peak)
	if len(p.baseWall) == 0 {
		l.warn(nil, "no-common-block", fmt.Sprintf("%s in %s mode: T=%d and T=%d were never timed in one block, so they are not compared", g.target, g.mode, base.Threads, peak.Threads))
		return nil, nil
	}
	var division *memory.Result
	p.split, division = l.splitUser(ctx, &p, groups, g, opt.Self)
	f := p.figures(identity(len(p.baseWall)), identity(len(p.baseRows)), identity(len(p.peakRows)))
	c := &report.Comparison{
		Target: g.target, Mode: g.mode, Arm: g.arm, Base: base.Threads, Peak: peak.Threads, Unit: unitOf(peak),
		SlotBaseNS: int64(math.Round(f.slotBase)), SlotPeakNS: int64(math.Round(f.slotPeak)),
		Efficiency: f.slotBase / f.slotPeak, CoresLost: cores(f.slotPeak-f.slotBase, f, &p),
		Rows: []report.Row{}, Experiments: []report.Experiment{},
	}
	c.ExcessNS = c.SlotPeakNS - c.SlotBaseNS
	c.EfficiencyCI, c.CoresLostCI = p.timings()
	if rows := p.rows(f); rows != nil {
		p.rowIntervals(rows)
		l.fill(rows, &p, f, division)
		c.Rows, c.Groups = rows, p.groups(rows)
		c.ClosureError = p.closure()
		c.Factors = factors(rows, c.Efficiency)
	}
	c.CPUPerOp = l.cpuPerOp(base, peak)
	c.Narrative = narrative(base, peak)
	l.experiments(c, groups, g, &p)
	gates := append(gatesOf(base, len(p.baseWall)), gatesOf(peak, len(p.peakWall))...)
	if g := peak.unevenMachine(); g != nil {
		gates = append(gates, *g)
	}
	c.Verdict = judge(c, gates)
	load := l.loadShareOf(&p)
	besideLoad(c, load)
	c.Potential = underCeiling(p.potential(c), c.Efficiency, l.ceiling.efficiency(kernelALU, base.Threads, peak.Threads))
	c.Notes = notes(l.manifest, g, &p)
	if load != nil {
		c.Notes = append(c.Notes, load.note())
	}
	return &explained{c: c, p: &p, division: division}, nil
}

// choose picks the two cells to compare: those asked for, else from half of the
// CPUs (or the knee, where that lies lower) to the highest T.
func (l *loaded) choose(g *group, opt Options) (base, peak *cell, err error) {
	var have []*cell
	for _, c := range g.cells {
		if g.find(c.Threads) == c {
			have = append(have, c)
		}
	}
	if len(have) < 2 && opt.From == 0 && opt.To == 0 || len(have) == 0 {
		return nil, nil, nil
	}
	peak = have[len(have)-1]
	if opt.To != 0 {
		if peak = g.find(opt.To); peak == nil {
			return nil, nil, noSuchT(have, opt.To)
		}
	}
	if opt.From != 0 {
		if base = g.find(opt.From); base == nil {
			return nil, nil, noSuchT(have, opt.From)
		}
	} else {
		limit := l.half(peak)
		if k := l.knee(g); k > 0 && k < limit {
			limit = k
		}
		for _, c := range have {
			if c.Threads < peak.Threads && (base == nil || c.Threads <= limit) {
				base = c
			}
		}
	}
	if base == nil {
		return nil, nil, nil
	}
	if base.Threads >= peak.Threads {
		return nil, nil, &PairError{fmt.Sprintf("cannot compare from T=%d to T=%d: the first must be lower", base.Threads, peak.Threads)}
	}
	return base, peak, nil
}

// half of the usable CPUs; of the highest T where the machine is not known.
func (l *loaded) half(peak *cell) int {
	if n := l.manifest.Host.CPUs; n > 1 {
		return n / 2
	}
	return max(1, peak.Threads/2)
}

// PairError says that the two T asked for cannot be compared.
type PairError struct{ text string }

func (e *PairError) Error() string { return e.text }

func noSuchT(have []*cell, t int) error {
	text := fmt.Sprintf("the capture has no timed runs at T=%d; it has T=", t)
	for i, c := range have {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(c.Threads)
	}
	return &PairError{text}
}

// fill adds to each row the call paths that grew and what there is to act on.
func (l *loaded) fill(rows []report.Row, p *pair, f figures, division *memory.Result) {
	base, peak := p.base.pathShares(l.paths), p.peak.pathShares(l.paths)
	wall := f.slotPeak / float64(p.peak.Threads)
	for i := range rows {
		id := cause.ID(rows[i].Cause)
		rows[i].Stacks = growth(base.victim[id], peak.victim[id], f.slotBase, f.slotPeak, wall)
		rows[i].Culprits = growth(base.culprit[id], peak.culprit[id], f.slotBase, f.slotPeak, wall)
		rows[i].Detail = detail(id, p.peak)
		if division == nil {
			continue
		}
		if id == cause.WorkUser {
			rows[i].Detail = strings.Join(division.Notes, "; ")
		}
		for _, part := range division.Parts {
			if part.Cause == id {
				rows[i].Detail = part.Detail()
				rows[i].Stacks = siteStacks(part, wall)
			}
		}
	}
}

// closure is how far the classes, measured independently, missed the slot time
// in the observations that the rows are the mean of: the worse of base and peak.
// nil without a trace.
func (p *pair) closure() *float64 {
	worst, any := 0.0, false
	for _, missed := range [][]float64{p.baseMissed, p.peakMissed} {
		if known := stats.Finite(missed); len(known) > 0 {
			worst = math.Max(worst, math.Abs(stats.Mean(known)))
			any = true
		}
	}
	if !any {
		return nil
	}
	return &worst
}

// factors is the multiplicative one-line form (METHOD 2.6): each group's factor
// is E^(its share of the excess), so that their product is E in any order.
func factors(rows []report.Row, efficiency float64) []report.Factor {
	if !(efficiency > 0) || efficiency >= 1 {
		return nil
	}
	share := map[string]float64{}
	var order []string
	for _, r := range rows {
		if _, seen := share[r.Group]; !seen {
			order = append(order, r.Group)
		}
		share[r.Group] += r.Share
	}
	var out []report.Factor
	for _, g := range order {
		out = append(out, report.Factor{Name: g, Value: math.Pow(efficiency, share[g])})
	}
	return out
}

func identity(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

func unitOf(c *cell) string {
	for _, o := range c.profiled {
		if o.account != nil && o.account.LanesOf == "Ps" {
			return "P-seconds"
		}
	}
	return "slot time"
}

// siteStacks shows the instructions that a memory cause rests on.
func siteStacks(part memory.Part, wallPeak float64) []report.Stack {
	out := []report.Stack{}
	for _, s := range part.Sites[:min(len(part.Sites), maxRowStacks)] {
		out = append(out, report.Stack{Frames: []string{s.Func}, Source: s.Source, ExcessNS: s.NS, CoresLost: float64(s.NS) / wallPeak})
	}
	return out
}
