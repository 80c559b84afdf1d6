package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// unpack writes a tree of testdata into a directory.
func unpack(t *testing.T, name string) string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func seq(lo, hi, step int) []int {
	var out []int
	for i := lo; i <= hi; i += step {
		out = append(out, i)
	}
	return out
}

func TestReadTrees(t *testing.T) {
	for _, test := range []struct {
		name     string
		want     Info
		places   []Place
		findings string // ids of those that are not ok, bad ones in capitals
	}{
		{
			"laptop",
			Info{
				OS: "linux", Arch: "amd64", Kernel: "6.8.0-45-generic", CPU: "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz",
				CPUs: 8, UsableCPUs: "0-7", OnlineCPUs: 8, PhysicalCores: 4, SMT: 2, Sockets: 1,
				NUMANodes: 1, NodeCPUs: []int{8}, LLCs: 1, LLCCPUs: []int{8}, LLCBytes: 8 << 20, CoreFirst: seq(0, 3, 1),
				CgroupVersion: 2, GoProcs: 8, AutoProcs: 8,
				Governor: "powersave", MinKHz: 400000, MaxKHz: 4200000, LimitMinKHz: 400000, LimitMaxKHz: 3000000, Turbo: ptr(true),
				THP: "madvise", PerfParanoid: ptr(4), MemoryBytes: 16318480 << 10,
			},
			[]Place{{4, "physical cores"}, {8, "CPUs"}},
			"cores governor frequency-limit turbo counters",
		},
		{
			"server",
			Info{
				OS: "linux", Arch: "amd64", Kernel: "5.4.0-200-generic", CPU: "AMD EPYC 7262 8-Core Processor",
				CPUs: 32, UsableCPUs: "0-31", OnlineCPUs: 32, PhysicalCores: 16, SMT: 2, Sockets: 2,
				NUMANodes: 2, NodeCPUs: []int{16, 16}, LLCs: 4, LLCCPUs: []int{8, 8, 8, 8}, LLCBytes: 16 << 20, CoreFirst: seq(0, 15, 1),
				CgroupVersion: 1, GoProcs: 32, AutoProcs: 32,
				Governor: "performance", MinKHz: 1500000, MaxKHz: 3200000, Turbo: ptr(false),
				THP: "always", PerfParanoid: ptr(1), MemoryBytes: 263859872 << 10,
			},
			[]Place{{8, "one last-level cache"}, {16, "physical cores"}, {32, "CPUs"}},
			"cores caches numa",
		},
		{
			"hybrid",
			Info{
				OS: "linux", Arch: "amd64", CPU: "12th Gen Intel(R) Core(TM) i7-12700",
				CPUs: 20, UsableCPUs: "0-19", OnlineCPUs: 20, PhysicalCores: 12, SMT: 2, Sockets: 1,
				NUMANodes: 1, NodeCPUs: []int{20}, LLCs: 1, LLCCPUs: []int{20}, LLCBytes: 25600 << 10,
				CoreClasses: []int{16, 4}, CoreClassCores: []int{8, 4}, CoreFirst: append(seq(0, 14, 2), 16, 17, 18, 19),
				CgroupVersion: 2, GoProcs: 20, AutoProcs: 20,
				Governor: "performance+powersave", MaxKHz: 4900000, MemoryBytes: 32618480 << 10,
			},
			[]Place{{8, "performance cores"}, {10, "half of the CPUs"}, {12, "physical cores"}, {20, "CPUs"}},
			"cores hybrid governor",
		},
		{
			"container-v2",
			Info{
				OS: "linux", Arch: "amd64", CPU: "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
				CPUs: 4, UsableCPUs: "0-3", OnlineCPUs: 8, PhysicalCores: 2, SMT: 2, Sockets: 1, CoreFirst: []int{0, 2},
				QuotaCPUs: ptr(1.5), QuotaFrom: "/sys/fs/cgroup/kubepods.slice/pod7", LeafQuotaCPUs: ptr(2.5), CgroupVersion: 2,
				GoProcs: 3, AutoProcs: 2, Virtual: true, Hypervisor: "amazon ec2",
				MemoryBytes: 32618480 << 10, MemoryLimitBytes: ptr(int64(536870912)),
			},
			[]Place{{2, "quota"}, {4, "CPUs"}},
			"affinity cores QUOTA gomaxprocs frequency virtual memory",
		},
		{
			"container-v1",
			Info{
				OS: "linux", Arch: "amd64", CPU: "Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz",
				CPUs: 4, UsableCPUs: "0-3", OnlineCPUs: 4, PhysicalCores: 4, SMT: 1, Sockets: 1, CoreFirst: seq(0, 3, 1),
				QuotaCPUs: ptr(0.5), QuotaFrom: "/sys/fs/cgroup/cpu,cpuacct", LeafQuotaCPUs: ptr(0.5), CgroupVersion: 1,
				GoProcs: 2, AutoProcs: 1, MemoryBytes: 8008480 << 10,
			},
			[]Place{{1, "quota"}, {2, "half of the CPUs"}, {4, "CPUs"}},
			"QUOTA gomaxprocs frequency",
		},
		{
			"arm64",
			Info{
				OS: "linux", Arch: "arm64", Kernel: "6.1.0-aarch64", CPU: "Neoverse N1",
				CPUs: 64, UsableCPUs: "0-63", OnlineCPUs: 64, PhysicalCores: 64, SMT: 1, Sockets: 1,
				NUMANodes: 1, NodeCPUs: []int{64}, LLCs: 64, LLCCPUs: repeat(1, 64), LLCBytes: 1 << 20, CoreFirst: seq(0, 63, 1),
				CgroupVersion: 2, GoProcs: 64, AutoProcs: 64,
				Governor: "performance", MinKHz: 1000000, MaxKHz: 3000000, PerfParanoid: ptr(2), MemoryBytes: 129618480 << 10,
			},
			[]Place{{32, "half of the CPUs"}, {64, "CPUs"}},
			"caches",
		},
		{
			"bare-vm",
			Info{
				OS: "linux", Arch: "amd64", CPU: "Intel Xeon Processor (Skylake)",
				CPUs: 2, UsableCPUs: "0-1", OnlineCPUs: 2, GoProcs: 2, AutoProcs: 2, Virtual: true,
			},
			[]Place{{1, "half of the CPUs"}, {2, "CPUs"}},
			"cores frequency virtual",
		},
		{
			"big-little",
			Info{
				OS: "linux", Arch: "arm64", CPU: "Cortex-A53 + Cortex-A73",
				CPUs: 6, UsableCPUs: "0-5", OnlineCPUs: 6, PhysicalCores: 6, SMT: 1, Sockets: 2, CoreFirst: seq(0, 5, 1),
				CoreClasses: []int{4, 2}, CoreClassCores: []int{4, 2}, GoProcs: 6, AutoProcs: 6, MaxKHz: 2208000,
			},
			[]Place{{3, "half of the CPUs"}, {4, "performance cores"}, {6, "CPUs"}},
			"hybrid",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, findings := Read(unpack(t, test.name))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.places, Places(got)); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			var ids []string
			for _, f := range findings {
				switch f.Level {
				case Note:
					ids = append(ids, f.ID)
				case Bad:
					ids = append(ids, strings.ToUpper(f.ID))
				}
				if f.Fact == "" || f.Meaning == "" {
					t.Errorf("%s says nothing: %+v", f.ID, f)
				}
			}
			if got := strings.Join(ids, " "); got != test.findings {
				t.Errorf("findings %q, want %q", got, test.findings)
			}
		})
	}
}

