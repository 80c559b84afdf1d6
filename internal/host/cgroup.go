package host

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cgroupDir is where one controller keeps this process: its own directory first, then
// each parent up to the mount point, as far as this mount namespace shows them.
type cgroupDir struct {
	version int // 1 or 2
	dirs    []string
}

// findCgroup locates the process's directory for a v1 controller ("cpu",
// "cpuset", "cpuacct", "memory"), or in the unified hierarchy where no v1 hierarchy has it:
// a controller is never in both (cgroups(7)).
func findCgroup(t tree, controller string) (cgroupDir, bool) {
	groups, _ := t.read("proc/self/cgroup")
	mounts, _ := t.read("proc/self/mountinfo")
	v1, v2, hasV1, hasV2 := memberOf(groups, controller)
	if hasV1 {
		if point, root, ok := cgroupMount(mounts, 1, controller, v1); ok {
			return cgroupDir{1, walkUp(t, point, root, v1)}, true
		}
		for _, name := range []string{controller, "cpu,cpuacct", "cpuacct,cpu"} {
			if point := "sys/fs/cgroup/" + name; t.exists(point) {
				return cgroupDir{1, walkUp(t, point, "/", v1)}, true
			}
		}
	}
	if hasV2 && !hasV1 {
		if point, root, ok := cgroupMount(mounts, 2, controller, v2); ok {
			return cgroupDir{2, walkUp(t, point, root, v2)}, true
		}
		if t.exists("sys/fs/cgroup/cgroup.controllers") || t.exists("sys/fs/cgroup/cpu.max") {
			return cgroupDir{2, walkUp(t, "sys/fs/cgroup", "/", v2)}, true
		}
	}
	if groups == "" { // a tree without /proc/self/cgroup: look where the hierarchies usually are
		switch {
		case t.exists("sys/fs/cgroup/cpu.max"):
			return cgroupDir{2, []string{"sys/fs/cgroup"}}, true
		case t.exists("sys/fs/cgroup/" + controller):
			return cgroupDir{1, []string{"sys/fs/cgroup/" + controller}}, true
		}
	}
	return cgroupDir{}, false
}

// memberOf finds the process's path in the v1 hierarchy of a controller and in the
// unified one. Lines are "hierarchy:controllers:path".
func memberOf(groups, controller string) (v1, v2 string, hasV1, hasV2 bool) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			v2, hasV2 = parts[2], true
		case slices.Contains(strings.Split(parts[1], ","), controller):
			v1, hasV1 = parts[2], true
		}
	}
	return v1, v2, hasV1, hasV2
}

// cgroupMount finds the mount that shows the group: its mount point, and the group at
// the mount's root. The fields are those of proc_pid_mountinfo(5).
func cgroupMount(mounts string, version int, controller, group string) (point, root string, ok bool) {
	for line := range strings.Lines(mounts) {
		left, right, found := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		if !found {
			continue
		}
		l, r := strings.Fields(left), strings.Fields(right)
		if len(l) < 5 || len(r) < 1 {
			continue
		}
		switch {
		case version == 2 && r[0] == "cgroup2":
		case version == 1 && r[0] == "cgroup" && len(r) >= 3 && slices.Contains(strings.Split(r[2], ","), controller):
		default:
			continue
		}
		mountRoot, mountPoint := unescapeMount(l[3]), unescapeMount(l[4])
		if under(group, mountRoot) {
			return mountPoint, mountRoot, true
		}
		if !ok { // the group lies outside of what is mounted (a cgroup namespace's "/.."): the mount's root is all we see
			point, root, ok = mountPoint, group, true
		}
	}
	return point, root, ok
}

// under reports whether the group is the root or below it.
func under(group, root string) bool {
	if root == "/" {
		return !strings.HasPrefix(group, "/..")
	}
	return group == root || strings.HasPrefix(group, root+"/")
}

// walkUp lists the group's directory below the mount point, then its parents. A
// group that the mount does not show (a container that sees the host's path) falls back to the nearest parent that exists.
func walkUp(t tree, point, root, group string) []string {
	rel := path.Clean("/" + strings.TrimPrefix(group, root))
	if root == "/" {
		rel = path.Clean(group)
	}
	var dirs []string
	for {
		if dir := path.Join(point, rel); t.exists(dir) {
			dirs = append(dirs, dir)
		}
		if rel == "/" || rel == "." {
			break
		}
		rel = path.Dir(rel)
	}
	if len(dirs) == 0 {
		dirs = []string{point}
	}
	return dirs
}

// unescapeMount undoes the kernel's octal escapes of space, tab, newline and backslash.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quota is a CPU bandwidth limit in CPUs, with the directory that sets it.
type quota struct {
	cpus float64
	dir  string
}

// readQuota finds the limits of the CPU controller. leaf is that of the process's own group,
// the only one that Go's runtime and automaxprocs look at; effective is the least
// of all groups up the tree, the one that the kernel enforces. nil is no limit.
func readQuota(t tree) (leaf, effective *quota, version int) {
	c, ok := findCgroup(t, "cpu")
	if !ok {
		return nil, nil, 0
	}
	for i, dir := range c.dirs {
		cpus, limited := quotaIn(t, c.version, dir)
		if !limited {
			continue
		}
		q := &quota{cpus, dir}
		if i == 0 {
			leaf = q
		}
		if effective == nil || q.cpus < effective.cpus {
			effective = q
		}
	}
	return leaf, effective, c.version
}

// quotaIn reads one directory's limit: cpu.max in v2, cfs_quota_us over cfs_period_us in v1.
func quotaIn(t tree, version int, dir string) (float64, bool) {
	if version == 2 {
		return parseCPUMax(t.text(path.Join(dir, "cpu.max")))
	}
	q, ok := t.int64(path.Join(dir, "cpu.cfs_quota_us"))
	if !ok || q <= 0 {
		return 0, false
	}
	p, ok := t.int64(path.Join(dir, "cpu.cfs_period_us"))
	if !ok {
		p = defaultPeriodUS
	}
	if p <= 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}

// defaultPeriodUS is the kernel's default period (sched-bwc.rst).
const defaultPeriodUS = 100_000

// parseCPUMax reads "max 100000", "150000 100000" or "150000".
func parseCPUMax(s string) (float64, bool) {
	f := strings.Fields(s)
	if len(f) == 0 || f[0] == "max" {
		return 0, false
	}
	q, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || q <= 0 {
		return 0, false
	}
	p := int64(defaultPeriodUS)
	if len(f) > 1 {
		if p, err = strconv.ParseInt(f[1], 10, 64); err != nil || p <= 0 {
			return 0, false
		}
	}
	return float64(q) / float64(p), true
}

// goProcs is what Go 1.25 and later choose as GOMAXPROCS: the usable CPUs, or the own group's
// quota rounded up and at least 2, whichever is less (runtime/cgroup_linux.go).
func goProcs(cpus int, leaf *quota) int {
	if leaf == nil {
		return cpus
	}
	limit := math.Max(math.Ceil(leaf.cpus), 2)
	if limit < float64(cpus) {
		return int(limit)
	}
	return cpus
}

// autoProcs is what go.uber.org/automaxprocs v1.6 sets by default: the quota rounded
// down and at least 1, also above the number of CPUs; Go's own choice without a quota.
func autoProcs(cpus int, leaf *quota) int {
	if leaf == nil {
		return cpus
	}
	return int(math.Min(math.Max(math.Floor(leaf.cpus), 1), maxCPU))
}
