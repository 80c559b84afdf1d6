package memory

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// decodeAMD64 decodes a function that begins at pc.
func decodeAMD64(text []byte, pc uint64) (insns []insn, whole bool) {
	for len(text) > 0 {
		inst, err := x86asm.Decode(text, 64)
		if err != nil || inst.Len <= 0 || inst.Len > len(text) {
			n, load := vexLength(text)
			if n == 0 {
				return insns, false
			}
			insns = append(insns, insn{pc: pc, size: n, text: "VEX", load: load, writes: ^regs(0)})
			text, pc = text[n:], pc+uint64(n)
			continue
		}
		insns = append(insns, amd64Insn(inst, pc))
		text, pc = text[inst.Len:], pc+uint64(inst.Len)
	}
	return insns, true
}

func amd64Insn(x x86asm.Inst, pc uint64) insn {
	i := insn{pc: pc, size: x.Len}
	locked := false
	for _, p := range x.Prefix {
		if p == 0 {
			break
		}
		if p&0xff == x86asm.PrefixLOCK&0xff && p&x86asm.PrefixIgnored == 0 {
			locked = true
		}
	}
	i.text = goMnemonic(x, locked)

	mem := -1
	for n, a := range x.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			mem = n
			i.addr = regOf(a.Base) | regOf(a.Index)
			i.scaled = a.Index != 0
			i.stack = a.Base == x86asm.RSP || a.Base == x86asm.RBP || a.Base == x86asm.R14 || a.Segment == x86asm.FS
			i.place = a.String()
			if a.Base == x86asm.RIP {
				// The same variable has another displacement at each instruction.
				i.place = "global"
				i.addr = 0
			}
			i.reads |= i.addr
		case x86asm.Reg:
			i.reads |= regOf(a)
		case x86asm.Rel:
			i.target = pc + uint64(x.Len) + uint64(int64(a))
		}
	}
	amd64Effects(&i, x, mem)
	// XCHG with memory locks the line without a prefix.
	i.atomic = mem >= 0 && i.store && (locked || x.Op == x86asm.XCHG)
	if i.atomic {
		i.load = true
	}
	return i
}

// amd64Effects sets what the instruction reads and writes; mem is the index of
// its memory operand, -1 if it has none.
func amd64Effects(i *insn, x x86asm.Inst, mem int) {
	dst := regs(0)
	if r, ok := x.Args[0].(x86asm.Reg); ok {
		dst = regOf(r)
	}
	_, immediate := x.Args[1].(x86asm.Imm)
	switch x.Op {
	case x86asm.LEA:
		i.reads = i.addr
		i.writes = dst
		i.addr, i.place, i.scaled, i.stack = 0, "", false, false
		return
	case x86asm.NOP, x86asm.PAUSE, x86asm.PREFETCHT0, x86asm.PREFETCHNTA, x86asm.PREFETCHW:
		i.reads, i.addr = 0, 0
		return
	case x86asm.CALL, x86asm.LCALL:
		i.call, i.writes = true, ^regs(0)
		i.load = mem >= 0
		return
	case x86asm.JMP, x86asm.LJMP:
		i.jump, i.load = true, mem >= 0
		return
	case x86asm.RET:
		i.ret = true
		return
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.UCOMISD, x86asm.UCOMISS, x86asm.COMISD, x86asm.COMISS, x86asm.PTEST:
		i.load = mem >= 0
		return
	case x86asm.PUSH, x86asm.POP:
		i.stack = true
		if x.Op == x86asm.POP {
			i.writes = dst
		}
		return
	case x86asm.XCHG, x86asm.XADD:
		i.load, i.store = mem >= 0, mem >= 0
		for _, a := range x.Args {
			if r, ok := a.(x86asm.Reg); ok {
				i.writes |= regOf(r)
			}
		}
		i.fixed = x.Op == x86asm.XCHG
		return
	case x86asm.CMPXCHG, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		i.load, i.store = mem >= 0, mem >= 0
		i.reads |= regOf(x86asm.RAX)
		i.writes = regOf(x86asm.RAX)
		i.fixed = true
		return
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ:
		if x.Op != x86asm.MOVSD || mem < 0 || isString(x) {
			i.load, i.store, i.scaled = true, true, true
			i.addr = regOf(x86asm.RDI) | regOf(x86asm.RSI)
			i.writes = i.addr | regOf(x86asm.RCX)
			return
		}
	case x86asm.MUL, x86asm.IMUL, x86asm.DIV, x86asm.IDIV:
		if x.Args[1] == nil {
			i.load = mem >= 0
			i.reads |= regOf(x86asm.RAX) | regOf(x86asm.RDX)
			i.writes = regOf(x86asm.RAX) | regOf(x86asm.RDX)
			return
		}
	}
	if strings.HasPrefix(x.Op.String(), "J") {
		i.jump = true
		return
	}
	// The usual form: the first operand is written, and read too unless it is moved to.
	moves := isMove(x.Op)
	switch {
	case mem == 0:
		i.store = true
		i.load = !moves
	default:
		i.writes = dst
		i.load = mem > 0
		if moves {
			i.reads &^= dst
			if mem >= 0 {
				i.reads |= i.addr
			}
			if r, ok := x.Args[1].(x86asm.Reg); ok {
				i.reads |= regOf(r)
			}
		}
	}
	switch x.Op {
	case x86asm.MOV:
		_, source := x.Args[1].(x86asm.Reg)
		i.fixed = immediate
		i.copy = mem < 0 && source
	case x86asm.XOR:
		// XORL AX, AX is how zero is made.
		i.fixed = mem < 0 && x.Args[0] == x.Args[1]
		if i.fixed {
			i.reads = 0
		}
	}
	if strings.HasPrefix(x.Op.String(), "SET") {
		i.fixed = true
		i.reads = i.addr
	}
}

