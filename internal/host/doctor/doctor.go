// Package doctor examines a machine before one measures on it: what host.Read
// knows, what happens on it right now, and whether other tools agree.
package doctor

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"go.uber.org/automaxprocs/maxprocs"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/host/kernel"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Options of an examination.
type Options struct {
	Root    string        // "/" for this machine, else a copy of another's /proc and /sys
	Watch   time.Duration // how long to watch what other processes do; 0 is half a second
	Ceiling bool          // run the calibration kernels too, some seconds
}

// Report is what an examination found.
type Report struct {
	Schema   string             `json:"schema"`
	Host     host.Info          `json:"host"`
	Findings []host.Finding     `json:"findings"`
	Places   []Place            `json:"places"` // where a curve may bend because of the machine
	Now      *Now               `json:"now,omitempty"`
	Ceiling  []record.KernelRun `json:"ceiling,omitempty"` // the fastest of a few rounds
}

// Schema names the JSON form.
const Schema = "scaleprof.doctor/1"

// Place is a host.Place in the JSON form.
type Place struct {
	Threads int    `json:"threads"`
	Name    string `json:"name"`
}

// Now is what the machine did while it was watched. nil is not known.
type Now struct {
	WallNS    int64    `json:"wall_ns"`
	OtherCPUs *float64 `json:"other_cpus"` // CPUs that other processes used
	StealCPUs *float64 `json:"steal_cpus"`
	BounceNS  *float64 `json:"bounce_ns"` // core-to-core hand-over
	QuotaCPUs *float64 `json:"automaxprocs_quota_cpus"`
}

// Bad counts the findings that spoil a measurement.
func (r *Report) Bad() int { return r.count(host.Bad) }

