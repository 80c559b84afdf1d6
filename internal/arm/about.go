package arm

import "fmt"

// About says what an arm does, for the plan, the report and the docs.
type About struct {
	Name     string
	Changes  string   // what is different in its runs
	Tests    []string // causes ("gc/mark") or groups ("gc") whose cost it removes
	Confound string   // what else it changes; the report repeats it
}

// About describes each part in turn.
func (a Arm) About() []About {
	all := make([]About, len(a.Parts))
	for i, p := range a.Parts {
		all[i] = p.about()
	}
	return all
}

// Tests lists the causes and groups that the arm tests, without repeats.
func (a Arm) Tests() []string {
	var tests []string
	seen := make(map[string]bool)
	for _, about := range a.About() {
		for _, t := range about.Tests {
			if !seen[t] {
				seen[t] = true
				tests = append(tests, t)
			}
		}
	}
	return tests
}

func (p Part) about() About {
	a := About{Name: p.String()}
	switch p.Kind {
	case GOGC:
		a.Changes = fmt.Sprintf("GOGC=%s instead of 100: about %s/100 times as much allocation between two collections", p.Value, p.Value)
		a.Tests = []string{"gc"}
		a.Confound = "the heap grows with GOGC: page faults and cache misses may rise while the collector's cost falls"
	case GCOff:
		a.Changes = "GOGC=off under a memory limit: no collection until the limit is near"
		a.Tests = []string{"gc"}
		a.Confound = "every allocation is fresh memory: page faults, zeroing by the kernel and cache misses replace the collector's cost; gogc doses are the cleaner test"
	case Mode:
		a.Changes = "T processes with one worker and one P each instead of T goroutines in one process"
		a.Tests = []string{"lock", "gc", "sched", "alloc", "memory/contended-line", "balance/serial", "balance/queue", "io/sleep"}
		a.Confound = "each process has a small heap of its own (more collections in all) and the collector works differently at one P; what remains is the machine, the system and the small heaps"
	case Procs:
		if p.Value == "threads" {
			a.Changes = "GOMAXPROCS = T instead of one P per CPU"
			a.Confound = "the collector loses the CPUs that workers leave idle, so the base gets slower too: read the difference, not the peak alone"
		} else {
			a.Changes = "one P per CPU instead of GOMAXPROCS = T"
			a.Confound = "the collector gains the CPUs that workers leave idle, so the base gets faster too: read the difference, not the peak alone"
		}
		a.Tests = []string{"gc", "sched/find", "sched/wake-latency", "balance/queue"}
	case Pin:
		a.Changes = "each worker's thread is pinned to a physical core of its own"
		a.Tests = []string{"hardware/ceiling", "os/run-queue"}
		a.Confound = "the runtime's other threads are not pinned, and a neighbour on a pinned core cannot be evaded"
	case Delay:
		a.Changes = fmt.Sprintf("a known cost is added where %s is paid", p.Value)
		a.Tests = []string{p.Value}
		a.Confound = "the slope holds near the present cost only: removing the cause may expose another one"
	}
	return a
}
