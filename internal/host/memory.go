package host

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// memory is in bytes; 0 unknown.
type memory struct {
	total, available int64
	limit            *int64 // least cgroup limit up the tree, nil for none
	limitFree        int64  // what the tightest group still has; meaningful with a limit
}

func readMemory(t tree) memory {
	var m memory
	fs, err := procfs.NewFS(t.path("proc"))
	if err != nil {
		return m
	}
	info, err := fs.Meminfo()
	if err != nil {
		return m
	}
	if info.MemTotalBytes != nil {
		m.total = clampInt64(*info.MemTotalBytes)
	}
	if info.MemAvailableBytes != nil {
		m.available = clampInt64(*info.MemAvailableBytes)
	}
	c, ok := findCgroup(t, "memory")
	if !ok {
		return m
	}
	maxName, useName := "memory.max", "memory.current"
	if c.version == 1 {
		maxName, useName = "memory.limit_in_bytes", "memory.usage_in_bytes"
	}
	for _, dir := range c.dirs {
		limit, ok := t.int64(path.Join(dir, maxName)) // "max" is no number
		// v1 writes its largest page count for "none".
		if !ok || limit <= 0 || limit >= math.MaxInt64>>1 || m.total > 0 && limit >= m.total {
			continue
		}
		used, _ := t.int64(path.Join(dir, useName))
		free := max(limit-used, 0)
		if m.limit == nil || free < m.limitFree {
			m.limitFree = free
		}
		if m.limit == nil || limit < *m.limit {
			m.limit = ptr(limit)
		}
	}
	return m
}

func clampInt64(n uint64) int64 {
	if n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// FreeMemory is how many bytes this process may still take without pushing others out: what the
// kernel calls available, within the cgroup's limit. 0 is unknown.
func FreeMemory() int64 {
	m := readMemory(tree{"/"})
	if m.limit != nil && m.limitFree < m.available {
		return m.limitFree
	}
	return m.available
}

// readTHP reads "always [madvise] never".
func readTHP(t tree) string {
	_, rest, ok := strings.Cut(t.text("sys/kernel/mm/transparent_hugepage/enabled"), "[")
	if !ok {
		return ""
	}
	choice, _, ok := strings.Cut(rest, "]")
	if !ok || len(choice) > 20 {
		return ""
	}
	return choice
}

// readParanoid reads kernel.perf_event_paranoid; nil where the kernel has no perf events.
func readParanoid(t tree) *int {
	n, err := strconv.Atoi(t.text("proc/sys/kernel/perf_event_paranoid"))
	if err != nil {
		return nil
	}
	return &n
}
