package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseList(t *testing.T) {
	for _, test := range []struct {
		in, want string
		bad      bool
	}{
		{"", "", false},
		{"0\n", "0", false},
		{"0-3,8,10-11", "0-3,8,10-11", false},
		{" 3, 1-2,2 ", "1-3", false},
		{"0-7:2/4", "0-1,4-5", false},
		{"0-4294967295", "", true},
		{"3-1", "", true},
		{"a", "", true},
		{"-1", "", true},
		{"0-3:0/0", "", true},
	} {
		got, err := parseList(test.in)
		if (err != nil) != test.bad || got.String() != test.want {
			t.Errorf("parseList(%q) = %q, %v; want %q", test.in, got, err, test.want)
		}
	}
}

func TestParseMask(t *testing.T) {
	for _, test := range []struct {
		in, want string
		bad      bool
	}{
		{"f", "0-3", false},
		{"00000000,000000ff\n", "0-7", false},
		{"80000000,00000001", "0,63", false},
		{"0x5", "0,2", false},
		{"ffffffffffffffff", "0-63", false},
		{"", "", true},
		{"xyz", "", true},
		{strings.Repeat("f,", 5000), "", true},
	} {
		got, err := parseMask(test.in)
		if (err != nil) != test.bad || got.String() != test.want {
			t.Errorf("parseMask(%q) = %q, %v; want %q", clip(test.in), got, err, test.want)
		}
	}
}

// Both formats of a set read back as the set.
func TestSetFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := cpuSet(rapid.SliceOfDistinct(rapid.IntRange(0, 300), rapid.ID).Draw(t, "set"))
		slices.Sort(set)
		if got, err := parseList(set.String()); err != nil || !slices.Equal(got, set) {
			t.Fatalf("list %q reads as %v, %v", set, got, err)
		}
		words := make([]uint32, 10)
		for _, c := range set {
			words[c/32] |= 1 << (c % 32)
		}
		var groups []string
		for _, w := range slices.Backward(words) {
			groups = append(groups, fmt.Sprintf("%08x", w))
		}
		if got, err := parseMask(strings.Join(groups, ",")); err != nil || !slices.Equal(got, set) {
			t.Fatalf("mask %v reads as %v, %v", groups, got, err)
		}
	})
}

func TestParseCPUMax(t *testing.T) {
	for _, test := range []struct {
		in   string
		cpus float64
		ok   bool
	}{
		{"max 100000", 0, false},
		{"max", 0, false},
		{"150000 100000", 1.5, true},
		{"50000", 0.5, true},
		{"25000 50000\n", 0.5, true},
		{"", 0, false},
		{"-1 100000", 0, false},
		{"100000 0", 0, false},
		{"nonsense 1", 0, false},
	} {
		if cpus, ok := parseCPUMax(test.in); cpus != test.cpus || ok != test.ok {
			t.Errorf("parseCPUMax(%q) = %v, %v", test.in, cpus, ok)
		}
	}
}

func TestDefaultProcs(t *testing.T) {
	q := func(c float64) *quota { return &quota{cpus: c} }
	for _, test := range []struct {
		cpus      int
		leaf      *quota
		go_, auto int
	}{
		{8, nil, 8, 8},
		{8, q(0.5), 2, 1},
		{8, q(1), 2, 1},
		{8, q(1.5), 2, 1},
		{8, q(2.5), 3, 2},
		{8, q(8), 8, 8},
		{8, q(20), 8, 20},
		{1, q(0.5), 1, 1},
		{2, q(1e300), 2, maxCPU},
	} {
		if g, a := goProcs(test.cpus, test.leaf), autoProcs(test.cpus, test.leaf); g != test.go_ || a != test.auto {
			t.Errorf("%d CPUs, quota %v: go %d, automaxprocs %d; want %d, %d", test.cpus, test.leaf, g, a, test.go_, test.auto)
		}
	}
}

