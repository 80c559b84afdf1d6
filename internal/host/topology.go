package host

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const cpuDir = "sys/devices/system/cpu"

func cpuFile(cpu int, name string) string { return fmt.Sprintf("%s/cpu%d/%s", cpuDir, cpu, name) }

// onlineCPUs are the machine's online logical CPUs: what sysfs says, else /proc/cpuinfo, else /proc/stat.
func onlineCPUs(t tree, info cpuinfo) cpuSet {
	if set, ok := t.listSet(cpuDir + "/online"); ok {
		return set
	}
	var set cpuSet
	for _, n := range t.numbered(cpuDir, "cpu") {
		// cpu0 often has no "online" file, as it cannot be taken offline.
		if t.text(cpuFile(n, "online")) != "0" {
			set = append(set, n)
		}
	}
	if len(set) > 0 {
		return set
	}
	for _, p := range info.processors {
		set = append(set, p.number)
	}
	if len(set) == 0 {
		stat, _ := t.read("proc/stat")
		for line := range strings.Lines(stat) {
			name, _, _ := strings.Cut(line, " ")
			if digits, ok := strings.CutPrefix(name, "cpu"); ok && digits != "" {
				if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < maxCPU {
					set = append(set, n)
				}
			}
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// allowedCPUs are those that the tree's process may use, by /proc/self/status and its cpuset;
// false where neither says anything.
func allowedCPUs(t tree) (cpuSet, bool) {
	var allowed cpuSet
	known := false
	narrow := func(set cpuSet, err error) {
		if err != nil || len(set) == 0 {
			return
		}
		if known {
			set = allowed.and(set)
			if len(set) == 0 {
				return // they contradict each other: the first is the process's own
			}
		}
		allowed, known = set, true
	}
	status, _ := t.read("proc/self/status")
	for line := range strings.Lines(status) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			narrow(parseList(list))
		} else if mask, ok := strings.CutPrefix(line, "Cpus_allowed:"); ok {
			narrow(parseMask(mask))
		}
	}
	if c, ok := findCgroup(t, "cpuset"); ok {
		for _, dir := range c.dirs {
			if set, ok := t.listSet(dir+"/cpuset.cpus.effective", dir+"/cpuset.effective_cpus", dir+"/cpuset.cpus"); ok {
				narrow(set, nil)
			}
		}
	}
	return allowed, known
}

// topology is how the usable CPUs hang together. Zero values are unknown.
type topology struct {
	cores     []cpuSet // usable CPUs of each physical core, by first CPU
	smt       int      // hardware threads of a core, online ones, usable or not
	sockets   int
	llcs      []cpuSet // usable CPUs of each last-level cache
	llcBytes  int64
	nodes     []cpuSet // usable CPUs of each NUMA node
	classes   []cpuSet // usable CPUs of each core class, fastest first; nil unless hybrid
	classFrom string   // which file told the classes apart
}

func readTopology(t tree, info cpuinfo, online, usable cpuSet) topology {
	var top topology
	readCores(t, info, online, usable, &top)
	top.sockets = countSockets(t, info, usable)
	readCaches(t, online, usable, &top)
	for _, n := range t.numbered("sys/devices/system/node", "node") {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n)
		set, ok := t.set(dir+"cpulist", dir+"cpumap")
		if ok && len(set.and(usable)) > 0 { // nodes of memory alone are no place to run
			top.nodes = append(top.nodes, set.and(usable))
		}
	}
	readClasses(t, info, usable, &top)
	return top
}

// readCores groups CPUs by the siblings that the kernel lists, else by package and core number.
func readCores(t tree, info cpuinfo, online, usable cpuSet, top *topology) {
	byKey := map[string]cpuSet{}
	for _, cpu := range online {
		key, ok := coreKey(t, info, cpu)
		if !ok {
			return // a CPU of which nothing is known makes any count a guess
		}
		byKey[key] = append(byKey[key], cpu)
	}
	for _, set := range byKey {
		top.smt = max(top.smt, len(set))
		if use := set.and(usable); len(use) > 0 {
			top.cores = append(top.cores, use)
		}
	}
	sortSets(top.cores)
}

func coreKey(t tree, info cpuinfo, cpu int) (string, bool) {
	dir := cpuFile(cpu, "topology/")
	if set, ok := t.set(dir+"core_cpus_list", dir+"thread_siblings_list", dir+"core_cpus", dir+"thread_siblings"); ok && set.has(cpu) {
		return set.String(), true
	}
	if core := t.text(dir + "core_id"); core != "" && core != "-1" {
		return fmt.Sprintf("p%s/d%s/c%s", t.text(dir+"physical_package_id"), t.text(dir+"die_id"), core), true
	}
	for _, p := range info.processors {
		if p.number == cpu && p.core != "" {
			return fmt.Sprintf("p%s/c%s", p.package_, p.core), true
		}
	}
	return "", false
}

// countSockets counts packages of the usable CPUs; 0 where a CPU does not say (-1 on many arm64 machines).
func countSockets(t tree, info cpuinfo, usable cpuSet) int {
	seen := map[string]bool{}
	for _, cpu := range usable {
		id := t.text(cpuFile(cpu, "topology/physical_package_id"))
		if id == "" {
			for _, p := range info.processors {
				if p.number == cpu {
					id = p.package_
				}
			}
		}
		if id == "" || id == "-1" {
			return 0
		}
		seen[id] = true
	}
	return len(seen)
}

