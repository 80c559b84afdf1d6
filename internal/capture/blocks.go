package capture

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/scaleprof/scaleprof/internal/record"
)

// pilotBlocks are the blocks before arms are chosen: enough runs and profiles
// to see which causes are worth an experiment.
const pilotBlocks = 1

// finish makes all that is left of the plan, and says so in the manifest.
func (s *session) finish(ctx context.Context) error {
	err := s.blocks(ctx)
	if err == nil {
		s.summarise()
		s.m.Complete = true
	}
	// What is complete is kept whatever happened.
	saveErr := s.save()
	if ctx.Err() != nil && saveErr == nil {
		return &Interrupted{Dir: s.opts.shown(s.store.Dir()), Runs: s.good(), Err: context.Cause(ctx)}
	}
	if err != nil {
		return err // a disk that is full would only be told twice
	}
	return saveErr
}

func (s *session) blocks(ctx context.Context) error {
	// An interrupted block first: its order was drawn when it began.
	if err := s.runSchedule(ctx); err != nil {
		return err
	}
	for {
		b := s.nextBlock()
		if b >= 1 && (s.good() == 0 || len(s.timed()) == 0) {
			return fmt.Errorf("%w: %s", ErrNothing, s.firstError())
		}
		if s.enough(b) {
			break
		}
		if err := s.maybeChooseArms(ctx, b); err != nil {
			return err
		}
		if err := s.runBlock(ctx, b, s.blockItems(b)); err != nil {
			return err
		}
	}
	// Profiled runs that the blocks had no room for: without one there is no cause.
	return s.runOwed(ctx)
}

// nextBlock is the first block that is not in the schedule.
func (s *session) nextBlock() int {
	next := 0
	for _, p := range s.m.Schedule {
		next = max(next, p.Block+1)
	}
	return next
}

// plannedBlocks is the number of blocks that profiled runs are spread over.
func (s *session) plannedBlocks() int {
	switch {
	case s.m.Plan.Blocks > 0:
		return s.m.Plan.Blocks
	case s.quick():
		return quickBlocks
	}
	return MinBlocks
}

// quickBlocks is what --quick aims at: no interval, but a median.
const quickBlocks = 3

// enough says whether the timed blocks made so far will do.
func (s *session) enough(made int) bool {
	if s.m.Plan.Blocks > 0 {
		return made >= s.m.Plan.Blocks
	}
	if made == 0 {
		return false
	}
	if made >= MinBlocks {
		// Arms want as many blocks as the baseline for intervals of their own.
		if widest(s.m, made) <= s.m.Plan.Precision && s.armBlocks() >= MinBlocks {
			return true
		}
	}
	limit := s.budget()
	if made < MinBlocks && !s.quick() {
		// An interval is worth a little more than was asked for.
		limit += limit / 10
	}
	return s.spent()+s.blockCost()+s.costOf(s.reserved()) > limit
}

// armBlocks is the least number of timed observations of an arm's cell, or a
// large number when there are no arms, or none are to come.
func (s *session) armBlocks() int {
	least := math.MaxInt
	for id, c := range s.cells {
		if c.Arm != record.Baseline && !s.givenUp(id) {
			least = min(least, s.made(id, record.Timed))
		}
	}
	return least
}

// made counts the runs of a cell that succeeded or failed for good.
func (s *session) made(cell string, kind record.Kind) int {
	n := 0
	for i := range s.m.Runs {
		if r := &s.m.Runs[i]; r.Cell == cell && r.Kind == kind && !r.Rerun {
			n++
		}
	}
	return n
}

// good counts the runs that succeeded.
func (s *session) good() int {
	n := 0
	for i := range s.m.Runs {
		if s.m.Runs[i].Error == "" {
			n++
		}
	}
	return n
}

func (s *session) firstError() string {
	for i := range s.m.Runs {
		if s.m.Runs[i].Error != "" {
			return s.m.Runs[i].Error
		}
	}
	return "there was nothing to run"
}

// attempts is how often a cell may fail, without a single success, before it is
// given up: a hang costs its whole timeout.
const attempts = 2

// givenUp says whether a cell has only ever failed, often enough.
func (s *session) givenUp(cell string) bool {
	failed := 0
	for i := range s.m.Runs {
		r := &s.m.Runs[i]
		if r.Cell != cell {
			continue
		}
		if r.Error == "" {
			return false
		}
		failed++
	}
	return failed >= attempts
}

// timed is one timed run of each baseline cell.
func (s *session) timed() []item {
	var items []item
	for _, c := range s.m.Cells {
		if c.Arm == record.Baseline && !s.givenUp(c.ID) {
			items = append(items, item{cell: c.ID, kind: record.Timed})
		}
	}
	return items
}

// extraKinds are the kinds of profiled runs.
func extraKinds() []record.Kind {
	return []record.Kind{record.Profiled, record.Events, record.Wall}
}

// owed lists the profiled runs that are due by the end of a block and not made.
func (s *session) owed(block, blocks int) []item {
	var items []item
	for _, kind := range extraKinds() {
		for _, c := range s.m.Cells {
			early := kind != record.Wall && c.Mode == record.Thread || blocks == 1
			n := due(s.wanted(&c, kind), block, blocks, early) - s.made(c.ID, kind)
			for range n {
				items = append(items, s.extra(c, kind))
			}
		}
	}
	return items
}

