package memory

// regs is a set of registers: general ones at their number, vector registers
// from 32 on.
type regs uint64

// insn is an instruction as far as it matters here, the same for all machines.
type insn struct {
	pc     uint64
	size   int
	text   string // mnemonic in Go's spelling with LOCK where it has one
	atomic bool   // read-modify-write that no other core can come between
	load   bool   // reads memory
	store  bool   // writes memory
	stack  bool   // the memory is this goroutine's stack or its g, or never written: no other core changes it
	addr   regs   // registers of the memory operand's address
	scaled bool   // the address has an index
	place  string // the memory operand as text, to see that two accesses are of one place
	reads  regs   // with those of the address
	writes regs
	fixed  bool // writes a constant, or a flag's value: no progress from one turn of a loop to the next
	copy   bool // of one register to another
	call   bool
	target uint64 // of a jump or direct call, 0 if none or not known
	jump   bool   // conditional or not
	ret    bool
}

func (i *insn) memory() bool { return i.load || i.store }

// code is a function's instructions in order of address.
type code struct {
	name  string
	entry uint64
	insns []insn
	// whole says that every byte was decoded; else insns end at the first that was not.
	whole bool
}

// at finds the instruction at an address, -1 if there is none that begins there.
func (c *code) at(pc uint64) int {
	lo, hi := 0, len(c.insns)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.insns[mid].pc < pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(c.insns) && c.insns[lo].pc == pc {
		return lo
	}
	return -1
}
