// Package child runs one process's share of a built-in workload and records
// its window: the other end of internal/capture's Processes.
package child

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/felixge/fgprof"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/host/counters"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// Run does what the Spec named in the environment asks for, with workloads of
// the registry, and reports over the control pipe. An error has been reported too
// where that was possible. The process is to exit after Run: after an error,
// workers may still be running.
func Run(reg *workload.Registry) error {
	c, err := recorder.OpenChild()
	if err != nil {
		return err
	}
	if err := run(c, reg); err != nil {
		return c.Fail(err)
	}
	return nil
}

func run(c *recorder.Child, reg *workload.Registry) error {
	s := c.Spec
	// The clock of a process that is measured whole has started already: its
	// Recorder comes first. Else it comes last, after the warm-up.
	whole := s.Startup && s.Warm == 0
	var rec *recorder.Recorder
	if whole {
		rec = newRecorder(c, nil, true)
		if err := rec.Arm(); err != nil {
			return err
		}
		rec.Begin()
	}
	inst, err := prepare(reg, s)
	if err != nil {
		return err
	}
	if err := warm(inst, s); err != nil {
		return fmt.Errorf("%s: warming up: %w", s.Target, err)
	}
	warnings := []string(nil)
	if !whole {
		hw, warning := openCounters(s)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		rec = newRecorder(c, hw, false)
		if err := rec.Arm(); err != nil {
			return err
		}
	}
	gate := c.Ready
	if s.Startup {
		// The clock covers the creation of the workers, and they wait for nobody.
		if err := c.Ready(); err != nil {
			return err
		}
		if !whole {
			rec.Begin()
		}
	}
	lanes, err := rec.Run(s.Workers, s.Pin, gate, func(w int) (int64, uint64) {
		lo, hi := share(s.Lo, s.Hi, s.Workers, w)
		t := inst.Work(w, lo, hi)
		return t.Ops, t.Sum
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.Target, err)
	}
	if err := c.Done(); err != nil {
		return err
	}
	res, err := rec.Finish()
	if err != nil {
		return err
	}
	if err := inst.Close(); err != nil {
		return fmt.Errorf("%s: %w", s.Target, err)
	}
	res.Process, res.Lanes, res.Warnings = s.Process, lanes, append(warnings, res.Warnings...)
	if err := tally(res, s); err != nil {
		return err
	}
	return c.Result(res)
}

func prepare(reg *workload.Registry, s *recorder.Spec) (workload.Instance, error) {
	w, err := reg.Lookup(s.Target)
	if err != nil {
		return nil, err
	}
	values := maps.Clone(s.Params)
	if len(s.Delay) > 0 {
		if values == nil {
			values = make(map[string]string)
		}
		if err := delay(w.Info(), s.Delay, values); err != nil {
			return nil, err
		}
	}
	if err := workload.CheckParams(w, values); err != nil {
		return nil, err
	}
	inst, err := w.Prepare(workload.Params{
		Workers: s.Workers, Ops: s.Hi - s.Lo, Total: s.Total, Values: values, Seed: s.Seed,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Target, err)
	}
	return inst, nil
}

// delay turns a known cost added to a cause into the workload's parameter for it.
func delay(info workload.Info, ns map[string]int64, values map[string]string) error {
	for cause, n := range ns {
		found := false
		for _, d := range info.Delay {
			found = found || d == cause
		}
		if !found {
			return fmt.Errorf("%s has no hook to delay %s", info.Name, cause)
		}
		values["delay_ns"] = strconv.FormatInt(n, 10)
	}
	return nil
}

// share is worker w's part of [lo, hi): parts differ by at most one operation.
func share(lo, hi int64, workers, w int) (int64, int64) {
	each, rest := (hi-lo)/int64(workers), (hi-lo)%int64(workers)
	at := func(i int64) int64 { return lo + each*i + min(rest, i) }
	return at(int64(w)), at(int64(w) + 1)
}

// warm lets all workers do their first operations at the same time: compilers
// and caches of the libraries are then as they stay. A worker's warm-up is the
// first of its own operations; one with no part in it waits for the window.
func warm(inst workload.Instance, s *recorder.Spec) error {
	if s.Warm == 0 {
		return nil
	}
	done := make(chan error)
	started := 0
	var asked int64
	var did atomic.Int64
	for w := range s.Workers {
		wlo, whi := share(0, s.Warm, s.Workers, w)
		lo, hi := share(s.Lo, s.Hi, s.Workers, w)
		hi = min(hi, lo+whi-wlo)
		if lo == hi {
			continue
		}
		started++
		asked += hi - lo
		go func() {
			var err error
			ended := false
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("worker %d panicked: %v", w, v)
				} else if !ended {
					err = fmt.Errorf("worker %d ended before its work was done", w)
				}
				done <- err
			}()
			did.Add(inst.Work(w, lo, hi).Ops)
			ended = true
		}()
	}
	for range started {
		if err := <-done; err != nil {
			return err
		}
	}
	if n := did.Load(); n > asked {
		return fmt.Errorf("the workers counted %d operations where %d were asked for", n, asked)
	}
	return nil
}

// tally adds up the lanes and refuses a run that did less or more than it should
// have. Workers may take operations from one another, so only the sum is held to it.
func tally(res *recorder.Result, s *recorder.Spec) error {
	for _, l := range res.Lanes {
		res.Ops += l.Ops
		res.Checksum += l.Checksum
	}
	if res.Ops != s.Hi-s.Lo {
		return fmt.Errorf("%s: the workers did %d of %d operations", s.Target, res.Ops, s.Hi-s.Lo)
	}
	return nil
}

func newRecorder(c *recorder.Child, hw recorder.Counters, whole bool) *recorder.Recorder {
	s := c.Spec
	return recorder.New(recorder.Options{
		Profiles: s.Profile, Dir: s.Dir, Suffix: c.Suffix(), Counters: hw, Wall: wall,
		Process: s.Process, Processes: s.Threads / s.Workers,
		Whole: whole, NoClosingGC: s.Startup,
	})
}

// openCounters opens the performance counters where they are asked for. That
// the machine denies them is no fault of the run; the host's description says so.
func openCounters(s *recorder.Spec) (recorder.Counters, string) {
	if !s.Counters {
		return nil, ""
	}
	hw, err := counters.Open(0)
	if err != nil {
		if errors.Is(err, counters.ErrUnsupported) {
			return nil, ""
		}
		return nil, fmt.Sprintf("performance counters: %v", err)
	}
	return hw, ""
}

// minWall is the shortest window for a wall-clock profile: below it there may be not one sample,
// and fgprof then divides by their rate.
const minWall = 10 * time.Millisecond

// wall is the recorder's hook for the wall-clock profile.
func wall(w io.Writer) func() error {
	begin := time.Now()
	stop := fgprof.Start(w, fgprof.FormatPprof)
	return func() (err error) {
		length := time.Since(begin)
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("left out: no sample in a window of %s", length.Round(time.Microsecond))
			}
		}()
		if err = stop(); err != nil {
			return err
		}
		if length < minWall {
			return fmt.Errorf("left out: a window of %s is too short for it", length.Round(time.Microsecond))
		}
		return nil
	}
}