// isString says that MOVSD is the string instruction, which shares its name with the vector one.
func isString(x x86asm.Inst) bool {
	for _, a := range x.Args {
		if r, ok := a.(x86asm.Reg); ok && r >= x86asm.X0 && r <= x86asm.X15 {
			return false
		}
	}
	return true
}

func isMove(op x86asm.Op) bool {
	name := op.String()
	return strings.HasPrefix(name, "MOV") || strings.HasPrefix(name, "SET") || strings.HasPrefix(name, "CVT") || strings.HasPrefix(name, "BS") ||
		name == "LZCNT" || name == "TZCNT" || name == "POPCNT" || name == "LDDQU"
}

// goMnemonic is the instruction's name as Go's assembler spells it.
func goMnemonic(x x86asm.Inst, locked bool) string {
	name := x.Op.String()
	for _, f := range strings.Fields(x86asm.GoSyntax(x, 0, nil)) {
		// Prefixes come first, each as a word.
		if f = strings.TrimSuffix(f, ";"); f != "LOCK" && !strings.HasPrefix(f, "REP") && !strings.HasPrefix(f, "REX") {
			name = f
			break
		}
	}
	if locked {
		return "LOCK " + name
	}
	return name
}

// regOf numbers a register without regard to its width: general ones 0 to 15,
// vector ones from 32. Others are no register here.
func regOf(r x86asm.Reg) regs {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return 1 << (r - x86asm.AL)
	case r >= x86asm.AH && r <= x86asm.BH:
		return 1 << (r - x86asm.AH)
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return 1 << (r - x86asm.SPB + 4)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return 1 << (r - x86asm.AX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return 1 << (r - x86asm.EAX)
	case r >= x86asm.RAX && r <= x86asm.R15:
		return 1 << (r - x86asm.RAX)
	case r >= x86asm.X0 && r <= x86asm.X15:
		return 1 << (32 + r - x86asm.X0)
	}
	return 0
}

// vexLength is the length of an instruction with a VEX or EVEX prefix, which
// the decoder does not know, and whether it may access memory; 0 if it is none.
func vexLength(b []byte) (n int, mem bool) {
	at := func(i int) byte {
		if i < len(b) {
			return b[i]
		}
		return 0
	}
	i, opmap := 0, byte(1)
	switch at(0) {
	case 0xC5:
		i = 2
	case 0xC4:
		i, opmap = 3, at(1)&0x1f
	case 0x62:
		i, opmap = 4, at(1)&0x07
	default:
		return 0, false
	}
	if opmap < 1 || opmap > 6 || opmap == 4 {
		return 0, false
	}
	op := at(i)
	i++
	if opmap == 1 && op == 0x77 { // VZEROUPPER has no operands
		return min(i, len(b)), false
	}
	modrm := at(i)
	i++
	mod, rm := modrm>>6, modrm&7
	if mod != 3 {
		mem = true
		if rm == 4 {
			sib := at(i)
			i++
			if mod == 0 && sib&7 == 5 {
				i += 4
			}
		}
		switch {
		case mod == 0 && rm == 5, mod == 2:
			i += 4
		case mod == 1:
			i++
		}
	}
	switch {
	case opmap == 3:
		i++
	case opmap == 1 && (op >= 0x70 && op <= 0x73 || op == 0xC2 || op >= 0xC4 && op <= 0xC6):
		i++
	}
	if i > len(b) {
		return 0, false
	}
	return i, mem
}