// readCaches finds each usable CPU's highest-level data cache and who shares it.
func readCaches(t tree, online, usable cpuSet, top *topology) {
	byKey := map[string]cpuSet{}
	for _, cpu := range usable {
		bestLevel, key, bytes := 0, "", int64(0)
		for _, index := range t.numbered(cpuFile(cpu, "cache"), "index") {
			dir := cpuFile(cpu, fmt.Sprintf("cache/index%d/", index))
			level, _ := t.int64(dir + "level")
			if int(level) <= bestLevel || level > 8 || strings.EqualFold(t.text(dir+"type"), "Instruction") {
				continue
			}
			shared, ok := t.set(dir+"shared_cpu_list", dir+"shared_cpu_map")
			if !ok {
				continue
			}
			bestLevel, key, bytes = int(level), fmt.Sprintf("L%d %s", level, shared.and(online)), parseSize(t.text(dir+"size"))
		}
		if bestLevel == 0 {
			top.llcBytes = 0
			return // unknown for one CPU: no count
		}
		byKey[key] = append(byKey[key], cpu)
		top.llcBytes = max(top.llcBytes, bytes)
	}
	top.llcs = slices.Collect(maps.Values(byKey))
	sortSets(top.llcs)
}

// parseSize reads "512K", "32M" or plain bytes; 0 where it is none of them.
func parseSize(s string) int64 {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(s, "KMG"), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n << shift
}

// Two classes of cores are told apart only where they differ by more than this: favoured
// cores of one kind (Intel's Turbo Boost Max, AMD's preferred cores) differ by up to 15% in top frequency.
const (
	classByCapacity  = 0.90 // of the faster's cpu_capacity
	classByFrequency = 0.80 // of the faster's highest frequency
)

// readClasses tells the core classes of a hybrid CPU: by Intel's PMU lists, else by the
// kernel's cpu_capacity, else by arm64's part numbers, else by the highest frequency.
func readClasses(t tree, info cpuinfo, usable cpuSet, top *topology) {
	speed := func(set cpuSet) float64 {
		var s float64
		for _, cpu := range set {
			s = max(s, capacityOf(t, cpu))
		}
		if s == 0 {
			for _, cpu := range set {
				s = max(s, maxFreqOf(t, cpu))
			}
		}
		return s
	}
	keep := func(sets []cpuSet, from string, all bool) bool {
		covered := 0
		for _, s := range sets {
			covered += len(s)
		}
		if len(sets) < 2 || all && covered != len(usable) {
			return false
		}
		top.classes, top.classFrom = sets, from
		return true
	}

	var pmus []cpuSet
	for _, name := range t.list("sys/devices") {
		if strings.HasPrefix(name, "cpu_") { // cpu_core, cpu_atom, cpu_lowpower
			if set, ok := t.listSet("sys/devices/" + name + "/cpus"); ok && len(set.and(usable)) > 0 {
				pmus = append(pmus, set.and(usable))
			}
		}
	}
	// Equal or unknown speed: cpu_core sorts before cpu_atom only by this.
	slices.SortStableFunc(pmus, func(a, b cpuSet) int {
		return cmp.Or(cmp.Compare(speed(b), speed(a)), cmp.Compare(a[0], b[0]))
	})
	if keep(pmus, "sys/devices/cpu_*/cpus", true) {
		return
	}
	if keep(clusters(usable, classByCapacity, func(cpu int) float64 { return capacityOf(t, cpu) }), "cpu_capacity", true) {
		return
	}
	parts := map[string]cpuSet{}
	for _, p := range info.processors {
		if p.part != "" && usable.has(p.number) {
			parts[p.part] = append(parts[p.part], p.number)
		}
	}
	byPart := slices.Collect(maps.Values(parts))
	sortSets(byPart)
	slices.SortStableFunc(byPart, func(a, b cpuSet) int { return cmp.Compare(speed(b), speed(a)) })
	if keep(byPart, "CPU part", true) {
		return
	}
	keep(clusters(usable, classByFrequency, func(cpu int) float64 { return maxFreqOf(t, cpu) }), "cpuinfo_max_freq", true)
}

// clusters splits CPUs where their figure drops below the tolerated fraction of the
// class's fastest, fastest class first; nil where a figure is unknown.
func clusters(cpus cpuSet, tolerance float64, figure func(cpu int) float64) []cpuSet {
	sorted := slices.Clone(cpus)
	figures := map[int]float64{}
	for _, cpu := range cpus {
		f := figure(cpu)
		if f <= 0 {
			return nil
		}
		figures[cpu] = f
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(figures[b], figures[a]) })
	var out []cpuSet
	fastest := 0.0
	for _, cpu := range sorted {
		if len(out) == 0 || figures[cpu] < fastest*tolerance {
			out = append(out, nil)
			fastest = figures[cpu]
		}
		out[len(out)-1] = append(out[len(out)-1], cpu)
	}
	for _, set := range out {
		slices.Sort(set)
	}
	return out
}

func capacityOf(t tree, cpu int) float64 {
	n, _ := t.int64(cpuFile(cpu, "cpu_capacity"))
	return float64(n)
}

func maxFreqOf(t tree, cpu int) float64 {
	n, _ := cpufreqInt(t, cpu, "cpuinfo_max_freq")
	return float64(n)
}

func sortSets(sets []cpuSet) {
	slices.SortFunc(sets, func(a, b cpuSet) int { return cmp.Compare(a[0], b[0]) })
}