func repeat(v, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// A directory that is no machine is all unknown, and one that contradicts itself breaks nothing.
func TestReadNothing(t *testing.T) {
	info, findings := Read(t.TempDir())
	if diff := cmp.Diff(Info{}, info); diff != "" {
		t.Errorf("an empty tree (-want +got):\n%s", diff)
	}
	for _, f := range findings {
		if f.Level == Bad {
			t.Errorf("an empty tree has a bad finding: %+v", f)
		}
	}
	if p := Places(info); len(p) != 0 {
		t.Errorf("places of nothing: %v", p)
	}
}

func TestSystemTrees(t *testing.T) {
	for _, test := range []struct {
		name      string
		from      string
		busy      *int64
		steal     *int64
		throttled *int64
		times     *int64
	}{
		// The sum of 1000*(i+1) over 32 CPUs.
		{"server", BusyCpuacct, ptr(int64(528000)), nil, nil, nil},
		{"hybrid", BusyCgroup2, ptr(int64(5e9)), nil, nil, nil},
		// The root that it sees is no root: only /proc/stat counts all processes. IRQ time is busy, steal is not.
		{"container-v1", BusyStat, ptr(int64(2.04e9)), ptr(int64(40e6)), ptr(int64(123456789)), ptr(int64(7))},
		// Three levels of one hierarchy.
		{"container-v2", "", nil, nil, ptr(int64(3500e3)), ptr(int64(5))},
		{"bare-vm", "", nil, nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := NewSystemReader(unpack(t, test.name)).Read()
			if c.BusyFrom != test.from {
				t.Errorf("busy from %q, want %q", c.BusyFrom, test.from)
			}
			for _, v := range []struct {
				name      string
				got, want *int64
			}{{"busy", c.BusyNS, test.busy}, {"steal", c.StealNS, test.steal}, {"throttled", c.ThrottledNS, test.throttled}, {"times", c.NrThrottled, test.times}} {
				if diff := cmp.Diff(v.want, v.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v.name, diff)
				}
			}
		})
	}
}

func TestSub(t *testing.T) {
	a := SystemCounters{BusyNS: ptr(int64(10)), BusyFrom: BusyStat, StealNS: ptr(int64(5)), WaitNS: ptr(int64(1))}
	b := SystemCounters{BusyNS: ptr(int64(110)), BusyFrom: BusyStat, StealNS: ptr(int64(4)), WaitNS: ptr(int64(21)), NrThrottled: ptr(int64(1))}
	b.When = a.When.Add(60)
	d := b.Sub(a)
	want := SystemDelta{WallNS: 60, BusyNS: ptr(int64(100)), BusyFrom: BusyStat, WaitNS: ptr(int64(20)), RunnableAvg: ptr(2.0)}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.BusyFrom = BusyCpuacct
	if d := b.Sub(a); d.BusyNS != nil {
		t.Error("counts of two sources were subtracted")
	}
}

// makeTree writes files by name.
func makeTree(t *testing.T, files map[string]string) tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tree{dir}
}
