package memory

// loop is the instructions from a backward jump's target to the jump. The
// compiler lays loops out in one piece, so that this is the loop's body, at times
// with a cold exit inside.
type loop struct{ first, last int }

// innermost finds the smallest loop around an instruction.
func (c *code) innermost(at int) (loop, bool) {
	best, found := loop{}, false
	// A jump from far below could only close a larger loop than one found; the
	// bound keeps a function of many jumps from costing its square.
	for j := at; j < len(c.insns) && j < at+maxLoop; j++ {
		if found && j-best.first > best.last-best.first {
			break
		}
		in := &c.insns[j]
		if !in.jump || in.target == 0 || in.target > in.pc {
			continue
		}
		first := c.at(in.target)
		if first < 0 || first > at {
			continue
		}
		if l := (loop{first, j}); !found || l.last-l.first < best.last-best.first {
			best, found = l, true
		}
	}
	return best, found
}

// maxLoop is the length in instructions of the longest loop that is looked for.
const maxLoop = 1024

// trend is what happens to a value from one turn of a loop to the next.
type trend uint8

const (
	unknown trend = iota
	steady        // the same in each turn
	varying       // another one in each turn
)

// address tells whether the memory operand of an instruction is the same place
// in each turn of the loop.
func (c *code) address(l loop, at int) trend {
	t := tracer{c: c, l: l}
	return t.of(at, c.insns[at].addr, false)
}

// value is the same for what an instruction reads beside an address.
func (c *code) value(l loop, at int, set regs) trend {
	t := tracer{c: c, l: l}
	return t.of(at, set, false)
}

// writer finds the instruction of the loop that made a register as another one
// reads it: above it in this turn, or else below it in the turn before. It is -1
// where the register was made before the loop.
func (c *code) writer(l loop, at int, r regs) int {
	for j := at - 1; j >= l.first; j-- {
		if c.insns[j].writes&r != 0 {
			return j
		}
	}
	for j := l.last; j >= at; j-- {
		if c.insns[j].writes&r != 0 {
			return j
		}
	}
	return -1
}

// tracer follows a value back through the loop's instructions. A value that
// comes back to an instruction on the way has gone around the loop: it changes,
// unless it was only copied.
type tracer struct {
	c    *code
	l    loop
	path []step
	seen int // instructions looked at
}

type step struct {
	at     int
	worked bool // something other than a copy lies before it on the path
}

// A value is followed through at most maxTrace instructions, and about maxSeen
// are looked at in all: paths fork where an instruction reads several registers.
const (
	maxTrace = 12
	maxSeen  = 5000
)

// of is the worst of the trends of some registers as an instruction reads them.
// worked says that the path so far holds more than copies.
func (t *tracer) of(at int, set regs, worked bool) trend {
	result := steady
	for r := regs(1); r != 0 && r <= set; r <<= 1 {
		if set&r == 0 {
			continue
		}
		switch t.register(at, r, worked) {
		case varying:
			return varying
		case unknown:
			result = unknown
		}
	}
	return result
}

func (t *tracer) register(at int, r regs, worked bool) trend {
	if len(t.path) == maxTrace || t.seen > maxSeen {
		return unknown
	}
	t.seen += t.l.last - t.l.first + 1
	w := t.c.writer(t.l, at, r)
	if w < 0 {
		return steady
	}
	for _, s := range t.path {
		if s.at == w {
			if worked && !s.worked || s.worked || !t.c.insns[w].copy {
				return varying
			}
			return steady
		}
	}
	in := &t.c.insns[w]
	switch {
	case in.call:
		return unknown
	case in.fixed && !in.memory():
		return steady
	}
	t.path = append(t.path, step{w, worked})
	defer func() { t.path = t.path[:len(t.path)-1] }()
	worked = worked || !in.copy
	if in.load && in.stack {
		// Reloaded from where it was spilled: what the loop stores there, if anything.
		for j := t.l.last; j >= t.l.first; j-- {
			if s := &t.c.insns[j]; s.store && s.stack && s.place == in.place {
				return t.of(j, s.reads&^s.addr, worked)
			}
		}
		return steady
	}
	return t.of(w, in.reads, worked)
}

// maxSpin is the length in instructions of the longest loop that counts as spinning.
const maxSpin = 40

// yields are functions that a spinning loop may call between two tries.
var yields = map[string]bool{
	"runtime.Gosched": true, "runtime.procyield": true, "runtime.osyield": true, "sync.runtime_doSpin": true, "time.Sleep": true,
	"runtime.timeSleep": true, "internal/sync.runtime_doSpin": true,
	// What Gosched becomes where it is inlined.
	"runtime.mcall": true,
}

// spins tells whether a loop only waits for a value in memory: it compares what
// it loads, writes nothing but a constant by an atomic operation, and makes no
// progress otherwise. name finds the function that a call goes to. It returns the
// access that waits.
func (c *code) spins(l loop, name func(uint64) string) (access int, ok bool) {
	if l.last-l.first >= maxSpin {
		return 0, false
	}
	access = -1
	place := ""
	for j := l.first; j <= l.last; j++ {
		in := &c.insns[j]
		if in.call && (in.target == 0 || !yields[name(in.target)]) || in.ret {
			return 0, false
		}
		if in.call || in.stack || !in.memory() {
			continue
		}
		if place != "" && in.place != place {
			return 0, false // more than one variable: there is work in it
		}
		place = in.place
		switch {
		case in.atomic && in.store && !in.fixed:
			return 0, false // an addition succeeds each time
		case in.store && !in.atomic:
			return 0, false
		case in.atomic:
			if c.value(l, j, in.reads&^in.addr&^in.writes) != steady {
				return 0, false // stores something computed: a compare-and-swap that updates
			}
			access = j
		case access < 0:
			access = j
		}
	}
	if access < 0 || c.address(l, access) != steady {
		return 0, false
	}
	// What was loaded may be compared, and nothing else: a loop that uses it works.
	compared := false
	for j := l.first; j <= l.last; j++ {
		in := &c.insns[j]
		direct := in.load && in.writes == 0 && !in.stack
		if in.call || !direct && !c.readsLoaded(l, j) {
			continue
		}
		switch {
		case in.jump, in.writes == 0 && !in.store:
			compared = true
		case in.atomic, in.fixed:
		default:
			return 0, false
		}
	}
	return access, compared || c.insns[access].atomic
}

// readsLoaded tells whether an instruction reads a register that was last
// written from memory that others write too.
func (c *code) readsLoaded(l loop, at int) bool {
	set := c.insns[at].reads
	for r := regs(1); r != 0 && r <= set; r <<= 1 {
		if set&r == 0 {
			continue
		}
		if w := c.writer(l, at, r); w >= 0 && c.insns[w].memory() && !c.insns[w].stack && !c.insns[w].call {
			return true
		}
	}
	return false
}
