package host

import (
	"strconv"
	"strings"
)

// processor is one block of /proc/cpuinfo. procfs's parser is chosen at
// compile time by architecture, so it cannot read another machine's tree; hence this one.
type processor struct {
	number   int
	package_ string // "physical id", x86
	core     string // "core id", x86
	part     string // implementer and part, arm64: differs between core classes
}

// cpuinfo is what is used of /proc/cpuinfo.
type cpuinfo struct {
	processors []processor
	model      string
	flags      map[string]bool // of the first processor; "Features" on arm64
	arm        bool
	x86        bool
	mhz        float64
}

// parseCPUInfo reads /proc/cpuinfo of x86 and arm64; of others what has the same names.
func parseCPUInfo(text string) cpuinfo {
	info := cpuinfo{flags: map[string]bool{}}
	cur := -1
	implementer := ""
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "processor" {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n >= maxCPU || len(info.processors) >= maxCPU {
				cur = -1
				continue
			}
			info.processors = append(info.processors, processor{number: n})
			cur = len(info.processors) - 1
			continue
		}
		switch key {
		case "model name", "cpu model", "Model Name", "Processor", "cpu": // x86 and arm; mips; loongarch; old arm; power
			if info.model == "" && value != "" && strings.ToLower(value) != "unknown" {
				info.model = value
			}
		case "flags", "Features":
			if key == "flags" {
				info.x86 = true
			}
			if len(info.flags) == 0 {
				for f := range strings.FieldsSeq(value) {
					info.flags[f] = true
				}
			}
		case "vendor_id":
			if value == "GenuineIntel" || value == "AuthenticAMD" {
				info.x86 = true
			}
		case "cpu MHz":
			if info.mhz == 0 {
				info.mhz, _ = strconv.ParseFloat(value, 64)
			}
		case "CPU implementer":
			info.arm = true
			implementer = value
		}
		if cur < 0 {
			continue
		}
		p := &info.processors[cur]
		switch key {
		case "physical id":
			p.package_ = value
		case "core id":
			p.core = value
		case "CPU part":
			p.part = implementer + "/" + value
		}
	}
	if info.model == "" && info.arm && len(info.processors) > 0 {
		info.model = armModel(info.processors)
	}
	return info
}

// armModel names the parts of an arm64 machine, which says only numbers: MIDR_EL1
// implementer and part, from Arm's and the vendors' technical reference manuals.
func armModel(ps []processor) string {
	names := map[string]string{
		"0x41/0xd03": "Cortex-A53", "0x41/0xd05": "Cortex-A55", "0x41/0xd07": "Cortex-A57",
		"0x41/0xd08": "Cortex-A72", "0x41/0xd09": "Cortex-A73", "0x41/0xd0a": "Cortex-A75",
		"0x41/0xd0b": "Cortex-A76", "0x41/0xd0c": "Neoverse N1", "0x41/0xd40": "Neoverse V1",
		"0x41/0xd41": "Cortex-A78", "0x41/0xd44": "Cortex-X1", "0x41/0xd46": "Cortex-A510",
		"0x41/0xd47": "Cortex-A710", "0x41/0xd48": "Cortex-X2", "0x41/0xd49": "Neoverse N2",
		"0x41/0xd4f": "Neoverse V2", "0xc0/0xac3": "Ampere-1", "0xc0/0xac4": "Ampere-1a",
		"0x48/0xd01": "Kunpeng 920", "0x43/0x0af": "ThunderX2", "0x46/0x001": "A64FX",
	}
	var out []string
	seen := map[string]bool{}
	for _, p := range ps {
		if p.part == "" || seen[p.part] || len(out) >= 4 {
			continue
		}
		seen[p.part] = true
		name, ok := names[p.part]
		if !ok {
			name = "arm64 part " + clip(p.part)
		}
		out = append(out, name)
	}
	return strings.Join(out, " + ")
}
