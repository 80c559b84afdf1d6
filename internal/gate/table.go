// Package gate judges whether a run's figures can be trusted: what the machine
// did to it, what was asked of it, and whether its repeats agree. A broken gate
// marks a run or a cell with the figure that broke it; nothing is ever dropped.
//
// All functions are pure: they see a manifest and say what is wrong with it.
package gate

import (
	"fmt"
	"strings"

	"github.com/scaleprof/scaleprof/internal/record"
)

// The gates.
const (
	Steal          = "steal"
	Throttled      = "throttled"
	RunQueue       = "run-queue"
	Neighbour      = "neighbour"
	Bounce         = "bounce"
	DriftID        = "drift"
	GOMAXPROCS     = "gomaxprocs"
	Affinity       = "affinity"
	Oversubscribed = "oversubscribed"
	Quota          = "quota"
	Short          = "short"
	WorkChanged    = "work-changed"
	Spread         = "spread"
	TwoModes       = "two-modes"
	Perturbation   = "perturbation"
)

// Rule is one gate.
type Rule struct {
	ID        string
	Threshold float64 // broken above it; of short windows, below it
	Unit      string  // of the threshold and of the value that a broken gate reports
	Text      string  // with {value}, {limit} and what else the gate knows in braces
	Do        string  // what the user can do about it
	Rerun     bool    // another attempt may pass: it was what the machine did, not how the cell is
	Always    bool    // counts in a cell however few of its runs broke it
	Voids     bool    // time that others took: what it leaves is no picture of the program
	Cause     string  // which cause of the catalogue holds the time, "" for none
}

// Thresholds that need more than one number, beside the table's.
const (
	// A neighbour is tolerated up to the table's share of the slot time, but never less than what any
	// machine's own services take (1.5% of a CPU, in bursts of 15 ms, on an idle virtual machine), and never more
	// than a part of one CPU: a burner beside 64 workers delays one of them, and all wait for that one.
	neighbourLeastCPUs = 0.05
	neighbourMostCPUs  = 0.25
	neighbourLeastNS   = 15e6
	// Columns of /proc/stat are rounded to ticks, for each CPU by itself: differences err by up to one
	// for each CPU, and by about its square root in sum.
	tickNS = 10e6
	// Work that is counted from outside, as a served request, may differ a little.
	workSlack = 0.01
	// Above it, shares of a profiled run are not those of the timed one.
	perturbationBad = 1.10
)

