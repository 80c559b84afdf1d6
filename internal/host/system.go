package host

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// Sources of SystemCounters.BusyNS, the most exact first.
const (
	BusyCpuacct   = "cpuacct"   // cgroup v1's root group: the scheduler's own count, exact for tasks
	BusySchedstat = "schedstat" // the scheduler's too, but only up to a task's last switch
	BusyCgroup2   = "cgroup2"   // cgroup v2's root group: as /proc/stat, without its rounding
	BusyStat      = "stat"      // sampled by the tick where the kernel does not account exactly, in 10 ms
)

// SystemCounters is a reading of what the machine has done since it started. Times are ns; a nil
// pointer is not known here. Only differences mean anything: see Sub.
//
// BusyNS is the CPU time of all processes on the CPUs that this process may use, or on all of
// the machine's where that is all the kernel tells; interrupts are in it only with BusyStat.
type SystemCounters struct {
	When        time.Time
	BusyNS      *int64
	BusyFrom    string
	StealNS     *int64 // the hypervisor ran something else on the usable CPUs
	ThrottledNS *int64 // this process's cgroups were stopped by their quota: the sum of all levels
	NrThrottled *int64
	PressureNS  *int64   // PSI: some task waited for a CPU
	WaitNS      *int64   // all tasks' time on run queues; needs /proc/schedstat
	Runnable    *float64 // tasks running or ready at this instant, this one among them
}

// SystemReader reads SystemCounters; it keeps what does not change between readings.
// The zero value is not usable. It is safe for concurrent use.
type SystemReader struct {
	t      tree
	cpus   cpuSet // usable
	online cpuSet
	fs     procfs.FS
	fsOK   bool
	busy   func() (int64, bool)
	from   string
	stat   []string // cpu.stat of the own cgroup and its parents
	v2     bool

	cpuacct, cgroup2 string // the root groups' directories; "" is none, where nothing is read
}

// ReadSystem reads once; to read around each run, make one NewSystemReader.
func ReadSystem() SystemCounters { return NewSystemReader("/").Read() }

// NewSystemReader finds this machine's most exact sources; root is as in Read.
func NewSystemReader(root string) *SystemReader {
	t := tree{root}
	text, _ := t.read("proc/cpuinfo")
	r := &SystemReader{t: t, online: onlineCPUs(t, parseCPUInfo(text))}
	r.cpus = r.online
	allowed, ok := allowedCPUs(t)
	if set, liveOK := affinity(); t.live() && liveOK {
		allowed, ok = set, true
	}
	if both := allowed.and(r.online); ok && len(both) > 0 {
		r.cpus = both
	}
	if fs, err := procfs.NewFS(t.path("proc")); err == nil {
		r.fs, r.fsOK = fs, true
	}
	if c, ok := findCgroup(t, "cpu"); ok {
		r.v2 = c.version == 2
		for _, dir := range c.dirs {
			r.stat = append(r.stat, path.Join(dir, "cpu.stat"))
		}
	}
	r.findRoots()
	for _, source := range []struct {
		name string
		read func() (int64, bool)
	}{
		{BusyCpuacct, r.cpuacctBusy},
		{BusySchedstat, r.schedstatBusy},
		{BusyCgroup2, r.cgroup2Busy},
		{BusyStat, r.statBusy},
	} {
		if _, ok := source.read(); ok {
			r.busy, r.from = source.read, source.name
			break
		}
	}
	return r
}

// Read takes a reading: some five small files, well under a millisecond.
func (r *SystemReader) Read() SystemCounters {
	c := SystemCounters{When: time.Now(), BusyFrom: r.from}
	if r.busy != nil {
		if n, ok := r.busy(); ok {
			c.BusyNS = &n
		}
	}
	if r.fsOK {
		if stat, err := r.fs.Stat(); err == nil {
			c.StealNS = r.steal(stat)
			if stat.ProcessesRunning > 0 {
				c.Runnable = ptr(float64(stat.ProcessesRunning))
			}
		}
		if psi, err := r.fs.PSIStatsForResource("cpu"); err == nil && psi.Some != nil {
			c.PressureNS = ptr(clampInt64(psi.Some.Total) * int64(time.Microsecond))
		}
	}
	c.WaitNS = r.schedstatWait()
	c.ThrottledNS, c.NrThrottled = r.throttled()
	return c
}

// SystemDelta is what the machine did between two readings. Fields are as in SystemCounters;
// nil where either reading did not know, or a counter ran backwards.
type SystemDelta struct {
	WallNS      int64
	BusyNS      *int64
	BusyFrom    string
	StealNS     *int64
	ThrottledNS *int64
	NrThrottled *int64
	PressureNS  *int64
	WaitNS      *int64
	RunnableAvg *float64 // tasks running or ready, averaged: exact with schedstat, else nil
}

