// Package memory divides the growth of the program's own CPU time between two
// numbers of workers: into what the machine's cores lose by themselves, what is
// lost on cache lines that several cores write, what memory cannot deliver, and
// a remainder that is the code's own.
//
// The evidence is where the growth sits. Sample addresses are looked up in the
// binary that ran (binary.go) and its functions disassembled (insn.go, amd64.go,
// arm64.go): a core that waits for a line is sampled at the instruction behind
// the atomic operation, or at the first that needs the value of a plain load.
// An access whose address does not change within its loop cannot miss the cache
// by itself, so growth there is another core's doing; one that walks through
// memory can (loops.go, site.go). Where the address does not decide, process
// mode does: what vanishes with it was sharing.
//
// Binaries and samples come from a capture and are not trusted: sizes are
// bounded, and a fault in a reader of the standard library is an error here.
package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Sample is CPU time of the program's own code at one call path.
type Sample struct {
	Frames []lanes.Frame // leaf first; the leaf's PC is the address sampled, as the process saw it
	NS     int64
}

// Input is what Divide works on. Base and Peak do the same total work.
type Input struct {
	Base, Peak []Sample
	// SampleNS is the weight of one sample, for the noise of counting; 0 for 10 ms.
	SampleNS int64
	// Binary is the file that ran, "" if unknown.
	Binary string
	// ALULoss is the part of its time that register-only code loses at peak
	// against base, [0, 1).
	ALULoss float64
	// MemoryLoss is the same for the memory kernel that loses most; NaN if unknown.
	MemoryLoss float64
	// ProcessGrowth is the program's own CPU time at peak over that at base in
	// process mode (1: no growth); NaN if it was not captured. Zero counts as NaN.
	ProcessGrowth float64
	// Processes says that Base and Peak themselves ran as processes, which share no lines.
	Processes bool
}

// Kind is how the growth at a site comes about.
type Kind uint8

// The kinds, in the order in which one instruction is tried for them.
const (
	Other    Kind = iota // no memory access is near
	Spin                 // a loop of the program's own that waits for an atomic value
	Atomic               // at or right behind an atomic read-modify-write
	Shared               // a plain access whose address does not change in its loop
	Access               // a plain access outside of a loop: cannot tell by address
	Stream               // a plain access that walks through memory, or a copy or clear
	numKinds = iota
)

func (k Kind) String() string {
	return [...]string{"other", "spin", "atomic", "shared", "access", "stream"}[k]
}

// Site is one instruction and the growth that it is charged with.
type Site struct {
	Kind        Kind
	PC          uint64 // in the binary's own addresses
	Func        string // that holds the instruction
	Source      string // file:line of the user's code, "" if unknown
	Instruction string // "LOCK XADDQ", "" where not decoded
	NS          int64  // growth beyond the ceiling
}

// String names the instruction and its place: "LOCK XADDQ at counter.go:31".
func (s Site) String() string {
	what := s.Instruction
	if what == "" {
		what = s.Func
	}
	if s.Source == "" {
		return what + " in " + s.Func
	}
	return what + " at " + s.Source
}

// Part is growth that is charged to a cause other than work/user.
type Part struct {
	Cause  cause.ID
	NS     int64
	Likely bool     // by the best guess: only process mode could decide, and it was not captured
	Sites  []Site   // largest first, at most maxSites
	PCs    []uint64 // addresses of the samples that it rests on, as the process saw them; nil for all
}

// Detail says in a line what the part rests on.
func (p Part) Detail() string {
	if len(p.Sites) == 0 {
		return ""
	}
	text := p.Sites[0].String()
	if n := len(p.Sites) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if p.Likely {
		text += " (likely; process mode would decide)"
	}
	return text
}

// Result is the division. Parts add up to at most GrowthNS, each at least 0;
// the remainder stays work/user.
type Result struct {
	BaseNS, PeakNS int64
	GrowthNS       int64
	Parts          []Part
	Notes          []string // what could not be told, and why
}

// Of is the part of a cause, 0 where there is none.
func (r *Result) Of(id cause.ID) int64 {
	for _, p := range r.Parts {
		if p.Cause == id {
			return p.NS
		}
	}
	return 0
}

// Fractions gives each part as a fraction of the growth, in [0, 1].
func (r *Result) Fractions() map[cause.ID]float64 {
	out := make(map[cause.ID]float64, len(r.Parts))
	if r.GrowthNS <= 0 {
		return out
	}
	for _, p := range r.Parts {
		out[p.Cause] += float64(p.NS) / float64(r.GrowthNS)
	}
	return out
}

const (
	// defaultSampleNS is a sample of a profile at 100 Hz.
	defaultSampleNS = 10_000_000
	// sigmas is how far growth must be above the noise of counting samples.
	sigmas = 3
	// siteShare is the part of the growth to explain below which a site is not named.
	siteShare = 0.05
	// concentration is the part of it that the few largest sites of plain
	// accesses must hold to be taken for a shared line.
	concentration = 0.5
	fewSites      = 4
	// maxSites bounds the sites of a part.
	maxSites = 8
	// maxAddresses bounds the addresses that are looked up, largest growth first.
	maxAddresses = 20_000
)

// address is all samples at one address.
type address struct {
	pc         uint64
	base, peak float64 // ns
	frames     []lanes.Frame
	framesNS   int64
}

