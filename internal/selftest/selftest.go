// Package selftest asks whether scaleprof tells the truth on this machine: it
// captures workloads whose cause is known by construction, beside their fixed
// twins, explains them like any other, and compares.
package selftest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze"
	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// Options choose the workloads and how long each is looked at.
type Options struct {
	Registry *workload.Registry
	Names    []string // bad forms, in order
	Exe      string   // scaleprof itself, which runs the workloads
	CPUs     int
	Blocks   int           // timed blocks of each capture
	Window   time.Duration // of a run at full T
	Budget   time.Duration // of one workload
	Dir      string        // where captures are kept; "" removes each when it has been explained
	Version  string
	Progress capture.Progress
}

// Outcome is what one workload showed.
type Outcome struct {
	Name     string   `json:"name"`
	Expected string   `json:"expected"` // cause, group, alternatives separated by |, or "none"
	Named    string   `json:"named"`    // "" for none
	Verdict  string   `json:"verdict"`
	Status   Status   `json:"status"`
	Why      string   `json:"why,omitempty"`
	Base     int      `json:"base"`
	Peak     int      `json:"peak"`
	Bad      *float64 `json:"efficiency"`
	Fixed    *float64 `json:"efficiency_fixed"`
	// Predicted is the efficiency that the report promises without the cause;
	// it stands against Fixed.
	Predicted *float64 `json:"predicted"`
	Closure   *float64 `json:"closure_error"`
	// FixedNamed is the cause, if any, that the fixed twin was blamed for.
	FixedNamed string `json:"fixed_named,omitempty"`
}

// Status says whether the expectation held.
type Status string

// The statuses. Only Wrong fails a selftest.
const (
	Right   Status = "right"
	Wrong   Status = "wrong"   // another cause was named, or a control was blamed
	Unsure  Status = "unsure"  // the report says that it cannot tell, or the run was disturbed
	Hidden  Status = "hidden"  // this machine did not show the loss
	Skipped Status = "skipped" // cannot run here
)

// Run looks at each workload in turn and calls each with its outcome. It ends
// early only when ctx does.
func Run(ctx context.Context, opt Options, each func(Outcome)) error {
	for _, name := range opt.Names {
		o, err := one(ctx, opt, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			o.Status, o.Why = Skipped, err.Error()
		}
		each(o)
	}
	return nil
}

func one(ctx context.Context, opt Options, name string) (Outcome, error) {
	w, err := opt.Registry.Lookup(name)
	if err != nil {
		return Outcome{Name: name}, err
	}
	info := w.Info()
	o := Outcome{Name: name, Expected: info.Expect}
	if info.Unavailable != "" {
		o.Status, o.Why = Skipped, info.Unavailable
		return o, nil
	}
	targets := []string{name}
	if info.Twin != "" {
		targets = append(targets, info.Twin)
	}
	dir, err := captureOf(ctx, opt, info, targets)
	if err != nil {
		return o, err
	}
	if opt.Dir == "" {
		defer os.RemoveAll(dir)
	}
	c, err := record.Load(dir)
	if err != nil {
		return o, err
	}
	defer c.Close()
	r, err := analyze.Explain(ctx, c, analyze.Options{})
	if err != nil {
		return o, err
	}
	o.judge(r, info)
	return o, nil
}

// captureOf captures a workload and its twin side by side, in the same blocks.
func captureOf(ctx context.Context, opt Options, info workload.Info, names []string) (string, error) {
	peak := max(2, opt.CPUs)
	base := max(1, peak/2)
	if info.OverCPUs || info.MinPeak > peak {
		peak = max(info.MinPeak, 2*opt.CPUs)
		base = 1
	}
	parent := opt.Dir
	if parent == "" {
		parent = os.TempDir()
	}
	out := filepath.Join(parent, fmt.Sprintf("selftest-%s-%d.scaleprof", strings.ReplaceAll(info.Name, "/", "-"), time.Now().UnixNano()))
	opts := capture.Options{
		Threads: []int{base, peak}, Modes: []record.Mode{record.Thread, record.Process}, Blocks: opt.Blocks, Window: opt.Window, Budget: opt.Budget,
		Profiles: []string{"cpu", "trace"}, Out: out, Scaleprof: opt.Version, Seed: 1, Progress: opt.Progress,
	}
	if info.ProcsThreads {
		opts.ProcsRule = "threads"
	}
	if info.OverCPUs {
		opts.Modes = opts.Modes[:1]
	}
	for _, n := range names {
		w, err := opt.Registry.Lookup(n)
		if err != nil {
			return "", err
		}
		t, err := capture.WorkloadTarget(w, nil, opt.Exe)
		if err != nil {
			return "", err
		}
		// The twin's part is its efficiency in threads; processes would only take time.
		t.ThreadsOnly = n != info.Name
		opts.Targets = append(opts.Targets, t)
	}
	return capture.Run(ctx, opts)
}

// judge compares what the report says with what is known.
func (o *Outcome) judge(r *report.Report, info workload.Info) {
	bad, fixed := find(r, info.Name), find(r, info.Twin)
	if bad == nil {
		o.Status, o.Why = Skipped, "no comparison was made"
		return
	}
	o.Base, o.Peak, o.Bad, o.Closure, o.Verdict = bad.Base, bad.Peak, &bad.Efficiency, bad.ClosureError, bad.Verdict.Text
	if bad.Verdict.Cause != nil {
		o.Named = *bad.Verdict.Cause
	}
	if bad.Potential != nil {
		o.Predicted = &bad.Potential.WithoutCauseEfficiency
	}
	if fixed != nil {
		o.Fixed = &fixed.Efficiency
		if fixed.Verdict.Cause != nil {
			o.FixedNamed = *fixed.Verdict.Cause
		}
	}
	o.Status, o.Why = status(bad, o.Expected)
}

func find(r *report.Report, target string) *report.Comparison {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Target == target && c.Mode == string(record.Thread) {
			return c
		}
	}
	return nil
}

// status says whether the verdict matches the expectation.
func status(c *report.Comparison, expected string) (Status, string) {
	named := ""
	if c.Verdict.Cause != nil {
		named = *c.Verdict.Cause
	}
	if expected == "none" || expected == "" {
		// Naming the machine is no blame: that is what a control is for.
		if named == "" || strings.HasPrefix(named, "hardware/") || strings.HasPrefix(named, "os/") {
			return Right, ""
		}
		return Wrong, "a control was blamed"
	}
	switch {
	case named == "" && c.Verdict.Confidence == "unclear":
		return Unsure, c.Verdict.Text
	case named == "":
		return Hidden, "this machine did not show the loss"
	case Matches(expected, named, c.Verdict.Group):
		return Right, ""
	case strings.HasPrefix(named, "os/"):
		return Unsure, "the machine was busy with something else: " + named
	}
	return Wrong, fmt.Sprintf("%s was named", named)
}

// Matches reports whether a named cause or its group is among the expected
// ones: IDs or groups, separated by |.
func Matches(expected, named string, group *string) bool {
	for want := range strings.SplitSeq(expected, "|") {
		if want == named || group != nil && want == *group {
			return true
		}
	}
	return false
}
