package memory

import (
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// Bounds on what is read of a binary, which is not trusted.
const (
	maxTable    = 512 << 20 // bytes of the line table
	maxFunction = 1 << 20   // bytes of one function's code
	maxCode     = 256 << 20 // bytes of code decoded in all
)

// image is a Go binary: its code, its functions and their source lines.
type image struct {
	file   io.Closer
	decode func([]byte, uint64) ([]insn, bool)
	text   io.ReaderAt // the section that holds the code
	start  uint64      // its address
	size   uint64
	table  *gosym.Table
	dwarf  func() (*dwarf.Data, error)
	inline *inliner

	slide   uint64 // added to the binary's addresses when it ran
	codes   map[uint64]*code
	decoded uint64
}

// function is one function's place.
type function struct {
	name       string
	entry, end uint64
}

// guard turns a panic of a reader of the standard library on a damaged file into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged binary: %v", p)
	}
}

func openImage(path string) (m *image, err error) {
	if path == "" {
		return nil, errors.New("the binary that ran is not known")
	}
	// The path comes from a capture: opening a pipe would wait for ever.
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the binary that ran: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the binary that ran: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	defer guard(&err)
	m = &image{file: f, codes: map[uint64]*code{}}
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if string(magic[:]) == elf.ELFMAG {
		err = m.openELF(f)
	} else {
		err = m.openMachO(f)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return m, nil
}

func (m *image) close() { m.file.Close() }

func (m *image) openELF(f *os.File) error {
	e, err := elf.NewFile(f)
	if err != nil {
		return err
	}
	switch e.Machine {
	case elf.EM_X86_64:
		m.decode = decodeAMD64
	case elf.EM_AARCH64:
		m.decode = decodeARM64
	default:
		return fmt.Errorf("no disassembler for %v", e.Machine)
	}
	text := e.Section(".text")
	lines := e.Section(".gopclntab")
	if lines == nil {
		lines = e.Section(".data.rel.ro.gopclntab")
	}
	if text == nil || lines == nil || text.Type == elf.SHT_NOBITS || lines.Type == elf.SHT_NOBITS {
		return errors.New("no Go program: it has no line table")
	}
	m.text, m.start, m.size = text, text.Addr, text.Size
	m.dwarf = e.DWARF
	// With a C linker the section begins with other code.
	begin := text.Addr
	if symbols, err := e.Symbols(); err == nil {
		for _, s := range symbols {
			if s.Name == "runtime.text" {
				begin = s.Value
				break
			}
		}
	}
	return m.readLines(lines, lines.Size, begin, e.ByteOrder)
}

func (m *image) openMachO(f *os.File) error {
	e, err := macho.NewFile(f)
	if err != nil {
		return errors.New("neither ELF nor Mach-O")
	}
	switch e.Cpu {
	case macho.CpuAmd64:
		m.decode = decodeAMD64
	case macho.CpuArm64:
		m.decode = decodeARM64
	default:
		return fmt.Errorf("no disassembler for %v", e.Cpu)
	}
	text, lines := e.Section("__text"), e.Section("__gopclntab")
	if text == nil || lines == nil {
		return errors.New("no Go program: it has no line table")
	}
	m.text, m.start, m.size = text, text.Addr, text.Size
	m.dwarf = e.DWARF
	begin := text.Addr
	if e.Symtab != nil {
		for _, s := range e.Symtab.Syms {
			if s.Name == "runtime.text" || s.Name == "_runtime.text" {
				begin = s.Value
				break
			}
		}
	}
	return m.readLines(lines, lines.Size, begin, e.ByteOrder)
}

// readLines reads the table of functions and lines.
func (m *image) readLines(r io.ReaderAt, size, begin uint64, order binary.ByteOrder) error {
	if size < 64 || size > maxTable {
		return fmt.Errorf("line table of %d bytes", size)
	}
	data := make([]byte, 0, min(size, 1<<20))
	// Grow with what is there, not with what the header claims.
	section := io.NewSectionReader(r, 0, int64(size))
	for uint64(len(data)) < size {
		n := len(data)
		step := min(size-uint64(n), 16<<20)
		data = append(data, make([]byte, step)...)
		if _, err := io.ReadFull(section, data[n:]); err != nil {
			return fmt.Errorf("reading the line table: %w", err)
		}
	}
	// The number of functions follows the magic and four bytes; each takes at least eight.
	if functions := order.Uint64(data[8:]); functions > size/8 {
		return fmt.Errorf("line table claims %d functions in %d bytes", functions, size)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, begin))
	if err != nil {
		return fmt.Errorf("reading the line table: %w", err)
	}
	if len(table.Funcs) == 0 {
		return errors.New("the line table names no function")
	}
	m.table = table
	return nil
}

// function finds the one that holds an address of the binary.
func (m *image) function(pc uint64) (function, bool) {
	funcs := m.table.Funcs
	i := sort.Search(len(funcs), func(i int) bool { return funcs[i].Entry > pc }) - 1
	if i < 0 || pc >= funcs[i].End {
		return function{}, false
	}
	return function{funcs[i].Name, funcs[i].Entry, funcs[i].End}, true
}

func (m *image) nameAt(pc uint64) string {
	f, _ := m.function(pc)
	return f.name
}

// code disassembles a function, or remembers it.
func (m *image) code(f function) *code {
	if c, ok := m.codes[f.entry]; ok {
		return c
	}
	c := &code{name: f.name, entry: f.entry}
	m.codes[f.entry] = c
	size := f.end - f.entry
	if f.entry < m.start || f.end > m.start+m.size || f.end < f.entry || size > maxFunction || m.decoded+size > maxCode {
		return c
	}
	m.decoded += size
	buf := make([]byte, size)
	if n, err := m.text.ReadAt(buf, int64(f.entry-m.start)); n < len(buf) && err != nil {
		return c
	}
	c.insns, c.whole = m.decode(buf, f.entry)
	return c
}

// line is the source line that the line table gives for an address: that of an
// inlined function where one is.
func (m *image) line(pc uint64) (file string, line int, err error) {
	defer guard(&err)
	file, line, _ = m.table.PCToLine(pc)
	return file, line, nil
}

// source is the user's line at an address: of the code that called, where the
// address lies in an inlined atomic operation. It is "" where debugging
// information would be needed to tell and there is none.
func (m *image) source(pc uint64) string {
	file, line, err := m.line(pc)
	if err != nil || file == "" {
		return ""
	}
	if !plumbing(file) {
		return sourceLine(file, line)
	}
	if m.inline == nil {
		m.inline = newInliner(m.dwarf)
	}
	if file, line, ok := m.inline.caller(pc); ok {
		return sourceLine(file, line)
	}
	return ""
}

// sameFunction compares a function's name in the line table, which spells type
// arguments out, with one in a profile, which may not.
func sameFunction(a, b string) bool {
	if a == b {
		return true
	}
	a0, a1, okA := cutTypes(a)
	b0, b1, okB := cutTypes(b)
	return okA && okB && a0 == b0 && a1 == b1
}

func cutTypes(name string) (before, after string, ok bool) {
	i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if i < 0 || j < i {
		return "", "", false
	}
	return name[:i], name[j+1:], true
}
