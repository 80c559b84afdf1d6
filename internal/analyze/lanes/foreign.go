package lanes

// foreign accounts for programs that carry no marks: the goroutines of the last
// b.RunParallel are the lanes, or, where there is none, the Ps.
type foreign struct {
	byStart bool // the lanes are RunParallel's goroutines
}

func newForeign() *foreign { return &foreign{} }

const runParallel = "testing.(*B).RunParallel.func1"

// born makes a goroutine of RunParallel a lane. The first one after all earlier
// ones have died begins a new window: the last batch is the one that counts, as
// benchmarks are run with a small count first.
func (f *foreign) born(a *pass, g *goroutine, now int64) {
	if g.start == 0 || a.closed {
		return
	}
	frames := a.stacks.infos[g.start].stack.Frames
	if frames[0].Func != runParallel {
		return
	}
	if a.working == 0 {
		f.byStart = true
		a.perProc = false
		a.live.each(func(o *goroutine) {
			o.lane, o.owner, o.serves = -1, -1, false
			if o.class == classLane || o.class == classChild {
				a.reclass(o, classOther)
			}
		})
		a.lanes = nil
		a.samples.waiting = 0
		a.openWindow(now)
	}
	a.laneBegins(g.id, now)
}

// died freezes the window when the batch has ended; a later batch begins anew.
func (f *foreign) died(a *pass) {
	if f.byStart && a.on && a.working == 0 {
		a.gc.close(a.end)
		a.on = false
	}
}
