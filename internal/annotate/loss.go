package annotate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/analyze/classify"
	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Row is what a cause carries at base and peak, in nanoseconds. Samples of the
// cause are made to add up to it.
type Row struct {
	Cause          cause.ID
	BaseNS, PeakNS int64
}

// Moved is a cause whose row was taken from the growth of work/user, as no
// sample is of it by its call path. PCs are the addresses where it sits, none for
// all of the program's own code.
type Moved struct {
	Cause cause.ID
	PCs   []uint64
}

// LossInput is what Loss compares.
type LossInput struct {
	Cell     Cell // at peak
	Base     int  // T at base
	BaseRuns int  // runs that BaseParts are of
	PeakRuns int
	// BaseParts and PeakParts are time by call path, cause and state: Victims of
	// the runs' accounts, or OnCPU where there is no trace.
	BaseParts, PeakParts []Weighted
	Rows                 []Row // all rows of the comparison, or nil to keep the parts' own sums
	Moved                []Moved
	WallPeakNS           int64    // of a run at peak, for cores lost
	Headline             []string // what the report says of the pair
}

// OnCPU are the samples of CPU profiles as parts for Loss, scaled to the CPU
// time of their process.
func OnCPU(sources []Source) []Weighted {
	var out []Weighted
	var buf []string
	for _, src := range sources {
		if src.Profile == nil {
			continue
		}
		at := valueIndex(src.Profile, "cpu")
		if at < 0 {
			continue
		}
		values := make([]int64, len(src.Profile.Sample))
		for i, s := range src.Profile.Sample {
			values[i] = s.Value[at]
		}
		if src.CPUNS > 0 {
			values = apportion(values, src.CPUNS)
		}
		for i, s := range src.Profile.Sample {
			buf = names(s, buf)
			id := classify.Stack(len(buf), func(i int) string { return buf[i] })
			out = append(out, Weighted{framesOf(s), id, lanes.OnCPU.String(), values[i]})
		}
	}
	return out
}

// pairKey tells call paths apart that are compared with each other: by the
// lines of the calls and the leaf's address, so that -list and -disasm show
// which instruction lost. pprof adds up what it shows more coarsely.
type pairKey struct {
	path  string
	cause cause.ID
	state string
}

// pathLoss is a call path's time at base and peak.
type pathLoss struct {
	frames     []lanes.Frame
	cause      cause.ID
	state      string
	base, peak int64
}

// Loss is the scaling-loss profile: for each call path, cause and state the time
// at peak minus that at base, for the same total work. Its excess adds up to the
// rows' excess exactly. Values below zero are call paths that cost less at peak.
func Loss(in LossInput) (*profile.Profile, error) {
	if len(in.BaseParts)+len(in.PeakParts) == 0 {
		return nil, ErrNoProfile
	}
	if in.BaseRuns < 1 || in.PeakRuns < 1 {
		return nil, fmt.Errorf("loss of %s: runs at base %d and at peak %d", in.Cell, in.BaseRuns, in.PeakRuns)
	}
	paths := in.paths()
	b := newBuilder(nanoseconds("excess"), nanoseconds("base"), nanoseconds("peak"), &profile.ValueType{Type: "cores_lost", Unit: "milli"})
	excess := make([]int64, len(paths))
	var sum int64
	for i, l := range paths {
		excess[i] = l.peak - l.base
		sum += excess[i]
	}
	cores := in.cores(excess, sum)
	for i, l := range paths {
		if l.base != 0 || l.peak != 0 {
			b.add(in.Cell, l.frames, l.cause, l.state, excess[i], l.base, l.peak, cores[i])
		}
	}
	if len(b.p.Sample) == 0 {
		return nil, ErrNoProfile
	}
	c := in.Cell
	c.Notes = append(slices.Clone(in.Headline), c.Notes...)
	c.comment(b.p, fmt.Sprintf("what was lost from T=%d to T=%d for the same work: excess = peak - base", in.Base, c.Threads), max(in.BaseRuns, in.PeakRuns))
	return b.p, b.p.CheckValid()
}

// cores turns nanoseconds lost into thousandths of a core. Rounding is carried
// along, so that the sum is right to one.
func (in *LossInput) cores(excess []int64, sum int64) []int64 {
	out := make([]int64, len(excess))
	if in.WallPeakNS <= 0 {
		return out
	}
	running, before := 0.0, 0.0
	for i, e := range excess {
		running += float64(e) * 1000 / float64(in.WallPeakNS)
		now := math.Round(running)
		out[i], before = int64(now-before), now
	}
	return out
}

