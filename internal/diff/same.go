package diff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/scaleprof/scaleprof/internal/report"
)

// Mismatch is something in which two reports differ that their figures depend on.
type Mismatch struct {
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (m Mismatch) String() string { return fmt.Sprintf("%s: %s before, %s now", m.What, m.Old, m.New) }

// Mismatches are what forbids a comparison: other machines, other toolchains,
// other total work of a target that both have. What one of the two does not know
// is no mismatch. Versions of libraries are none either: an upgrade is a change
// like any other, and Changes names it.
func Mismatches(before, after *report.Report) []Mismatch {
	var out []Mismatch
	add := func(what, o, n string) {
		if o != n && o != "" && n != "" {
			out = append(out, Mismatch{what, o, n})
		}
	}
	a, b := before.Host, after.Host
	add("processor", a.CPU, b.CPU)
	add("operating system", a.OS, b.OS)
	add("architecture", a.Arch, b.Arch)
	add("CPUs", count(a.CPUs), count(b.CPUs))
	add("physical cores", pointer(a.PhysicalCores), pointer(b.PhysicalCores))
	add("CPUs of a core", pointer(a.SMT), pointer(b.SMT))
	add("NUMA nodes", pointer(a.NUMANodes), pointer(b.NUMANodes))
	if a.CPUs > 0 && b.CPUs > 0 && a.CPU != "" && b.CPU != "" {
		add("CPU quota", quota(a.QuotaCPUs), quota(b.QuotaCPUs)) // none is a quota, too
	}
	if a.Virtual != nil && b.Virtual != nil {
		add("virtual machine", fmt.Sprint(*a.Virtual), fmt.Sprint(*b.Virtual))
	}
	add("Go", before.Toolchain.Go, after.Toolchain.Go)
	return append(out, work(before, after)...)
}

// work compares what the targets of both were asked to do.
func work(before, after *report.Report) []Mismatch {
	var out []Mismatch
	for _, o := range before.Targets {
		for _, n := range after.Targets {
			if o.Name != n.Name {
				continue
			}
			names := slices.Sorted(maps.Keys(o.Params))
			for _, k := range slices.Sorted(maps.Keys(n.Params)) {
				if !slices.Contains(names, k) {
					names = append(names, k)
				}
			}
			for _, k := range names {
				if ov, nv := o.Params[k], n.Params[k]; ov != nv {
					out = append(out, Mismatch{fmt.Sprintf("%s, parameter %s", o.Name, k), orNone(ov), orNone(nv)})
				}
			}
		}
	}
	for i := range before.Series {
		o := &before.Series[i]
		n := find(after, o.Target, o.Mode)
		if o.Arm != baseline || n == nil {
			continue
		}
		for _, p := range o.Points {
			q := pointAt(n, p.Threads)
			if q == nil || p.Ops == 0 || q.Ops == 0 {
				continue
			}
			if p.Ops != q.Ops {
				out = append(out, Mismatch{fmt.Sprintf("operations of %s in %s mode", o.Target, o.Mode), fmt.Sprint(p.Ops), fmt.Sprint(q.Ops)})
				break
			}
			if p.Procs != q.Procs && p.Procs > 0 && q.Procs > 0 {
				out = append(out, Mismatch{fmt.Sprintf("GOMAXPROCS of %s in %s mode at T=%d", o.Target, o.Mode, p.Threads), fmt.Sprint(p.Procs), fmt.Sprint(q.Procs)})
				break
			}
		}
	}
	return out
}

// Changes are differences worth knowing that forbid nothing: versions of
// libraries and of scaleprof itself.
func Changes(before, after *report.Report) []Mismatch {
	var out []Mismatch
	a, b := before.Toolchain, after.Toolchain
	for _, k := range slices.Sorted(maps.Keys(a.Libraries)) {
		if v, ok := b.Libraries[k]; ok && v != a.Libraries[k] {
			out = append(out, Mismatch{k, a.Libraries[k], v})
		}
	}
	if a.Scaleprof != b.Scaleprof && a.Scaleprof != "" && b.Scaleprof != "" {
		out = append(out, Mismatch{"scaleprof", a.Scaleprof, b.Scaleprof})
	}
	return out
}

func count(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func pointer(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func quota(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.3g", *v)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
