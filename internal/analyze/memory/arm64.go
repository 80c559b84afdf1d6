package memory

import (
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// decodeARM64 decodes a function that begins at pc. Words that the decoder does
// not know, the single-instruction atomics among them, are told by their bits:
// Arm Architecture Reference Manual, C4.1.94 "Loads and Stores".
func decodeARM64(text []byte, pc uint64) (insns []insn, whole bool) {
	for ; len(text) >= 4; text, pc = text[4:], pc+4 {
		insns = append(insns, arm64Insn(binary.LittleEndian.Uint32(text), pc))
	}
	for j := 1; j < len(insns); j++ {
		a, b := &insns[j-1], &insns[j]
		switch {
		case a.atomic && a.store && !a.load && b.jump && b.reads == a.writes:
			// The retry of an exclusive store is part of the operation, not a loop.
			b.target = 0
		case a.load && !a.store && a.addr == 1<<armTemp && a.size == 4 && b.jump && b.reads == a.writes:
			// The test for single-instruction atomics reads a flag that nobody writes.
			a.stack = true
		}
	}
	return insns, len(text) == 0
}

const (
	armSP   = 31
	armG    = 28 // holds the goroutine
	armTemp = 27 // the assembler's own
)

func arm64Insn(w uint32, pc uint64) insn {
	i := insn{pc: pc, size: 4, text: arm64Text(w)}
	rd, rn, rm := w&31, w>>5&31, w>>16&31
	bit := func(r uint32) regs {
		if r == 31 {
			return 0 // the zero register, or the stack pointer, which is told by i.stack
		}
		return 1 << r
	}
	branch := func(bits uint, shift uint) uint64 {
		off := int64(int32(w<<(32-bits-shift))) >> (32 - bits)
		return pc + uint64(off*4)
	}
	switch {
	case w&0xFC000000 == 0x94000000: // BL
		i.call, i.writes, i.target = true, ^regs(0), branch(26, 0)
	case w&0xFFFFFC1F == 0xD63F0000: // BLR
		i.call, i.writes, i.reads = true, ^regs(0), bit(rn)
	case w&0xFC000000 == 0x14000000: // B
		i.jump, i.target = true, branch(26, 0)
	case w&0xFF000010 == 0x54000000: // B.cond
		i.jump, i.target = true, branch(19, 5)
	case w&0x7E000000 == 0x34000000: // CBZ, CBNZ
		i.jump, i.target, i.reads = true, branch(19, 5), bit(rd)
	case w&0x7E000000 == 0x36000000: // TBZ, TBNZ
		i.jump, i.target, i.reads = true, branch(14, 5), bit(rd)
	case w&0xFFFFFC1F == 0xD61F0000: // BR
		i.jump, i.reads = true, bit(rn)
	case w&0xFFFFFC1F == 0xD65F0000: // RET
		i.ret = true
	case w&0x0A000000 == 0x08000000:
		arm64Memory(&i, w, rd, rn, rm, bit)
	case w&0x1F000000 == 0x11000000: // ADD, SUB immediate
		i.reads, i.writes = bit(rn), bit(rd)
	case w&0x1F000000 == 0x10000000: // ADR, ADRP
		i.writes, i.fixed = bit(rd), true
	case w&0x1F800000 == 0x12000000: // logical, immediate
		i.reads, i.writes, i.fixed = bit(rn), bit(rd), rn == 31
	case w&0x1F800000 == 0x12800000: // MOVN, MOVZ, MOVK
		i.writes, i.fixed = bit(rd), true
	case w&0x1FE00000 == 0x1A800000: // CSEL, CSET
		i.reads, i.writes, i.fixed = bit(rn)|bit(rm), bit(rd), rn == 31 && rm == 31
	default: // data processing: one result, two sources
		i.reads, i.writes = bit(rn)|bit(rm), bit(rd)
		i.copy = w&0x7FE0FFE0 == 0x2A0003E0 // MOV is ORR with the zero register
	}
	return i
}

// arm64Memory decodes the class "loads and stores".
func arm64Memory(i *insn, w, rt, rn, rm uint32, bit func(uint32) regs) {
	i.addr = bit(rn)
	i.stack = rn == armSP || rn == armG
	i.place = "R" + strconv.Itoa(int(rn))
	if w&0x3B000000 == 0x39000000 { // unsigned offset, in units of the access
		i.place += "+" + strconv.Itoa(int(w>>10&0xFFF)<<(w>>30))
	}
	switch {
	case w&0x3B200C00 == 0x38200000, // LDADD, LDCLR, LDEOR, LDSET, SWP, …
		w&0x3FA07C00 == 0x08A07C00: // CAS
		i.atomic, i.load, i.store = true, true, true
		i.reads, i.writes = i.addr|bit(rm)|bit(rt), bit(rt)
		if w&0x3FA07C00 == 0x08A07C00 {
			i.writes = bit(rm)
		}
		i.fixed = w&0x3FA07C00 == 0x08A07C00 || w&0x3B20FC00 == 0x38208000
	case w&0x3F800000 == 0x08000000: // exclusive: the pair of a read-modify-write loop
		i.atomic, i.load, i.store = true, w&(1<<22) != 0, w&(1<<22) == 0
		i.reads = i.addr
		if i.load {
			i.writes = bit(rt)
		} else {
			i.reads |= bit(rt)
			i.writes = bit(rm)
			i.fixed = true
		}
	case w&0x3F800000 == 0x08800000: // LDAR, STLR
		i.load, i.store = w&(1<<22) != 0, w&(1<<22) == 0
		i.reads = i.addr
		if i.load {
			i.writes = bit(rt)
		} else {
			i.reads |= bit(rt)
		}
	case w&0x3B000000 == 0x18000000: // literal
		i.load, i.addr, i.writes = true, 0, bit(rt)
	default:
		vector := w&(1<<26) != 0
		pair := w&0x3A000000 == 0x28000000
		i.load = w&(1<<22) != 0
		if !pair && w&(1<<23) != 0 && !vector {
			i.load = true // sign-extending loads
		}
		i.store = !i.load
		i.reads = i.addr
		if w&0x3B200C00 == 0x38200800 { // register offset
			i.addr |= bit(rm)
			i.scaled = true
			i.reads = i.addr
		}
		if !pair && w&0x3B200400 == 0x38000400 || pair && w&(1<<23) != 0 && w&(1<<24) != 0 || pair && w&0x3B800000 == 0x28800000 {
			i.writes |= bit(rn) // pre- or post-indexed: the pointer steps
		}
		if i.load && !vector {
			i.writes |= bit(rt)
		} else if !vector {
			i.reads |= bit(rt)
		}
	}
}

// arm64Atomics names the single-instruction atomics by opcode.
var arm64Atomics = [8]string{"LDADD", "LDCLR", "LDEOR", "LDOR", "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN"}

func arm64Text(w uint32) string {
	width := [4]string{"B", "H", "W", "D"}[w>>30]
	order := [4]string{"", "L", "A", "AL"}[w>>22&3]
	switch {
	case w&0x3FA07C00 == 0x08A07C00:
		return "CAS" + [4]string{"", "A", "L", "AL"}[w>>22&1|w>>14&2] + width
	case w&0x3B20FC00 == 0x38208000:
		return "SWP" + order + width
	case w&0x3B208C00 == 0x38200000:
		return arm64Atomics[w>>12&7] + order + width
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], w)
	inst, err := arm64asm.Decode(b[:])
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(arm64asm.GoSyntax(inst, 0, nil, nil), " ")
	return name
}
