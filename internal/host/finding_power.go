package host

import (
	"fmt"
	"strings"
)

func aboutFrequency(info Info) []Finding {
	var out []Finding
	switch {
	case info.Governor == "" && info.MaxKHz == 0:
		out = append(out, Finding{
			"frequency", Note, "frequency and governor are unknown",
			"a drop of the clock at high T looks like a slower program; the ALU kernel's ceiling shows it", "",
		})
	case info.Governor == "performance":
		out = append(out, Finding{"governor", OK, "governor performance" + rangeText(info), "the clock does not wait for load", ""})
	case info.Governor != "":
		out = append(out, Finding{
			"governor", Note, "governor " + info.Governor + rangeText(info),
			"the clock follows the load: short windows start slow, and T=1 may run at another clock than T=max",
			"sudo cpupower frequency-set -g performance",
		})
	}
	if info.LimitMaxKHz > 0 && info.MaxKHz > 0 && float64(info.LimitMaxKHz) < 0.99*float64(info.MaxKHz) {
		out = append(out, Finding{
			"frequency-limit", Note, fmt.Sprintf("the clock is limited to %s of %s", ghz(info.LimitMaxKHz), ghz(info.MaxKHz)),
			"good for equal conditions at every T, but not the machine's speed",
			"to lift it: sudo cpupower frequency-set -u " + ghz(info.MaxKHz),
		})
	}
	if info.Turbo != nil {
		if !*info.Turbo {
			return append(out, Finding{"turbo", OK, "turbo is off", "one busy core runs at the same clock as all: efficiency is comparable over T", ""})
		}
		out = append(out, Finding{
			"turbo", Note, "turbo is on",
			"few busy cores run at a higher clock than many: part of the loss at high T is the clock. The ceiling takes it out", turboFix(info),
		})
	}
	return out
}

func turboFix(info Info) string {
	if strings.Contains(strings.ToLower(info.CPU), "intel") {
		return "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
}

func rangeText(info Info) string {
	if info.MinKHz == 0 || info.MaxKHz == 0 {
		return ""
	}
	return fmt.Sprintf(", %s to %s", ghz(info.MinKHz), ghz(info.MaxKHz))
}

func ghz(khz int64) string { return fmt.Sprintf("%.2fGHz", float64(khz)/1e6) }

func aboutVirtual(info Info) []Finding {
	if !info.Virtual {
		if info.OS == "linux" && info.CPUs > 0 {
			return []Finding{{"virtual", OK, "no hypervisor is seen", "the CPUs are the machine's own", ""}}
		}
		return nil
	}
	name := ""
	if info.Hypervisor != "" {
		name = " (" + info.Hypervisor + ")"
	}
	return []Finding{{
		"virtual", Note, "a virtual machine" + name,
		"the host moves and stops CPUs: steal and the core-to-core latency are checked around every run, and runs differ more than on bare metal",
		"dedicated or pinned vCPUs, more blocks",
	}}
}

func aboutMemory(info Info) []Finding {
	var out []Finding
	switch info.THP {
	case "always", "madvise":
		out = append(out, Finding{
			"thp", OK, "transparent huge pages: " + info.THP,
			"page faults are few; heaps of the size of some MB may still take either kind of page from run to run", "",
		})
	case "never":
		out = append(out, Finding{
			"thp", Note, "transparent huge pages: never",
			"big heaps take 512 times the page faults and more TLB misses: it costs every T, and more where faults contend",
			"echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
		})
	}
	if info.MemoryBytes == 0 {
		return out
	}
	f := Finding{"memory", OK, bytesText(info.MemoryBytes) + " of memory", "enough for the workloads and the memory kernels", ""}
	have := info.MemoryBytes
	if l := info.MemoryLimitBytes; l != nil {
		f.Fact += ", limited to " + bytesText(*l)
		have = min(have, *l)
	}
	if have < lowMemory {
		f.Level = Note
		f.Meaning = "little: big heaps are reclaimed or killed, and the memory kernels run smaller than the caches that they should exceed"
	}
	return append(out, f)
}

// lowMemory is under what the memory kernels and a process for each of a few workers take together.
const lowMemory = 1 << 30
