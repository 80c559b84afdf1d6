package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// allocSite is what one line of the program allocated in the window of a run, in
// objects of one size.
type allocSite struct {
	where   string // function and source line
	size    int64  // of an object, bytes; 0 unknown
	bytes   float64
	objects float64
}

const (
	allocBytes   = "/gc/heap/allocs:bytes"
	allocObjects = "/gc/heap/allocs:objects"
)

// readAllocs reads a run's allocation profile, without what recorders allocated
// and scaled to what runtime/metrics counted.
func readAllocs(src *record.Capture, r *record.Run) (sites []allocSite, warnings []report.Warning) {
	for _, f := range r.Find("allocs") {
		p, err := src.Profile(f)
		if err != nil {
			id := r.ID
			warnings = append(warnings, report.Warning{ID: "profile", Text: fmt.Sprintf("run %d: %v", r.ID, err), Run: &id})
			continue
		}
		sites = append(sites, allocSites(p)...)
	}
	var bytes, objects float64
	for _, s := range sites {
		bytes += s.bytes
		objects += s.objects
	}
	b, n := sumMetric(r, allocBytes), sumMetric(r, allocObjects)
	for i := range sites {
		if b > 0 {
			sites[i].bytes *= b / bytes
		}
		if n > 0 {
			sites[i].objects *= n / objects
		}
	}
	return sites, warnings
}

// allocSites are the samples of an allocation profile, nil where it is none.
func allocSites(p *profile.Profile) []allocSite {
	objects := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "alloc_objects" })
	space := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "alloc_space" })
	if objects < 0 || space < 0 {
		return nil
	}
	var out []allocSite
	for _, s := range p.Sample {
		where := allocatedAt(s)
		n, b := s.Value[objects], s.Value[space]
		if where == "" || n <= 0 || b <= 0 {
			continue
		}
		site := allocSite{where: where, bytes: float64(b), objects: float64(n)}
		if size := s.NumLabel["bytes"]; len(size) == 1 && size[0] > 0 {
			site.size = size[0]
		}
		out = append(out, site)
	}
	return out
}

// allocatedAt is the first frame that is not the runtime's, "" for a sample of
// the recorders.
func allocatedAt(s *profile.Sample) string {
	where := ""
	for _, l := range s.Location {
		if l == nil {
			continue
		}
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			fn := line.Function.Name
			for _, p := range []string{"runtime/pprof.", "runtime/trace.", "github.com/felixge/fgprof."} {
				if strings.HasPrefix(fn, p) {
					return ""
				}
			}
			if where != "" || isRuntime(fn) {
				continue
			}
			if strings.HasPrefix(fn, "github.com/scaleprof/scaleprof/internal/capture/") {
				return ""
			}
			where = at(fn[strings.LastIndexByte(fn, '/')+1:], sourceLine(line.Function.Filename, int(line.Line)))
		}
	}
	return where
}

// allocating is what a cell's profiled runs allocated for each operation, by
// line and, if asked, by size, most bytes first.
func allocating(c *cell, bySize bool, least int64) []allocSite {
	type key struct {
		where string
		size  int64
	}
	sums, ops := map[key]*allocSite{}, 0.0
	for _, o := range c.profiled {
		if len(o.allocs) == 0 || o.run.Ops <= 0 {
			continue
		}
		ops += float64(o.run.Ops)
		for _, s := range o.allocs {
			if s.size < least {
				continue
			}
			k := key{s.where, 0}
			if bySize {
				k.size = s.size
			}
			if sums[k] == nil {
				sums[k] = &allocSite{where: k.where, size: k.size}
			}
			sums[k].bytes += s.bytes
			sums[k].objects += s.objects
		}
	}
	var out []allocSite
	for _, s := range sums {
		out = append(out, allocSite{s.where, s.size, s.bytes / ops, s.objects / ops})
	}
	slices.SortFunc(out, func(a, b allocSite) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.where, b.where), cmp.Compare(a.size, b.size))
	})
	return out
}

const (
	maxAllocSites = 2
	// largeObject is the size from which on an object comes from the page heap.
	largeObject = 32<<10 + 1
)

// allocDetail names the lines that allocate most, for the page heap with the
// sizes of the large objects. "" where no allocation profile was recorded.
func allocDetail(id cause.ID, peak *cell) string {
	what := "most is allocated at "
	sites := allocating(peak, false, 0)
	if id == cause.AllocHeap {
		if large := allocating(peak, true, largeObject); len(large) > 0 {
			sites, what = large, "large objects are made at "
		}
	}
	var out []string
	for _, s := range sites[:min(len(sites), maxAllocSites)] {
		if s.size > 0 {
			out = append(out, fmt.Sprintf("%s, %s each, %.3g an operation", s.where, bytesText(float64(s.size)), s.objects))
			continue
		}
		out = append(out, fmt.Sprintf("%s, %s in %.3g objects an operation", s.where, bytesText(s.bytes), s.objects))
	}
	if len(out) == 0 {
		return ""
	}
	return what + strings.Join(out, "; ")
}

// joined puts what is known of two details into one.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
