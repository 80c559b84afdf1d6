// Package host knows the machine: topology, quota, what the kernel counts, and
// the calibration kernels whose speed-up is the ceiling for any program.
package host

// Info is the machine as a measurement sees it. Unknown is zero or nil as each field says.
type Info struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	CPU    string `json:"cpu,omitempty"` // model name

	CPUs           int    `json:"cpus"`                       // logical CPUs usable by this process (affinity, cpuset)
	UsableCPUs     string `json:"usable_cpus,omitempty"`      // which, as the kernel writes a list: "0-3,8"
	OnlineCPUs     int    `json:"online_cpus,omitempty"`      // logical CPUs of the machine
	PhysicalCores  int    `json:"physical_cores,omitempty"`   // among the usable ones, 0 unknown
	SMT            int    `json:"smt,omitempty"`              // hardware threads a core, 0 unknown
	Sockets        int    `json:"sockets,omitempty"`          // among the usable CPUs, 0 unknown
	NUMANodes      int    `json:"numa_nodes,omitempty"`       // with usable CPUs, 0 unknown
	NodeCPUs       []int  `json:"node_cpus,omitempty"`        // usable CPUs of each such node
	LLCs           int    `json:"llcs,omitempty"`             // last-level caches among the usable CPUs, 0 unknown
	LLCCPUs        []int  `json:"llc_cpus,omitempty"`         // usable CPUs of each
	LLCBytes       int64  `json:"llc_bytes,omitempty"`        // of one, the largest
	CoreClasses    []int  `json:"core_classes,omitempty"`     // hybrid: usable CPUs of each class, fastest first
	CoreClassCores []int  `json:"core_class_cores,omitempty"` // hybrid: physical cores of each class, where known
	CoreFirst      []int  `json:"core_first,omitempty"`       // first usable CPU of each physical core, in order: where `pin` puts workers

	QuotaCPUs     *float64 `json:"quota_cpus,omitempty"`      // cgroup CPU quota, exact, the least up the tree; nil for none
	QuotaFrom     string   `json:"quota_from,omitempty"`      // the cgroup directory that sets it
	LeafQuotaCPUs *float64 `json:"leaf_quota_cpus,omitempty"` // of the process's own group, the only one that Go reads
	CgroupVersion int      `json:"cgroup_version,omitempty"`  // of the CPU controller, 0 none found
	GoProcs       int      `json:"go_procs,omitempty"`        // what Go chooses as GOMAXPROCS here, were it not set
	AutoProcs     int      `json:"auto_procs,omitempty"`      // what automaxprocs would choose
	EnvProcs      string   `json:"gomaxprocs_env,omitempty"`  // GOMAXPROCS in the environment, as written there

	Governor    string `json:"governor,omitempty"`      // several are joined by "+"
	MinKHz      int64  `json:"min_khz,omitempty"`       // what the hardware offers, over the usable CPUs
	MaxKHz      int64  `json:"max_khz,omitempty"`       //
	LimitMinKHz int64  `json:"limit_min_khz,omitempty"` // what the governor may choose from
	LimitMaxKHz int64  `json:"limit_max_khz,omitempty"` //
	Turbo       *bool  `json:"turbo,omitempty"`         // nil unknown

	Virtual      bool   `json:"virtual"`
	Hypervisor   string `json:"hypervisor,omitempty"` // its name where it tells, "" unknown
	THP          string `json:"thp,omitempty"`        // always, madvise, never
	PerfParanoid *int   `json:"perf_paranoid,omitempty"`
	PerfCounters bool   `json:"perf_counters"`         // hardware counters can be opened
	PerfWhy      string `json:"perf_denied,omitempty"` // why not, where that was tried

	MemoryBytes      int64  `json:"memory_bytes,omitempty"`
	MemoryLimitBytes *int64 `json:"memory_limit_bytes,omitempty"` // cgroup, the least up the tree; nil for none
	PageBytes        int    `json:"page_bytes,omitempty"`         // 0 unknown
}

// Place is a known place where a speed-up curve may bend, as a number of CPUs.
type Place struct {
	Threads int
	Name    string // "physical cores", "half of the CPUs", "one last-level cache", "one NUMA node", "quota", "performance cores", "CPUs"
}