// Divide divides the growth from Base to Peak. It never fails: what cannot be
// told stays in work/user, with a note.
func Divide(ctx context.Context, in Input) Result {
	r := Result{BaseNS: total(in.Base), PeakNS: total(in.Peak)}
	r.GrowthNS = r.PeakNS - r.BaseNS
	if r.GrowthNS <= 0 {
		return r
	}
	sampleNS := float64(in.SampleNS)
	if sampleNS <= 0 {
		sampleNS = defaultSampleNS
	}
	noise := sigmas * math.Sqrt(float64(r.BaseNS+r.PeakNS)*sampleNS)

	// What register-only code would have lost: base / (1-loss) is the time that
	// the same instructions take at peak.
	stretch := 1 / (1 - clamp(in.ALULoss, 0, 0.99))
	sites, err := look(ctx, in, stretch)
	if err != nil {
		r.note(fmt.Sprintf("cannot look at the instructions: %v", err))
	} else if limit := stretchSeen(sites, sampleNS); limit < stretch {
		r.note("the program's own arithmetic lost less than the ALU kernel did; the ceiling is taken from the program")
		stretch = limit
	}
	ceiling := math.Min(float64(r.GrowthNS), float64(r.BaseNS)*(stretch-1))
	r.add(Part{Cause: cause.HardwareCeiling, NS: int64(ceiling)})
	rest := float64(r.GrowthNS) - ceiling
	if rest < noise {
		r.note("the growth beyond the ceiling is within the noise of counting samples")
		return r
	}
	for i := range sites {
		s := &sites[i]
		s.grown = s.peak - s.base*stretch
		s.NS = int64(s.grown)
	}
	r.charge(in, sites, rest, sampleNS)
	return r
}

// look finds the sites of the samples in the binary.
func look(ctx context.Context, in Input, stretch float64) ([]located, error) {
	addresses := addressesOf(in, stretch)
	img, err := openImage(in.Binary)
	if err != nil {
		return nil, err
	}
	defer img.close()
	if err := img.align(addresses); err != nil {
		return nil, err
	}
	return img.sites(ctx, addresses), nil
}

// enoughSamples is how many samples the program's arithmetic must have at base
// to be held against the ALU kernel.
const enoughSamples = 30

// stretchSeen is the most by which instructions that touch no memory can have
// been stretched, from their samples; infinite where there are too few. What the
// cores lose by themselves, they lose there as well: kernels run at another time,
// and what a neighbour took from them then is no loss of the program's.
func stretchSeen(sites []located, sampleNS float64) float64 {
	var base, peak float64
	for _, s := range sites {
		if s.Kind == Other && s.Func != "" {
			base += s.base
			peak += s.peak
		}
	}
	if base < enoughSamples*sampleNS {
		return math.Inf(1)
	}
	return math.Max(1, (peak+sigmas*math.Sqrt((base+peak)*sampleNS))/base)
}

func (r *Result) note(text string) { r.Notes = append(r.Notes, text) }

func (r *Result) add(p Part) {
	if p.NS > 0 {
		r.Parts = append(r.Parts, p)
	}
}

func total(samples []Sample) int64 {
	var sum int64
	for _, s := range samples {
		if s.NS > 0 && sum < math.MaxInt64-s.NS {
			sum += s.NS
		}
	}
	return sum
}

func clamp(v, lo, hi float64) float64 {
	if math.IsNaN(v) {
		return lo
	}
	return math.Max(lo, math.Min(hi, v))
}

// addressesOf adds samples up by address, and keeps the call path that weighs
// most at each. Samples without an address stay out: they cannot be located.
func addressesOf(in Input, stretch float64) []*address {
	byPC := map[uint64]*address{}
	add := func(samples []Sample, peak bool) {
		for _, s := range samples {
			if len(s.Frames) == 0 || s.Frames[0].PC == 0 || s.NS <= 0 {
				continue
			}
			a := byPC[s.Frames[0].PC]
			if a == nil {
				a = &address{pc: s.Frames[0].PC}
				byPC[a.pc] = a
			}
			if peak {
				a.peak += float64(s.NS)
			} else {
				a.base += float64(s.NS)
			}
			if s.NS > a.framesNS {
				a.frames, a.framesNS = s.Frames, s.NS
			}
		}
	}
	add(in.Base, false)
	add(in.Peak, true)
	all := make([]*address, 0, len(byPC))
	for _, a := range byPC {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *address) int {
		// Largest growth first, shrinking last; by address where equal, so that
		// the result does not depend on the order of a map.
		ga, gb := a.peak-a.base*stretch, b.peak-b.base*stretch
		switch {
		case ga > gb:
			return -1
		case ga < gb:
			return 1
		case a.pc < b.pc:
			return -1
		}
		return 1
	})
	return all[:min(len(all), maxAddresses)]
}

// userSource is the first line of a call path outside of the runtime and the
// atomics, which is what a user can go to.
func userSource(frames []lanes.Frame) string {
	for _, f := range frames {
		if f.File != "" && f.File != "?" && !plumbing(f.File) {
			return sourceLine(f.File, f.Line)
		}
	}
	return ""
}

// plumbing says that a file belongs to the runtime or to the packages of atomics.
func plumbing(file string) bool {
	for _, dir := range []string{"/runtime/", "/sync/atomic/", "/internal/runtime/", "/internal/bytealg/", "/internal/sync/", "/src/sync/"} {
		if strings.Contains(file, dir) {
			return true
		}
	}
	return strings.HasPrefix(file, "runtime/") || strings.HasPrefix(file, "sync/") || strings.HasPrefix(file, "internal/")
}

// sourceLine is the file's base name with the line: enough to find it, and the
// same on every machine.
func sourceLine(file string, line int) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	return fmt.Sprintf("%s:%d", file, line)
}