// Table lists all rules: METHOD 6.5, with the deviations explained.
func Table() []Rule {
	return []Rule{
		{
			ID: WorkChanged, Threshold: 0, Unit: "fraction of the work",
			Text:   "the work is not the same: {got} {what} where other runs have {want}",
			Do:     "make the workload do the same operations at every T; speed-ups of different work mean nothing",
			Always: true, Voids: true,
		},
		{
			ID: Throttled, Threshold: 0, Unit: "ns",
			Text:  "the CPU quota stopped the program for {value} in all, {times} times",
			Do:    "raise the quota, or compare T at or below it",
			Rerun: true, Voids: true, Cause: "os/throttled",
		},
		{
			ID: Steal, Threshold: 0.005, Unit: "fraction of the slot time",
			Text:  "the hypervisor took {value} of the slot time (allowed {limit})",
			Do:    "measure on dedicated CPUs, or at another time",
			Rerun: true, Voids: true, Cause: "os/steal",
		},
		{
			ID: Neighbour, Threshold: 0.02, Unit: "CPUs",
			Text:  "other processes used {value} CPUs beside the workers (allowed {limit})",
			Do:    "end them; `top` shows who they are",
			Rerun: true, Voids: true, Cause: "os/neighbour",
		},
		{
			// The program's own wake-ups stack its threads on one CPU too, so waiting by itself
			// accuses nobody: only the part that others' CPU, throttling or steal explains counts.
			ID: RunQueue, Threshold: 0.02, Unit: "fraction of the slot time",
			Text:  "threads that were ready waited {value} of the slot time for a CPU that others had (allowed {limit})",
			Do:    "end the other processes or raise the quota",
			Rerun: true, Voids: true, Cause: "os/run-queue",
		},
		{
			ID: Bounce, Threshold: 800, Unit: "ns",
			Text:  "a cache line took {value} from core to core {when} the window (usual is 30 to 300 ns): a CPU was taken",
			Do:    "end other processes; on a virtual machine, measure at another time",
			Rerun: true,
		},
		{
			// METHOD asks for 2%; single runs of the ALU kernel differ by up to 4% on a quiet virtual machine.
			ID: DriftID, Threshold: 0.05, Unit: "fraction",
			Text: "the ALU kernel took {value} {direction} than the session's median in this block (allowed {limit}): the clock changed or a CPU was shared",
			Do:   "fix the clock (governor, turbo, cooling); blocks are compared within themselves",
		},
		{
			ID: GOMAXPROCS, Threshold: 0, Unit: "Ps",
			Text:   "{what}",
			Do:     "unset GOMAXPROCS; choose it with --procs",
			Always: true,
		},
		{
			ID: Affinity, Threshold: 0, Unit: "CPUs",
			Text:   "only {value} of the machine's {online} CPUs may be used (affinity or cpuset)",
			Do:     "widen it: taskset -c 0-{last}",
			Always: true, Cause: "os/run-queue",
		},
		{
			ID: Oversubscribed, Threshold: 0, Unit: "workers",
			Text:   "T={value} is more than the {limit} usable CPUs: workers take turns",
			Do:     "compare T up to {limit}",
			Always: true, Cause: "os/run-queue",
		},
		{
			ID: Quota, Threshold: 0, Unit: "CPUs",
			Text:   "the CPU quota of {value} CPUs {why}",
			Do:     "raise it to a whole number of CPUs, at least the highest T",
			Always: true, Cause: "os/throttled",
		},
		{
			ID: Short, Threshold: 0.2, Unit: "s",
			Text: "the window of {value} is under {limit}: placing the threads alone takes 10 to 50 ms",
			Do:   "more operations, so that the highest T takes {limit} at least",
		},
		{
			ID: Spread, Threshold: 0.05, Unit: "coefficient of variation",
			Text:   "repeats differ by {value} (standard deviation; allowed {limit})",
			Do:     "more blocks, or a quieter machine",
			Always: true,
		},
		{
			ID: TwoModes, Threshold: 3, Unit: "MAD",
			Text:   "repeats fall into two groups, {low} and {high}: their median is neither",
			Do:     "look at both groups' runs; a virtual machine whose CPUs are moved does this",
			Always: true,
		},
		{
			ID: Perturbation, Threshold: 1.05, Unit: "profiled over timed wall time",
			Text:   "profiled runs take {value} times as long as timed ones (allowed {limit}){so}",
			Do:     "fewer --profiles at once",
			Always: true,
		},
	}
}

// RuleOf finds a gate's rule by its id.
func RuleOf(id string) (Rule, bool) {
	for _, r := range Table() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// Rerunnable reports whether a run is worth another attempt: a gate is broken that it may pass.
func Rerunnable(gates []record.Gate) bool {
	for _, g := range gates {
		if r, ok := RuleOf(g.ID); ok && r.Rerun {
			return true
		}
	}
	return false
}

// broken makes a gate of the rule; words fill the text's braces, as name, value pairs.
func broken(id string, value, limit float64, words ...string) record.Gate {
	r, _ := RuleOf(id)
	pairs := make([]string, 0, len(words))
	for i := 0; i+1 < len(words); i += 2 {
		pairs = append(pairs, "{"+words[i]+"}", words[i+1])
	}
	return record.Gate{ID: id, Text: strings.NewReplacer(pairs...).Replace(r.Text), Value: value, Threshold: limit}
}

func threshold(id string) float64 {
	r, _ := RuleOf(id)
	return r.Threshold
}

func percent(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.1f%%", 100*v)
	}
	return fmt.Sprintf("%.0f%%", 100*v)
}

// duration writes ns with three digits.
func duration(ns float64) string {
	for _, u := range [...]struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
