// Package host knows the machine: topology, quota, what the kernel counts, and
// the calibration kernels whose speed-up is the ceiling for any program.
package host

// Info is the machine as a measurement sees it. Unknown is zero or nil as each field says.
type Info struct {
	OS            string   `json:"os"`
	Arch          string   `json:"arch"`
	Kernel        string   `json:"kernel,omitempty"`
	CPU           string   `json:"cpu,omitempty"`            // model name
	CPUs          int      `json:"cpus"`                     // logical CPUs usable by this process (affinity)
	OnlineCPUs    int      `json:"online_cpus,omitempty"`    // logical CPUs of the machine
	PhysicalCores int      `json:"physical_cores,omitempty"` // among the usable ones, 0 unknown
	SMT           int      `json:"smt,omitempty"`            // hardware threads a core, 0 unknown
	Sockets       int      `json:"sockets,omitempty"`
	NUMANodes     int      `json:"numa_nodes,omitempty"`
	LLCs          int      `json:"llcs,omitempty"`         // last-level caches among the usable CPUs
	LLCBytes      int64    `json:"llc_bytes,omitempty"`    // of one
	CoreClasses   []int    `json:"core_classes,omitempty"` // hybrid: usable CPUs of each class, fastest first
	CoreFirst     []int    `json:"core_first,omitempty"`   // first usable CPU of each physical core, in order: where `pin` puts workers
	QuotaCPUs     *float64 `json:"quota_cpus,omitempty"`   // cgroup CPU quota, exact; nil for none
	CgroupVersion int      `json:"cgroup_version,omitempty"`
	GoProcs       int      `json:"go_procs,omitempty"`   // what Go chooses as GOMAXPROCS here
	AutoProcs     int      `json:"auto_procs,omitempty"` // what automaxprocs would choose
	Governor      string   `json:"governor,omitempty"`
	MinKHz        int64    `json:"min_khz,omitempty"`
	MaxKHz        int64    `json:"max_khz,omitempty"`
	Turbo         *bool    `json:"turbo,omitempty"`
	Virtual       bool     `json:"virtual"`
	Hypervisor    string   `json:"hypervisor,omitempty"`
	THP           string   `json:"thp,omitempty"` // always, madvise, never
	PerfParanoid  *int     `json:"perf_paranoid,omitempty"`
	PerfCounters  bool     `json:"perf_counters"` // hardware counters can be opened
	MemoryBytes   int64    `json:"memory_bytes,omitempty"`
	PageBytes     int      `json:"page_bytes,omitempty"`
}

// Known places where a speed-up curve may bend, as numbers of CPUs.
type Place struct {
	Threads int
	Name    string // "physical cores", "half of the CPUs", "one last-level cache", "one NUMA node", "quota", "performance cores", "CPUs"
}