// extra is a profiled run of a cell.
func (s *session) extra(c record.Cell, kind record.Kind) item {
	it := item{cell: c.ID, kind: kind, profiles: s.profiles(c.Target, kind)}
	if l := s.load[c.Target]; l.heavy() && !s.targets[c.Target].FixedOps {
		it.ops = l.ops(s.target(c.Target).Ops, s.meanWall(c.ID), c.Threads)
	}
	return it
}

// meanWall is the mean wall time of a cell's timed runs, in ns, 0 without any.
func (s *session) meanWall(cell string) int64 {
	var sum, n int64
	for i := range s.m.Runs {
		if r := &s.m.Runs[i]; r.Cell == cell && r.Kind == record.Timed && r.Error == "" {
			sum += r.WallNS
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// reserved are the profiled runs that must still find room in the budget: one
// of each wanted kind for every cell that has none yet.
func (s *session) reserved() []item {
	var items []item
	for _, kind := range extraKinds() {
		for _, c := range s.m.Cells {
			if s.wanted(&c, kind) > 0 && s.made(c.ID, kind) == 0 {
				items = append(items, item{cell: c.ID, kind: kind})
			}
		}
	}
	return items
}

// blockItems decides what a block holds: a timed run of every baseline cell,
// the profiled runs that are due, and the arms that the budget leaves room for
// once the blocks for an interval are paid.
func (s *session) blockItems(b int) []item {
	items := s.timed()
	blocks := s.plannedBlocks()
	left := max(blocks-b, 1)
	// All that the rest of the plan needs without arms.
	need := time.Duration(left)*s.blockCost() + s.costOf(s.owed(max(blocks-1, b), blocks))
	spare := s.budget() - s.spent() - need*11/10 // predictions err
	limited := s.m.Plan.Blocks == 0              // --blocks is a promise, whatever it takes

	extras := s.owed(min(b, blocks-1), blocks)
	if limited && spare < 0 && b > 0 {
		// Too little time for everything: the first profile of each cell stays.
		kept := extras[:0]
		for _, it := range extras {
			if s.made(it.cell, it.kind) == 0 {
				kept = append(kept, it)
			}
		}
		extras = kept
	}
	items = append(items, extras...)

	allowance := spare / time.Duration(left)
	var used time.Duration
	for i, name := range s.m.Plan.Arms[1:] {
		var cells []item
		for _, c := range s.m.Cells {
			if c.Arm == name && !s.givenUp(c.ID) {
				cells = append(cells, item{cell: c.ID, kind: record.Timed})
			}
		}
		cost := s.costOf(cells)
		// The first arm may take more than its share of one block.
		fits := used+cost <= allowance || i == 0 && cost <= spare
		if limited && !fits {
			break
		}
		used += cost
		items = append(items, cells...)
	}
	return items
}

// runBlock draws a block's order, saves it and makes its runs.
func (s *session) runBlock(ctx context.Context, b int, items []item) error {
	s.show(true, s.blockText(b))
	s.m.Schedule = append(s.m.Schedule, order(items, s.m.Plan.Seed, b, len(s.m.Schedule))...)
	if err := s.save(); err != nil {
		return err
	}
	return s.runSchedule(ctx)
}

// runOwed makes profiled runs that are still missing in a block of their own,
// without timed runs, as far as the budget goes. The first profile of a cell is
// made in any case.
func (s *session) runOwed(ctx context.Context) error {
	b, blocks := s.nextBlock(), s.plannedBlocks()
	var items []item
	left := s.budget() - s.spent()
	for _, it := range s.owed(blocks-1, blocks) {
		cost := s.cost(it.cell, it.kind)
		if s.made(it.cell, it.kind) > 0 && (s.m.Plan.Blocks == 0 && left < cost) {
			continue
		}
		left -= cost
		items = append(items, it)
	}
	if len(items) == 0 {
		return nil
	}
	return s.runBlock(ctx, b, items)
}

// summarise records where the capture fell short of its plan.
func (s *session) summarise() {
	least := math.MaxInt
	for id, c := range s.cells {
		if c.Arm == record.Baseline && !s.givenUp(id) {
			least = min(least, s.made(id, record.Timed))
		}
	}
	for _, c := range s.m.Cells {
		if s.givenUp(c.ID) {
			s.warn("given-up", fmt.Sprintf("%s was given up: every run of it failed", c.ID), nil)
		}
	}
	if least < MinBlocks {
		s.warn("few-blocks", fmt.Sprintf("%s: below %d no interval can be given", plural(least, "timed block"), MinBlocks), nil)
	} else if w := widest(s.m, least); !(w <= s.m.Plan.Precision) && s.m.Plan.Blocks == 0 {
		s.warn("imprecise", fmt.Sprintf("the budget ended before every efficiency was known to ±%.1f%%: the widest interval is ±%.1f%%",
			100*s.m.Plan.Precision, 100*w), nil)
	}
	s.summariseArms()
}

// summariseArms names the arms that ran too seldom, those that ran equally
// often together.
func (s *session) summariseArms() {
	short := make(map[int][]string)
	for _, name := range s.m.Plan.Arms[1:] {
		n := math.MaxInt
		for id, c := range s.cells {
			if c.Arm == name {
				n = min(n, s.made(id, record.Timed))
			}
		}
		if n < MinBlocks {
			short[n] = append(short[n], name)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(short)) {
		names := strings.Join(short[n], ", ")
		if n == 0 {
			s.warn("arm-skipped", fmt.Sprintf("no time was left for %s; a larger --budget has it", names), nil)
			continue
		}
		s.warn("arm-few-blocks", fmt.Sprintf("%s of %s: below %d no interval can be given", plural(n, "block"), names, MinBlocks), nil)
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