// Sub is the difference to an earlier reading of the same reader.
func (c SystemCounters) Sub(earlier SystemCounters) SystemDelta {
	d := SystemDelta{
		WallNS:      c.When.Sub(earlier.When).Nanoseconds(),
		BusyFrom:    c.BusyFrom,
		StealNS:     since(c.StealNS, earlier.StealNS),
		ThrottledNS: since(c.ThrottledNS, earlier.ThrottledNS),
		NrThrottled: since(c.NrThrottled, earlier.NrThrottled),
		PressureNS:  since(c.PressureNS, earlier.PressureNS),
		WaitNS:      since(c.WaitNS, earlier.WaitNS),
	}
	if c.BusyFrom == earlier.BusyFrom {
		d.BusyNS = since(c.BusyNS, earlier.BusyNS)
	}
	if d.BusyNS != nil && d.WaitNS != nil && d.WallNS > 0 {
		d.RunnableAvg = ptr(float64(*d.BusyNS+*d.WaitNS) / float64(d.WallNS))
	}
	return d
}

func since(now, then *int64) *int64 {
	if now == nil || then == nil || *now < *then {
		return nil
	}
	return ptr(*now - *then)
}

// cpuacctBusy reads the usable CPUs in the root group of cgroup v1's cpuacct. What a container
// sees as the root may be none: only the real one has a release_agent.
func (r *SystemReader) cpuacctBusy() (int64, bool) {
	if r.cpuacct == "" {
		return 0, false
	}
	fields := strings.Fields(r.t.text(path.Join(r.cpuacct, "cpuacct.usage_percpu")))
	var sum int64
	for _, cpu := range r.cpus {
		if cpu >= len(fields) {
			return 0, false
		}
		n, err := strconv.ParseInt(fields[cpu], 10, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		sum += n
	}
	return sum, len(r.cpus) > 0
}

// cgroup2Busy reads v2's root group, which counts all CPUs together by the same ticks as /proc/stat.
func (r *SystemReader) cgroup2Busy() (int64, bool) {
	if r.cgroup2 == "" || len(r.cpus) != len(r.online) {
		return 0, false
	}
	us, ok := r.field(path.Join(r.cgroup2, "cpu.stat"), "usage_usec")
	return us * int64(time.Microsecond), ok
}

// findRoots locates the root groups, where this mount namespace shows them.
func (r *SystemReader) findRoots() {
	if c, ok := findCgroup(r.t, "cpuacct"); ok && c.version == 1 {
		if root := c.dirs[len(c.dirs)-1]; r.t.exists(path.Join(root, "release_agent")) {
			r.cpuacct = root
		}
	}
	if c, ok := findCgroup(r.t, "cpu"); ok && c.version == 2 {
		if root := c.dirs[len(c.dirs)-1]; !r.t.exists(path.Join(root, "cgroup.type")) {
			r.cgroup2 = root
		}
	}
}

func (r *SystemReader) schedstatBusy() (int64, bool) {
	sum, n := int64(0), 0
	r.eachSchedstat(func(cpu *procfs.SchedstatCPU) {
		sum += clampInt64(cpu.RunningNanoseconds)
		n++
	})
	return sum, n > 0 && n == len(r.cpus)
}

func (r *SystemReader) schedstatWait() *int64 {
	sum, n := int64(0), 0
	r.eachSchedstat(func(cpu *procfs.SchedstatCPU) {
		sum += clampInt64(cpu.WaitingNanoseconds)
		n++
	})
	if n == 0 || n != len(r.cpus) {
		return nil
	}
	return &sum
}

func (r *SystemReader) eachSchedstat(f func(*procfs.SchedstatCPU)) {
	if !r.fsOK {
		return
	}
	s, err := r.fs.Schedstat()
	if err != nil {
		return
	}
	for _, cpu := range s.CPUs {
		if n, err := strconv.Atoi(cpu.CPUNum); err == nil && r.cpus.has(n) {
			f(cpu)
		}
	}
}

// statBusy sums the busy columns of the usable CPUs. Guest time is already in user time,
// steal is nobody's here.
func (r *SystemReader) statBusy() (int64, bool) {
	if !r.fsOK {
		return 0, false
	}
	stat, err := r.fs.Stat()
	if err != nil {
		return 0, false
	}
	var sum float64
	for _, cpu := range r.cpus {
		s, ok := stat.CPU[int64(cpu)]
		if !ok {
			return 0, false
		}
		sum += s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ
	}
	return secondsNS(sum), len(r.cpus) > 0
}

func (r *SystemReader) steal(stat procfs.Stat) *int64 {
	var sum float64
	for _, cpu := range r.cpus {
		s, ok := stat.CPU[int64(cpu)]
		if !ok {
			return nil
		}
		sum += s.Steal
	}
	return ptr(secondsNS(sum))
}

// throttled sums the time and the count over the own cgroup and its parents: each stops the process
// for itself. v1 counts throttled_time in ns, v2 throttled_usec; both add up over the CPUs.
func (r *SystemReader) throttled() (ns, times *int64) {
	for _, file := range r.stat {
		t, ok := r.field(file, "throttled_usec")
		t *= int64(time.Microsecond)
		if !r.v2 {
			t, ok = r.field(file, "throttled_time")
		}
		if !ok {
			continue
		}
		n, _ := r.field(file, "nr_throttled")
		if ns == nil {
			ns, times = new(int64), new(int64)
		}
		*ns += t
		*times += n
	}
	return ns, times
}

// field finds a "key value" line.
func (r *SystemReader) field(file, key string) (int64, bool) {
	text, _ := r.t.read(file)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == key {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil && n >= 0 && n < math.MaxInt64/int64(time.Microsecond)
		}
	}
	return 0, false
}

func secondsNS(s float64) int64 { return int64(math.Round(s * 1e9)) }
