package memory

import (
	"math"
	"slices"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// located is a site with what decides how it is charged.
type located struct {
	Site
	base, peak float64 // ns
	grown      float64 // ns beyond the ceiling, may be negative
	pcs        []uint64
	caller     string // of the function that holds the instruction
}

// slowMemory is the loss of the memory kernels above which memory may explain
// growth at plain accesses.
const slowMemory = 0.1

// charge divides rest, the growth beyond the ceiling, among the causes that the
// sites speak for.
func (r *Result) charge(in Input, sites []located, rest, sampleNS float64) {
	var byKind [numKinds][]located
	for _, s := range sites {
		byKind[s.Kind] = append(byKind[s.Kind], s)
	}
	for k := range byKind {
		slices.SortStableFunc(byKind[k], func(a, b located) int {
			switch {
			case a.grown > b.grown:
				return -1
			case a.grown < b.grown:
				return 1
			}
			return 0
		})
	}
	named := func(kinds ...Kind) []located {
		var out []located
		for _, k := range kinds {
			for _, s := range byKind[k] {
				if s.grown >= siteShare*rest && s.grown >= sigmas*math.Sqrt((s.base+s.peak)*sampleNS) {
					out = append(out, s)
				}
			}
		}
		return out
	}

	// What processes still lose was no sharing of lines between goroutines.
	shared := sharedShare(in, r)
	var parts []Part
	if !in.Processes {
		spin := named(Spin)
		// A lock's release and what it guards travel with it.
		held, atomic := company(spin, named(Atomic))
		guarded, alone := company(spin, named(Shared))
		spin = append(append(spin, held...), guarded...)
		// What is loaded before a compare-and-swap is on its line.
		near, alone := company(atomic, alone)
		certain := append(append(atomic, near...), few(alone, rest)...)
		plain := named(Access)
		slow := clamp(in.MemoryLoss, 0, 0.99) >= slowMemory
		if !math.IsNaN(shared) && !slow {
			// Processes do as much memory traffic: what vanishes with them was no stream.
			plain = named(Access, Stream)
		}
		likely := few(plain, rest)
		// An atomic is also where a core waits for its earlier stores, so process
		// mode has the last word on it.
		keep := 1.0
		if !math.IsNaN(shared) {
			keep = math.Min(1, shared/0.5)
			if shared < 0.5 {
				r.note("process mode loses as well: only a part of the growth at these instructions is sharing")
			}
		}
		parts = append(parts,
			part(cause.LockSpin, spin, 1, false),
			part(cause.MemoryContendedLine, certain, keep, false))
		switch {
		case len(likely) == 0:
		case math.IsNaN(shared):
			// Without process mode a plain access outside of a loop is a shared
			// line at best likely; where memory is known to be slow it is not even that.
			if !slow {
				parts = append(parts, part(cause.MemoryContendedLine, likely, 1, len(certain) == 0))
			} else {
				r.note("growth on few plain accesses: a shared line or slow memory; process mode would decide")
			}
		default:
			parts = append(parts, part(cause.MemoryContendedLine, likely, shared, false))
		}
	}
	parts = append(parts, r.memoryParts(in, byKind)...)
	r.fit(parts, rest)
}

// memoryParts charges growth that is spread over accesses to memory, as far as
// the memory kernels lose too: streams to memory/bandwidth, which the program
// can relieve, and sparse accesses in other code to hardware/memory.
func (r *Result) memoryParts(in Input, byKind [numKinds][]located) []Part {
	if math.IsNaN(in.MemoryLoss) {
		if s := sum(byKind[Stream]); s > 0 {
			r.note("growth on code that walks through memory, but the memory kernels did not run: cannot tell whether memory is the limit")
		}
		return nil
	}
	// Kernels do nothing but access memory: where they lose little, memory is not the limit.
	extra := 1/(1-clamp(in.MemoryLoss, 0, 0.99)) - 1/(1-clamp(in.ALULoss, 0, 0.99))
	if extra < 0.03 {
		return nil
	}
	stream := part(cause.MemoryBandwidth, byKind[Stream], 1, false)
	sparse := part(cause.HardwareMemory, byKind[Access], 1, false)
	// Sparse accesses lose at most what the kernels lose on them.
	var base float64
	for _, s := range byKind[Access] {
		base += s.base
	}
	sparse.NS = int64(math.Min(float64(sparse.NS), base*extra))
	return []Part{stream, sparse}
}

// sharedShare is the part of the growth that vanishes in process mode, in
// [0, 1], NaN where process mode is not known.
func sharedShare(in Input, r *Result) float64 {
	if math.IsNaN(in.ProcessGrowth) || in.ProcessGrowth <= 0 || r.BaseNS <= 0 {
		return math.NaN()
	}
	threads := float64(r.PeakNS) / float64(r.BaseNS)
	if threads <= 1 {
		return math.NaN()
	}
	return clamp((threads-in.ProcessGrowth)/(threads-1), 0, 1)
}

// few keeps the largest sites if they hold a good part of the growth: a line
// that is fought over shows at few instructions.
func few(sites []located, rest float64) []located {
	slices.SortStableFunc(sites, func(a, b located) int {
		switch {
		case a.grown > b.grown:
			return -1
		case a.grown < b.grown:
			return 1
		}
		return 0
	})
	sites = sites[:min(len(sites), fewSites)]
	if sum(sites) < concentration*rest {
		return nil
	}
	return sites
}

// company parts sites into those that stand in a function, or are called from
// one, that holds a leader or calls one, and the others.
func company(leaders, sites []located) (with, without []located) {
	for _, s := range sites {
		if slices.ContainsFunc(leaders, func(l located) bool {
			return l.Func == s.Func || l.caller != "" && (l.caller == s.caller || l.caller == s.Func) || s.caller != "" && s.caller == l.Func
		}) {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return with, without
}

func sum(sites []located) float64 {
	var s float64
	for _, x := range sites {
		s += x.grown
	}
	return math.Max(0, s)
}

// part adds sites up. Sites that shrank count against those that grew, so that
// samples which moved between neighbouring instructions are no growth.
func part(id cause.ID, sites []located, keep float64, likely bool) Part {
	p := Part{Cause: id, Likely: likely, NS: int64(sum(sites) * keep)}
	for _, s := range sites {
		if s.grown > 0 {
			p.PCs = append(p.PCs, s.pcs...)
		}
	}
	for _, s := range sites {
		if len(p.Sites) == maxSites || s.grown <= 0 {
			break
		}
		site := s.Site
		site.NS = int64(s.grown * keep)
		p.Sites = append(p.Sites, site)
	}
	return p
}

// fit merges parts of one cause and shrinks all alike where together they
// exceed what there is to explain, as sites that shrank elsewhere allow.
func (r *Result) fit(parts []Part, rest float64) {
	var merged []Part
	sum := 0.0
	for _, p := range parts {
		if p.NS <= 0 {
			continue
		}
		sum += float64(p.NS)
		if i := slices.IndexFunc(merged, func(m Part) bool { return m.Cause == p.Cause }); i >= 0 {
			m := &merged[i]
			m.NS += p.NS
			m.PCs = append(m.PCs, p.PCs...)
			m.Sites = append(m.Sites, p.Sites...)
			slices.SortStableFunc(m.Sites, func(a, b Site) int { return int(min(max(b.NS-a.NS, -1), 1)) })
			m.Sites = m.Sites[:min(len(m.Sites), maxSites)]
			m.Likely = m.Likely && p.Likely
			continue
		}
		merged = append(merged, p)
	}
	scale := 1.0
	if sum > rest {
		scale = rest / sum
	}
	for _, p := range merged {
		p.NS = int64(float64(p.NS) * scale)
		r.add(p)
	}
}