func TestCgroupMount(t *testing.T) {
	const mounts = `22 1 0:5 / /proc rw - proc proc rw
short
30 22 0:26 /other /mnt/other rw shared:4 - cgroup2 none rw
31 22 0:26 / /sys/fs/cgroup\040dir rw,nosuid shared:4 master:1 - cgroup2 none rw
40 22 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
`
	for _, test := range []struct {
		version     int
		group, want string
	}{
		{2, "/a/b", "/sys/fs/cgroup dir"},
		{2, "/other/x", "/mnt/other"},
		{2, "/otherwise", "/sys/fs/cgroup dir"},
		{1, "/", "/sys/fs/cgroup/cpu"},
	} {
		if point, _, ok := cgroupMount(mounts, test.version, "cpu", test.group); !ok || point != test.want {
			t.Errorf("v%d %s: %q, %v; want %q", test.version, test.group, point, ok, test.want)
		}
	}
	if _, _, ok := cgroupMount(mounts, 1, "memory", "/"); ok {
		t.Error("found a controller that is not mounted")
	}
}

func TestVirtual(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   map[string]string
		cpu     cpuinfo
		virtual bool
		hyper   string
	}{
		{"x86 on itself", map[string]string{"sys/class/dmi/id/sys_vendor": "Dell Inc."}, cpuinfo{x86: true}, false, ""},
		{"a vendor of both, on metal", map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m5.metal"}, cpuinfo{x86: true}, false, ""},
		{"kvm", map[string]string{"sys/class/dmi/id/product_name": "KVM"}, cpuinfo{x86: true, flags: map[string]bool{"hypervisor": true}}, true, "kvm"},
		{"hyper-v", map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation", "sys/class/dmi/id/product_name": "Virtual Machine"}, cpuinfo{x86: true, flags: map[string]bool{"hypervisor": true}}, true, "hyper-v"},
		{"xen", map[string]string{"sys/hypervisor/type": "xen"}, cpuinfo{x86: true}, true, "xen"},
		{"xen's own domain", map[string]string{"sys/hypervisor/type": "xen", "proc/xen/capabilities": "control_d"}, cpuinfo{x86: true}, false, ""},
		{"arm guest", map[string]string{"sys/class/dmi/id/product_name": "QEMU Virtual Machine"}, cpuinfo{arm: true}, true, "qemu"},
		{"arm board", map[string]string{"proc/device-tree/compatible": "raspberrypi,4"}, cpuinfo{arm: true}, false, ""},
	} {
		if v, h := readVirtual(makeTree(t, test.files), test.cpu); v != test.virtual || h != test.hyper {
			t.Errorf("%s: %v %q, want %v %q", test.name, v, h, test.virtual, test.hyper)
		}
	}
}

func FuzzCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nphysical id\t: 0\ncore id\t: 0\nflags\t: lm hypervisor\n")
	f.Add("processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n")
	f.Fuzz(func(t *testing.T, text string) {
		info := parseCPUInfo(text)
		if len(info.processors) > maxCPU {
			t.Fatal(len(info.processors))
		}
	})
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/a/b\n4:cpu,cpuacct:/x\n", "31 22 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n", "150000 100000")
	f.Add("0::/../..\n", `31 22 0:26 /a /m\04 rw - cgroup cg rw,cpu`, "max")
	f.Fuzz(func(t *testing.T, groups, mounts, limit string) {
		v1, v2, _, _ := memberOf(groups, "cpu")
		for version, group := range map[int]string{1: v1, 2: v2} {
			if point, root, ok := cgroupMount(mounts, version, "cpu", group); ok {
				walkUp(tree{"/nonexistent"}, point, root, group)
			}
		}
		if cpus, ok := parseCPUMax(limit); ok && !(cpus > 0) {
			t.Fatalf("a limit of %v CPUs", cpus)
		}
	})
}

func FuzzSets(f *testing.F) {
	f.Add("0-3,8:1/2")
	f.Add("ffffffff,00000001")
	f.Fuzz(func(t *testing.T, s string) {
		for _, parse := range []func(string) (cpuSet, error){parseList, parseMask} {
			set, err := parse(s)
			if err == nil && (!slices.IsSorted(set) || len(set) > 0 && set[len(set)-1] >= maxCPU) {
				t.Fatalf("%q reads as %v", s, set)
			}
		}
	})
}