func (r *Report) count(level host.Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Examine looks at a machine. Its error is the context's or a kernel's; what cannot be read is unknown.
func Examine(ctx context.Context, opt Options) (*Report, error) {
	procs := runtime.GOMAXPROCS(0) // before anything here changes it
	info, findings := host.Read(opt.Root)
	r := &Report{Schema: Schema, Host: info, Findings: findings, Places: []Place{}}
	for _, p := range host.Places(info) {
		r.Places = append(r.Places, Place(p))
	}
	if opt.Root != "/" {
		return r, nil
	}
	now, err := watch(ctx, opt.Watch)
	if err != nil {
		return nil, err
	}
	r.Now = now
	r.Findings = append(r.Findings, aboutNow(now)...)
	r.Findings = append(r.Findings, crossCheck(info, procs, now)...)
	if opt.Ceiling {
		if r.Ceiling, err = ceiling(ctx, info); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func watch(ctx context.Context, d time.Duration) (*Now, error) {
	if d <= 0 {
		d = 500 * time.Millisecond
	}
	reader := host.NewSystemReader("/")
	own, ownOK := host.SelfCPU()
	before := reader.Read()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(d):
	}
	delta := reader.Read().Sub(before)
	own2, _ := host.SelfCPU()
	now := &Now{WallNS: delta.WallNS}
	cpus := func(ns int64) *float64 {
		v := math.Round(max(float64(ns), 0)/float64(max(delta.WallNS, 1))*1000) / 1000
		return &v
	}
	if delta.BusyNS != nil && ownOK {
		now.OtherCPUs = cpus(*delta.BusyNS - (own2 - own))
	}
	if delta.StealNS != nil {
		now.StealCPUs = cpus(*delta.StealNS)
	}
	if ns, ok := kernel.Bounce(); ok {
		ns = math.Round(ns*10) / 10
		now.BounceNS = &ns
	}
	if q, ok := automaxprocsQuota(); ok {
		now.QuotaCPUs = &q
	}
	return now, nil
}

// automaxprocsQuota is the quota that automaxprocs sees, exactly. It honours GOMAXPROCS in the environment by
// not looking. This process is measured by nobody, so its own GOMAXPROCS may be touched.
func automaxprocsQuota() (cpus float64, ok bool) {
	if os.Getenv("GOMAXPROCS") != "" {
		return 0, false
	}
	undo, err := maxprocs.Set(maxprocs.RoundQuotaFunc(func(q float64) int {
		cpus, ok = q, true
		return runtime.GOMAXPROCS(0)
	}))
	if err != nil {
		return 0, false
	}
	undo()
	return cpus, ok
}

// What others may use while nothing is measured before it is worth a line, and before it spoils figures.
const (
	otherNote = 0.05
	otherBad  = 0.25
	stealNote = 0.02
	bounceFar = 800.0
)

func aboutNow(now *Now) []host.Finding {
	var out []host.Finding
	if c := now.OtherCPUs; c != nil {
		f := host.Finding{ID: "load", Level: host.OK, Fact: fmt.Sprintf("other processes use %.2f CPUs right now", *c), Meaning: "as good as idle"}
		if *c > otherNote {
			f.Level, f.Meaning = host.Note, "runs beside them are flagged and repeated as far as the budget goes"
			f.Fix = "top -o %CPU"
		}
		if *c > otherBad {
			f.Level, f.Meaning = host.Bad, "they take CPU from the workers at high T first: a loss that is not the program's"
		}
		out = append(out, f)
	}
	if c := now.StealCPUs; c != nil && *c > stealNote {
		out = append(out, host.Finding{
			ID: "steal", Level: host.Note, Fact: fmt.Sprintf("the hypervisor takes %.2f CPUs right now", *c),
			Meaning: "other guests of the host compete: runs are flagged where it is much", Fix: "",
		})
	}
	if b := now.BounceNS; b != nil {
		f := host.Finding{
			ID: "bounce", Level: host.OK, Fact: fmt.Sprintf("a cache line takes %.0f ns from core to core", *b),
			Meaning: "this is what each hand-over of a lock, channel or shared counter costs at least",
		}
		if *b > bounceFar {
			f.Level, f.Meaning = host.Note, "far more than hardware takes: one of the two CPUs was busy with something else"
		}
		out = append(out, f)
	}
	return out
}

// crossCheck compares what was read with what Go's runtime and automaxprocs found by themselves.
func crossCheck(info host.Info, procs int, now *Now) []host.Finding {
	var out []host.Finding
	if info.EnvProcs == "" && info.GoProcs > 0 && procs != info.GoProcs {
		out = append(out, host.Finding{
			ID: "go-default", Level: host.Note, Fact: fmt.Sprintf("Go runs here with GOMAXPROCS=%d, by its rule it would be %d", procs, info.GoProcs),
			Meaning: "GODEBUG=containermaxprocs=0 does this, or a limit that changed just now",
		})
	}
	if q := now.QuotaCPUs; q != nil && (info.LeafQuotaCPUs == nil || math.Abs(*info.LeafQuotaCPUs-*q) > 1e-9) {
		out = append(out, host.Finding{
			ID: "quota-check", Level: host.Note, Fact: fmt.Sprintf("automaxprocs sees a CPU quota of %.4g CPUs, scaleprof another", *q),
			Meaning: "one of the two reads the wrong group: trust neither before looking at cpu.max yourself",
		})
	}
	return out
}

// ceilingRounds is how often each kernel is run; the fastest counts.
const ceilingRounds = 3

// ceiling runs the kernels at T=1, at half of the CPUs and at all of them.
func ceiling(ctx context.Context, info host.Info) ([]record.KernelRun, error) {
	s, err := kernel.Calibrate(ctx, info, kernel.Config{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []record.KernelRun
	last := 0
	for _, t := range []int{1, info.CPUs / 2, info.CPUs} {
		if t <= last {
			continue
		}
		last = t
		var best []record.KernelRun
		for round := range ceilingRounds {
			runs, err := s.All(ctx, t, 0)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				best = runs
			}
			for i := range runs {
				if runs[i].WallNS < best[i].WallNS {
					best[i] = runs[i]
				}
			}
		}
		out = append(out, best...)
	}
	return out, nil
}
