package lanes

import "math"

// cpu is what is known of the process's CPU time, in ns; negative is unknown.
type cpu struct {
	used      float64 // user and system
	system    float64
	faults    int64
	queued    float64 // ready threads without a CPU
	throttled float64
	steal     float64
	foreign   float64
	cpus      int
	procs     int
}

func (in *Input) cpu() cpu {
	c := cpu{used: -1, system: -1, queued: -1}
	n := float64(max(in.Processes, 1))
	if r := in.Result; r != nil {
		c.cpus, c.procs = r.NumCPU, r.Procs
		if u := r.Usage; u != nil {
			c.used, c.system, c.faults = float64(u.UserNS+u.SysNS), float64(u.SysNS), max(u.MinFlt, 0)
		}
		if t := r.Threads; t != nil {
			c.queued = float64(max(t.WaitNS, 0))
		}
	}
	if s := in.System; s != nil {
		if s.ThrottledNS != nil {
			c.throttled = float64(max(*s.ThrottledNS, 0)) / n
		}
		if s.StealNS != nil {
			c.steal = float64(max(*s.StealNS, 0)) / n
		}
		if s.BusyNS != nil && s.OwnNS != nil {
			c.foreign = float64(max(*s.BusyNS-*s.OwnNS, 0)) / n
		}
	}
	return c
}

// cpuInWindow is what is known of the CPU time in the trace's own window. A trace
// that was fetched from a running program is of a part of the run only.
func (a *pass) cpuInWindow() cpu {
	c := a.in.cpu()
	r := a.in.Result
	if r == nil || a.foreign == nil || r.EndNS <= r.BeginNS {
		return c
	}
	share := float64(a.end-a.begin) / float64(r.EndNS-r.BeginNS)
	if share >= 1 {
		return c
	}
	for _, v := range []*float64{&c.used, &c.system, &c.queued} {
		if *v > 0 { // negative is unknown
			*v *= share
		}
	}
	c.throttled, c.steal, c.foreign = share*c.throttled, share*c.steal, share*c.foreign
	c.faults = int64(share * float64(c.faults))
	return c
}

// offCPU is how much of the lanes' running time their threads had no CPU.
type offCPU struct {
	throttled, steal, neighbour, handOver, queued float64
	// missed is running time that neither CPU time nor a known absence covers;
	// negative where CPU time exceeds it.
	missed float64
}

func (o offCPU) total() float64 { return o.throttled + o.steal + o.neighbour + o.handOver + o.queued }

// minSamples is how many samples it takes to say which part of the process's CPU
// time was the lanes'.
const minSamples = 20

// handOverCap bounds what one hand-over can cost in a run queue: the kernel
// lets a thread that was woken wait for about a scheduling slice of its waker's.
const handOverCap = 1e6

// absent finds the lanes' time off CPU. running is what the trace shows as
// running, system calls and stops of the world excluded; hit of all samples were
// taken in it. What is missing from CPU time is believed up to what the kernel's
// own figures confirm (RUNTIME.md 11.3).
func (c cpu) absent(running float64, hit, all int, handOvers float64, nHandOvers int64) offCPU {
	var o offCPU
	if c.used < 0 || all < minSamples || hit == 0 {
		return o
	}
	p := float64(hit) / float64(all)
	onCPU := c.used * p
	gone := running - onCPU
	known := math.Inf(1)
	if c.queued >= 0 {
		known = c.queued + c.steal + c.throttled
	}
	if gone < 0 {
		o.missed = gone
		return o
	}
	left := min(gone, known)
	o.missed = gone - left
	take := func(limit float64) float64 {
		x := max(0, min(left, limit))
		left -= x
		return x
	}
	o.throttled = take(c.throttled)
	o.steal = take(c.steal)
	o.neighbour = take(c.foreign)
	// The rest is the program's own threads queueing for each other. More Ps than
	// CPUs do that by themselves; else wake-ups do, by putting two threads on one CPU.
	if c.procs > c.cpus && c.cpus > 0 {
		o.queued = take(left * (1 - float64(c.cpus)/float64(c.procs)))
	}
	if handOvers > 0 {
		o.handOver = take(float64(nHandOvers) * handOverCap)
	}
	o.queued += left
	return o
}

// faulting is the CPU time of page faults: system time that no call accounts
// for, as far as there were faults to spend it. It includes nothing of signals
// and interrupts where faults are few.
func (c cpu) faulting(kernel, all int) float64 {
	if c.system <= 0 || c.faults <= 0 || all < minSamples {
		return 0
	}
	calls := c.used * float64(kernel) / float64(all)
	return max(0, min(c.system-calls, float64(c.faults)*faultCap))
}

// faultCap bounds the cost of one minor fault of a 4 kB page, ns; measured costs
// are 0.5 to 2 µs.
const faultCap = 4000
