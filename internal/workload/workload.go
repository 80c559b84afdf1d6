// Package workload holds what can be run: the registry of built-in workloads,
// each a body of work that T workers share with the total held constant.
package workload

import (
	"fmt"
	"sort"
	"strings"
)

// Info describes a workload to `scaleprof list` and to the report.
type Info struct {
	Name  string // "json/sonic", "lab/mutex", "lab/mutex/fixed"
	Title string // one line
	// Expect is the cause that a lab workload has by construction, "" elsewhere;
	// "none" for a control.
	Expect string
	// Library is the module path whose version the manifest records, "" if none.
	Library string
	// OpNS is roughly what one operation costs one worker, a first guess for calibration.
	OpNS int64
	// Params names the accepted parameters with a one-line meaning each.
	Params map[string]string
	// Unavailable says why this machine cannot run it, "" if it can.
	Unavailable string
	// MinPeak is the smallest T at which the expected loss can show, 0 for 2.
	// OverCPUs marks a workload that loses at T above the CPUs by design.
	MinPeak  int
	OverCPUs bool
	// ProcsThreads marks a workload whose loss shows only under GOMAXPROCS = T.
	ProcsThreads bool
	// Twin names the workload that does the same work without the loss, "" if none.
	Twin string
	// Delay names the causes to which the parameter delay_ns adds a known cost.
	Delay []string
	// QuotaCPUs asks the runner for a CPU quota of this many CPUs around every
	// run of the workload, 0 for none. Where the runner cannot make one, the
	// workload is unavailable.
	QuotaCPUs float64
}

// Params are what a run gives to a workload.
type Params struct {
	Workers int               // workers in this process
	Ops     int64             // operations of this process in the window
	Total   int64             // operations of the cell, all processes together; 0 means Ops
	Values  map[string]string // parameters by name
	Seed    int64
}

// Workload can be prepared for a run.
type Workload interface {
	Info() Info
	// Prepare builds the state that the workers share, outside the clock.
	Prepare(Params) (Instance, error)
}

// Tally is what a worker did. Sum is the wrapping sum over its operations of a
// value derived from each operation's result, so that the sum over all workers
// does not depend on how the operations were shared out.
type Tally struct {
	Ops int64
	Sum uint64
}

// Instance is a prepared workload.
type Instance interface {
	// Work does operations [lo, hi) as worker w and returns what it did. It is
	// called from all workers at the same time: once with a short range to warm
	// up, then once inside the window. It allocates nothing per operation that
	// the workload itself does not call for.
	Work(w int, lo, hi int64) Tally
	// Close ends goroutines and files of the instance. Its error is the first
	// fault of an operation, if any: such an operation is not in any Tally.
	Close() error
}

// Registry finds workloads by name.
type Registry struct{ byName map[string]Workload }

// NewRegistry holds the given workloads. Two of one name are a programming error.
func NewRegistry(all ...Workload) *Registry {
	r := &Registry{byName: make(map[string]Workload, len(all))}
	for _, w := range all {
		name := w.Info().Name
		if _, dup := r.byName[name]; dup {
			panic("workload: two workloads named " + name)
		}
		r.byName[name] = w
	}
	return r
}

// Names lists the names in order.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.byName))
	for name := range r.byName {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// All lists the workloads in the order of their names.
func (r *Registry) All() []Workload {
	names := r.Names()
	all := make([]Workload, len(names))
	for i, name := range names {
		all[i] = r.byName[name]
	}
	return all
}

// Lookup finds a workload, or says which names come close.
func (r *Registry) Lookup(name string) (Workload, error) {
	if w, ok := r.byName[name]; ok {
		return w, nil
	}
	near := r.nearest(name)
	if len(near) == 0 {
		return nil, fmt.Errorf("unknown workload %q; `scaleprof list` shows them all", name)
	}
	return nil, fmt.Errorf("unknown workload %q; did you mean %s?", name, strings.Join(near, " or "))
}
