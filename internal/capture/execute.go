package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/record"
)

// runSchedule makes every scheduled run that is not made yet, in order.
func (s *session) runSchedule(ctx context.Context) error {
	made := make(map[int]bool, len(s.m.Runs))
	for i := range s.m.Runs {
		made[s.m.Runs[i].Seq] = true
	}
	// Repeats are appended while this goes on.
	for i := 0; i < len(s.m.Schedule); i++ {
		p := s.m.Schedule[i]
		if made[p.Seq] {
			continue
		}
		if err := s.kernels(ctx, p.Block); err != nil {
			return err
		}
		if err := s.runOne(ctx, p); err != nil {
			return err
		}
		made[p.Seq] = true
	}
	return nil
}

// runOne makes one run and saves it. Its error is fatal to the session: a run
// that fails is a run with an Error.
func (s *session) runOne(ctx context.Context, p record.Planned) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cell, ok := s.cells[p.Cell]
	if !ok {
		return fmt.Errorf("the schedule names an unknown cell %q", clip(p.Cell))
	}
	target := s.targets[cell.Target]
	tr := s.target(cell.Target)
	if target == nil || tr == nil {
		return fmt.Errorf("the schedule names an unknown target %q", clip(cell.Target))
	}
	id := p.Seq
	rel, abs, err := s.store.NewRun(id, cell.ID)
	if err != nil {
		return err
	}
	s.show(false, s.runText(p, &cell))
	job := &Job{
		Target: *tr, Cell: cell, Kind: p.Kind, Ops: tr.Ops, Warm: tr.Warm,
		Counters: s.m.Host.PerfCounters,
		Env:      s.env(&cell), Pin: cell.Pin, DelayNS: cell.DelayNS, Clock: Clock(s.m.Plan.Clock),
		Seed: int64(s.m.Plan.Seed), Dir: abs, Timeout: s.timeout,
	}
	if p.Ops > 0 {
		job.Ops = p.Ops
	}
	if p.Profiles != nil {
		job.Profiles = *p.Profiles
	}
	w := &window{m: s.opts.Machine}
	job.Window = w
	run := record.Run{
		ID: id, Cell: cell.ID, Kind: p.Kind, Block: p.Block, Seq: p.Seq, Started: time.Now().UTC(),
		Dir: rel, Rerun: p.Rerun, Profiles: p.Profiles,
	}
	begin := time.Now()
	out, err := target.Exec.Execute(ctx, job)
	elapsed := time.Since(begin)
	if ctx.Err() != nil {
		// Ended by the user: not a run. Resume makes it again.
		return errors.Join(ctx.Err(), os.RemoveAll(abs))
	}
	s.costs.add(cell.ID, p.Kind, elapsed)
	if err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		// Not the run's fault, and the next would end the same way. A process
		// tells its error in words only.
		return errors.Join(fmt.Errorf("run %d: %w", id, err), os.RemoveAll(abs))
	}
	if err != nil {
		run.Error = clip(err.Error())
		run.Files = s.stderrOnly(rel, abs)
		s.warn("run-failed", fmt.Sprintf("run %d (%s): %s", id, cell.ID, run.Error), &run.ID)
	} else {
		if err := s.fill(&run, out, w, rel, abs); err != nil {
			return err
		}
		run.Gates = s.opts.Gates(s.m, &run)
		s.load[cell.Target] = s.load[cell.Target].observe(s.store.Dir(), &run)
	}
	s.m.Runs = append(s.m.Runs, run)
	s.maybeRepeat(&run, p, elapsed)
	// A run without files needs no directory.
	if len(run.Files) == 0 {
		_ = os.Remove(abs)
	}
	return s.save()
}

// fill books what a run measured. Its error is one of the disk.
func (s *session) fill(run *record.Run, out *Outcome, w *window, rel, abs string) error {
	run.WallNS, run.Ops, run.Checksum = out.WallNS, out.Ops, out.Checksum
	run.Processes = out.Processes
	if w.closed {
		w.adopt(out)
		run.System = &w.system
		if t := out.Throttled; t != nil {
			// The run's own group is not among scaleprof's: add what it took.
			run.System.ThrottledNS = addTo(run.System.ThrottledNS, t.NS)
			run.System.NrThrottled = addTo(run.System.NrThrottled, t.Times)
		}
		run.System.ALUDrift = s.drift(s.cells[run.Cell].Threads, run.Block)
	}
	files, warnings, err := record.Collect(abs, rel, out.Files, time.Duration(out.WallNS))
	if err != nil {
		return err
	}
	run.Files = append(files, s.stderrOnly(rel, abs)...)
	warnings = append(warnings, out.Warnings...)
	for _, text := range slices.Compact(slices.Sorted(slices.Values(warnings))) {
		s.warn("run", fmt.Sprintf("run %d (%s): %s", run.ID, run.Cell, clip(text)), &run.ID)
	}
	return nil
}

func addTo(known *int64, more int64) *int64 {
	if known != nil {
		more += *known
	}
	return &more
}

// stderrOnly is what the processes printed, if anything.
func (s *session) stderrOnly(rel, abs string) []record.File {
	info, err := os.Lstat(filepath.Join(abs, stderrName))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []record.File{{Kind: "stderr", Path: path.Join(rel, stderrName), Bytes: info.Size()}}
}

