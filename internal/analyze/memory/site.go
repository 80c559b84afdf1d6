package memory

import (
	"context"
	"strings"
)

// judge finds the access that a core waits for when it is sampled at an
// instruction, and of which kind the access is.
func (c *code) judge(at int, name func(uint64) string) (Kind, int) {
	if l, ok := c.innermost(at); ok {
		if access, ok := c.spins(l, name); ok {
			return Spin, access
		}
	}
	if j, ok := c.behindAtomic(at); ok {
		return Atomic, j
	}
	if c.insns[at].atomic {
		// The operation has not begun: it waits for a page or for earlier
		// stores, not for its line.
		return Other, at
	}
	best, access := Other, at
	for _, j := range c.waitsFor(at) {
		kind := Access
		if l, ok := c.innermost(j); ok {
			switch c.address(l, j) {
			case steady:
				kind = Shared
			case varying:
				kind = Stream
			}
		}
		// Among the accesses that may be meant, a walk through memory explains
		// waiting without another core's help.
		if kind > best {
			best, access = kind, j
		}
	}
	return best, access
}

// behindAtomic finds an atomic operation directly above, at most one
// instruction that touches no memory between.
func (c *code) behindAtomic(at int) (int, bool) {
	for j := at - 1; j >= 0 && j >= at-2; j-- {
		in := &c.insns[j]
		if in.atomic {
			return j, true
		}
		if in.memory() || in.call || in.jump || in.ret {
			break
		}
	}
	return 0, false
}

// lookBack is how far above an instruction the loads that it waits for are looked for.
const lookBack = 12

// waitsFor lists the accesses to shared memory that may hold an instruction up:
// the loads that make its operands, its own access, and the one right above.
func (c *code) waitsFor(at int) []int {
	var found []int
	add := func(j int) {
		if in := &c.insns[j]; in.memory() && !in.stack && !in.call {
			found = append(found, j)
		}
	}
	need := c.insns[at].reads
	if c.insns[at].call || c.insns[at].ret {
		need = 0
	}
	for j := at - 1; j >= 0 && j >= at-lookBack && need != 0; j-- {
		in := &c.insns[j]
		if in.call {
			break
		}
		if in.writes&need != 0 {
			add(j)
			need &^= in.writes
		}
	}
	add(at)
	if at > 0 {
		add(at - 1)
	}
	return found
}

// streams are functions that do nothing but walk through memory.
func streams(name string) bool {
	switch name {
	case "runtime.memmove", "memeqbody", "cmpbody", "indexbytebody", "countbody", "runtime.memequal":
		return true
	}
	return strings.HasPrefix(name, "runtime.memclr") || strings.HasPrefix(name, "internal/bytealg.")
}

// siteKey tells sites apart: an access, or a user's line that copies or clears.
type siteKey struct {
	kind   Kind
	pc     uint64
	source string
}

// sites adds the time at addresses up by the access that is to blame.
func (m *image) sites(ctx context.Context, addresses []*address) []located {
	index := map[siteKey]int{}
	var out []located
	for _, a := range addresses {
		if ctx.Err() != nil {
			break
		}
		s := m.siteOf(a)
		key := siteKey{s.Kind, s.PC, ""}
		if s.Kind == Stream && s.Instruction == "" {
			key.source = s.Source
		}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, located{Site: s, caller: callerOf(a.frames, s.Func)})
		}
		out[i].pcs = append(out[i].pcs, a.pc)
		out[i].base += a.base
		out[i].peak += a.peak
	}
	return out
}

// callerOf is the function that called the one that holds the sampled
// instruction; frames of functions inlined into that one come first.
func callerOf(frames []frame, fn string) string {
	for i := range frames[:max(0, min(len(frames)-1, inlineDepth))] {
		if sameFunction(fn, frames[i].Func) {
			return frames[i+1].Func
		}
	}
	return ""
}

// siteOf looks one address up. An address that no function holds, or that is no
// instruction's, is of no kind.
func (m *image) siteOf(a *address) Site {
	pc := a.pc - m.slide
	s := Site{PC: pc, Source: userSource(a.frames)}
	f, ok := m.function(pc)
	if !ok {
		return s
	}
	s.Func = f.name
	if streams(f.name) {
		s.Kind, s.PC = Stream, f.entry
		return s
	}
	c := m.code(f)
	at := c.at(pc)
	if at < 0 {
		return s
	}
	kind, access := c.judge(at, m.nameAt)
	s.Kind = kind
	if kind == Other {
		return s
	}
	in := &c.insns[access]
	s.PC, s.Instruction = in.pc, in.text
	if source := m.source(in.pc); source != "" {
		s.Source = source
	}
	return s
}
