package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds the CPU numbers that are believed: the kernel's own limit
// (CONFIG_NR_CPUS) is 8192, and a list such as "0-4294967295" must not be unrolled.
const maxCPU = 1 << 16

// cpuSet is a sorted list of distinct CPU (or node) numbers.
type cpuSet []int

// parseList reads the kernel's list format, "0-3,8,10-11", and its strided
// form "0-30:2/4" (bitmap_parselist). An empty list is a valid, empty set.
func parseList(s string) (cpuSet, error) {
	var set cpuSet
	for part := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		r, stride, strided := strings.Cut(part, ":")
		used, group := 1, 1
		if strided {
			u, g, ok := strings.Cut(stride, "/")
			var err1, err2 error
			used, err1 = strconv.Atoi(u)
			group, err2 = strconv.Atoi(g)
			if !ok || err1 != nil || err2 != nil || used < 1 || group < used {
				return nil, fmt.Errorf("cpu list %q: bad stride", clip(s))
			}
		}
		lo, hi, isRange := strings.Cut(r, "-")
		if !isRange {
			hi = lo
		}
		first, err1 := strconv.Atoi(lo)
		last, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || first < 0 || last < first || last >= maxCPU {
			return nil, fmt.Errorf("cpu list %q: bad range %q", clip(s), clip(part))
		}
		for i := first; i <= last; i++ {
			if (i-first)%group < used {
				set = append(set, i)
			}
		}
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// parseMask reads the kernel's mask format: comma-separated groups of 32 bits
// in hexadecimal, the highest first, "00000000,000000ff".
func parseMask(s string) (cpuSet, error) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "0x")
	groups := strings.Split(s, ",")
	if s == "" || len(groups) > maxCPU/32 {
		return nil, fmt.Errorf("cpu mask %q: bad length", clip(s))
	}
	if len(groups) == 1 && len(s) > 8 { // some kernels write one long number
		groups = groups[:0]
		for len(s) > 8 {
			groups = append([]string{s[len(s)-8:]}, groups...)
			s = s[:len(s)-8]
			if len(groups) > maxCPU/32 {
				return nil, fmt.Errorf("cpu mask: too long")
			}
		}
		groups = append([]string{s}, groups...)
	}
	var set cpuSet
	for i, g := range slices.Backward(groups) {
		bits, err := strconv.ParseUint(g, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("cpu mask: bad group %q", clip(g))
		}
		base := (len(groups) - 1 - i) * 32
		for b := range 32 {
			if bits&(1<<b) != 0 {
				set = append(set, base+b)
			}
		}
	}
	slices.Sort(set)
	return set, nil
}

// String is the kernel's list format.
func (s cpuSet) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(s[j]))
		}
		i = j + 1
	}
	return b.String()
}

func (s cpuSet) has(cpu int) bool {
	_, ok := slices.BinarySearch(s, cpu)
	return ok
}

// and is the intersection.
func (s cpuSet) and(t cpuSet) cpuSet {
	var out cpuSet
	for _, c := range s {
		if t.has(c) {
			out = append(out, c)
		}
	}
	return out
}

// clip keeps a hostile string out of messages.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