// env is the environment of every process of a cell.
func (s *session) env(c *record.Cell) []string {
	return append([]string{fmt.Sprintf("GOMAXPROCS=%d", c.Procs)}, c.Env...)
}

// rerunShare is the part of the budget that repeats of disturbed runs may take:
// experiments need time too.
const rerunShare = 0.1

// futile says whether the machine is disturbed for good: most repeats were
// disturbed as well. More of them would take the time of runs that count.
func (s *session) futile() bool {
	const enough = 4
	made, clean := 0, 0
	for i := range s.m.Runs {
		if r := &s.m.Runs[i]; r.Rerun && r.Error == "" {
			made++
			if !gate.Rerunnable(r.Gates) {
				clean++
			}
		}
	}
	return made >= enough && 2*clean < made
}

// maybeRepeat schedules one repeat of a disturbed timed run at the end of its
// block, as far as the budget allows. Both runs stay in the manifest.
func (s *session) maybeRepeat(run *record.Run, p record.Planned, cost time.Duration) {
	if run.Kind != record.Timed || run.Rerun || run.Error != "" || !gate.Rerunnable(run.Gates) || s.targets[s.cells[run.Cell].Target].Quota {
		return
	}
	if s.futile() || s.reruns+cost > time.Duration(rerunShare*float64(s.budget())) {
		return
	}
	blocks := max(s.plannedBlocks()-p.Block-1, 0)
	if s.m.Plan.Blocks == 0 && s.spent()+cost+time.Duration(blocks)*s.blockCost()+s.costOf(s.reserved()) > s.budget() {
		return
	}
	s.reruns += cost
	again := p
	again.Seq, again.Rerun = len(s.m.Schedule), true
	s.m.Schedule = append(s.m.Schedule, again)
}

// kernels runs the calibration kernels of a block, before its first run.
func (s *session) kernels(ctx context.Context, block int) error {
	if s.opts.NoKernels || slices.ContainsFunc(s.m.Ceiling, func(k record.KernelRun) bool { return k.Block == block }) {
		return nil
	}
	s.show(false, fmt.Sprintf("block %d: calibration kernels", block+1))
	begin := time.Now()
	for _, t := range s.plan.threads {
		runs, err := s.opts.Machine.Kernels(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.warn("kernels", fmt.Sprintf("calibration kernels at T=%d: %v", t, err), nil)
			continue
		}
		for _, k := range runs {
			k.Block, k.Threads = block, t
			s.m.Ceiling = append(s.m.Ceiling, k)
		}
	}
	s.costs.addKernels(time.Since(begin))
	return nil
}

// drift is how much slower the ALU kernel ran in a block than in the median of
// the session so far, at one T; nil while there are fewer than three blocks.
func (s *session) drift(threads, block int) *float64 {
	var all []float64
	now := 0.0
	for _, k := range s.m.Ceiling {
		if k.Kernel != "alu" || k.Threads != threads || k.WallNS <= 0 || k.Ops <= 0 {
			continue
		}
		perOp := float64(k.WallNS) / float64(k.Ops)
		all = append(all, perOp)
		if k.Block == block {
			now = perOp
		}
	}
	if len(all) < 3 || now == 0 {
		return nil
	}
	slices.Sort(all)
	median := all[len(all)/2]
	if len(all)%2 == 0 {
		median = (median + all[len(all)/2-1]) / 2
	}
	d := now/median - 1
	return &d
}

// show reports progress.
func (s *session) show(phase bool, text string) {
	left, bound := s.left()
	s.opts.Progress.Show(Status{Phase: phase, Text: text, Spent: s.spent(), Left: left, Bound: bound})
}

// left is how much longer the capture takes: the rest of the budget at most,
// or with a given number of blocks what they are expected to cost.
func (s *session) left() (d time.Duration, bound bool) {
	if s.m.Plan.Blocks == 0 {
		return max(s.budget()-s.spent(), 0), true
	}
	made := make(map[int]bool, len(s.m.Runs))
	for i := range s.m.Runs {
		made[s.m.Runs[i].Seq] = true
	}
	for _, p := range s.m.Schedule {
		if !made[p.Seq] {
			d += s.cost(p.Cell, p.Kind)
		}
	}
	blocks := s.m.Plan.Blocks
	next := s.nextBlock()
	if rest := time.Duration(blocks - next); rest > 0 {
		d += rest * s.blockCost()
		for _, c := range s.m.Cells {
			if c.Arm != record.Baseline {
				d += rest * s.cost(c.ID, record.Timed)
			}
		}
		d += s.costOf(s.owed(blocks-1, blocks))
	}
	return d, false
}

func (s *session) blockText(b int) string {
	if s.m.Plan.Blocks > 0 {
		return fmt.Sprintf("block %d of %d", b+1, s.m.Plan.Blocks)
	}
	return fmt.Sprintf("block %d", b+1)
}

func (s *session) runText(p record.Planned, c *record.Cell) string {
	text := fmt.Sprintf("block %d: %s %s T=%d", p.Block+1, c.Target, c.Mode, c.Threads)
	if c.Arm != record.Baseline {
		text += " " + c.Arm
	}
	if p.Kind != record.Timed {
		text += ", " + string(p.Kind)
	}
	if p.Rerun {
		text += ", again"
	}
	return text
}