// paths merges both sides by call path and fits them to the rows.
func (in *LossInput) paths() []*pathLoss {
	index := map[pairKey]*pathLoss{}
	var paths []*pathLoss
	take := func(parts []Weighted, runs int, peak bool) {
		parts = slices.Clone(parts)
		fit(parts, runs, 0)
		for _, w := range parts {
			if len(w.Frames) == 0 {
				w.Frames = standIn(w.Cause)
			}
			key := pairKey{sampleKey(w.Frames, "", ""), w.Cause, w.State}
			l := index[key]
			if l == nil {
				l = &pathLoss{frames: w.Frames, cause: w.Cause, state: w.State}
				index[key] = l
				paths = append(paths, l)
			}
			if peak {
				l.peak += w.NS
			} else {
				l.base += w.NS
			}
		}
	}
	take(in.BaseParts, in.BaseRuns, false)
	take(in.PeakParts, in.PeakRuns, true)
	if in.Rows == nil {
		return paths
	}
	return in.fitRows(paths)
}

// fitRows makes each cause's paths add up to its row on both sides.
func (in *LossInput) fitRows(paths []*pathLoss) []*pathLoss {
	rows := map[cause.ID]Row{}
	for _, r := range in.Rows {
		rows[r.Cause] = r
	}
	// The program's own code first carries what was moved out of its row.
	user := rows[cause.WorkUser]
	user.Cause = cause.WorkUser
	moved := map[cause.ID]bool{}
	for _, m := range in.Moved {
		if r, ok := rows[m.Cause]; ok && !moved[m.Cause] && !has(paths, m.Cause) {
			moved[m.Cause] = true
			user.BaseNS += r.BaseNS
			user.PeakNS += r.PeakNS
		}
	}
	rows[cause.WorkUser] = user
	order := make([]cause.ID, 0, len(rows))
	for id := range rows {
		if !moved[id] {
			order = append(order, id)
		}
	}
	slices.Sort(order)
	var out []*pathLoss
	for _, id := range order {
		var own []*pathLoss
		for _, l := range paths {
			if l.cause == id {
				own = append(own, l)
			}
		}
		own = append(own, fitRow(own, rows[id])...)
		out = append(out, own...)
	}
	// Those that sit at known addresses first, before the rest takes from there too.
	last := slices.Clone(in.Moved)
	slices.SortStableFunc(last, func(a, b Moved) int {
		return cmp.Compare(min(len(b.PCs), 1), min(len(a.PCs), 1))
	})
	for _, m := range last {
		if moved[m.Cause] {
			out = append(out, move(out, m, rows[m.Cause])...)
			moved[m.Cause] = false
		}
	}
	return out
}

func has(paths []*pathLoss, id cause.ID) bool {
	return slices.ContainsFunc(paths, func(l *pathLoss) bool { return l.cause == id })
}

// fitRow scales the paths of one cause to its row and returns what has no path.
func fitRow(paths []*pathLoss, r Row) []*pathLoss {
	base, peak := make([]int64, len(paths)), make([]int64, len(paths))
	for i, l := range paths {
		base[i], peak[i] = l.base, l.peak
	}
	base, peak = apportion(base, r.BaseNS), apportion(peak, r.PeakNS)
	rest := &pathLoss{frames: standIn(r.Cause), cause: r.Cause, base: r.BaseNS, peak: r.PeakNS}
	for i, l := range paths {
		l.base, l.peak = base[i], peak[i]
		rest.base -= l.base
		rest.peak -= l.peak
	}
	if rest.base == 0 && rest.peak == 0 {
		return nil
	}
	return []*pathLoss{rest}
}

// move takes a row's nanoseconds out of the program's own paths and returns
// them as paths of the row's cause: first where it sits and grew, then where it
// sits, then wherever the program's own code grew.
func move(paths []*pathLoss, m Moved, r Row) []*pathLoss {
	at := map[uint64]bool{}
	for _, pc := range m.PCs {
		at[pc] = true
	}
	want := r.PeakNS
	var out []*pathLoss
	take := func(only bool, weight func(*pathLoss) int64) {
		if want <= 0 {
			return
		}
		var from []*pathLoss
		var weights []int64
		var sum int64
		for _, l := range paths {
			if l.cause != cause.WorkUser || only && (len(l.frames) == 0 || !at[l.frames[0].PC]) {
				continue
			}
			if w := min(weight(l), l.peak); w > 0 {
				from, weights = append(from, l), append(weights, w)
				sum += w
			}
		}
		if sum == 0 {
			return
		}
		for i, v := range apportion(weights, min(want, sum)) {
			if v == 0 {
				continue
			}
			from[i].peak -= v
			want -= v
			out = append(out, &pathLoss{frames: from[i].frames, cause: m.Cause, state: from[i].state, peak: v})
		}
	}
	grown := func(l *pathLoss) int64 { return l.peak - l.base }
	all := func(l *pathLoss) int64 { return l.peak }
	if len(at) > 0 {
		take(true, grown)
		take(true, all)
		take(false, grown)
	}
	take(false, all)
	if r.BaseNS != 0 || want != 0 {
		// What no path can carry keeps the sums right.
		rest := &pathLoss{frames: standIn(m.Cause), cause: m.Cause, base: r.BaseNS, peak: want}
		out = append(out, rest)
		back := &pathLoss{frames: standIn(cause.WorkUser), cause: cause.WorkUser, base: -r.BaseNS, peak: -want}
		out = append(out, back)
	}
	return out
}
