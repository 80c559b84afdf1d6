package host

import (
	"fmt"
	"slices"
	"strings"
)

// cpufreqText reads a CPU's file of the cpufreq driver. The per-CPU directory is a link to a
// policy, which a copied tree may lack; then the policy that lists the CPU is used.
func cpufreqText(t tree, cpu int, name string) string {
	if s := t.text(cpuFile(cpu, "cpufreq/"+name)); s != "" {
		return s
	}
	if s := t.text(fmt.Sprintf("%s/cpufreq/policy%d/%s", cpuDir, cpu, name)); s != "" {
		return s
	}
	for _, p := range t.numbered(cpuDir+"/cpufreq", "policy") {
		dir := fmt.Sprintf("%s/cpufreq/policy%d/", cpuDir, p)
		related := strings.Fields(t.text(dir + "affected_cpus"))
		if slices.Contains(related, fmt.Sprint(cpu)) {
			return t.text(dir + name)
		}
	}
	return ""
}

func cpufreqInt(t tree, cpu int, name string) (int64, bool) {
	var n int64
	if _, err := fmt.Sscan(cpufreqText(t, cpu, name), &n); err != nil || n <= 0 {
		return 0, false
	}
	return n, true
}

// power is how the usable CPUs' frequencies are governed. Frequencies are kHz, 0 unknown.
type power struct {
	governor           string // several are joined by "+"
	hwMin, hwMax       int64  // what the hardware offers
	limitMin, limitMax int64  // what the governor may choose from
	turbo              *bool
}

func readPower(t tree, usable cpuSet) power {
	var p power
	var governors []string
	lowest := func(have, n int64) int64 {
		if have == 0 {
			return n
		}
		return min(have, n)
	}
	for _, cpu := range usable {
		if g := cpufreqText(t, cpu, "scaling_governor"); g != "" && !slices.Contains(governors, g) {
			governors = append(governors, g)
		}
		if n, ok := cpufreqInt(t, cpu, "cpuinfo_min_freq"); ok {
			p.hwMin = lowest(p.hwMin, n)
		}
		if n, ok := cpufreqInt(t, cpu, "cpuinfo_max_freq"); ok {
			p.hwMax = max(p.hwMax, n)
		}
		if n, ok := cpufreqInt(t, cpu, "scaling_min_freq"); ok {
			p.limitMin = lowest(p.limitMin, n)
		}
		if n, ok := cpufreqInt(t, cpu, "scaling_max_freq"); ok {
			p.limitMax = max(p.limitMax, n)
		}
	}
	slices.Sort(governors)
	p.governor = strings.Join(governors, "+")
	p.turbo = readTurbo(t, usable)
	return p
}

// readTurbo: Intel's driver says when turbo is off, the generic one when boost is on. nil is unknown.
func readTurbo(t tree, usable cpuSet) *bool {
	switch t.text(cpuDir + "/intel_pstate/no_turbo") {
	case "0":
		return ptr(true)
	case "1":
		return ptr(false)
	}
	boost := t.text(cpuDir + "/cpufreq/boost")
	if boost == "" && len(usable) > 0 { // amd-pstate since 6.11: a file of each policy
		boost = cpufreqText(t, usable[0], "boost")
	}
	switch boost {
	case "0":
		return ptr(false)
	case "1":
		return ptr(true)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
