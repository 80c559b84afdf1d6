package memory

import "testing"

// TestVEXLength measures instructions of the VEX and EVEX forms, each with a
// byte after it that is not its own. Encodings by the Intel manual, volume 2.
func TestVEXLength(t *testing.T) {
	for _, tt := range []struct {
		name string
		code []byte
		mem  bool
	}{
		{"VZEROUPPER", []byte{0xc5, 0xf8, 0x77}, false},
		{"VMOVDQU (SI), Y0", []byte{0xc5, 0xfe, 0x6f, 0x06}, true},
		{"VMOVDQU 32(SI), Y1", []byte{0xc5, 0xfe, 0x6f, 0x4e, 0x20}, true},
		{"VMOVDQU -32(SI)(BX*1), Y1", []byte{0xc5, 0xfe, 0x6f, 0x4c, 0x1e, 0xe0}, true},
		{"VMOVDQU 0x1234(SI), Y1", []byte{0xc5, 0xfe, 0x6f, 0x8e, 0x34, 0x12, 0, 0}, true},
		{"VMOVDQU name(SB), Y1", []byte{0xc5, 0xfe, 0x6f, 0x0d, 0x34, 0x12, 0, 0}, true},
		{"VPXOR Y1, Y2, Y3", []byte{0xc5, 0xed, 0xef, 0xd9}, false},
		{"SHLXQ AX, BX, CX", []byte{0xc4, 0xe2, 0xf9, 0xf7, 0xcb}, false},
		{"RORXQ $7, BX, CX", []byte{0xc4, 0xe3, 0xfb, 0xf0, 0xcb, 0x07}, false},
		{"VFMADD231SD X0, X1, X2", []byte{0xc4, 0xe2, 0xf1, 0xb8, 0xd0}, false},
		{"VPSHUFD $1, Y0, Y1", []byte{0xc5, 0xfd, 0x70, 0xc8, 0x01}, false},
		{"VMOVDQU64 (SI), Z0", []byte{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06}, true},
	} {
		n, mem := vexLength(append(append([]byte(nil), tt.code...), 0xcc))
		if n != len(tt.code) || mem != tt.mem {
			t.Errorf("%s: %d bytes, memory %t; want %d, %t", tt.name, n, mem, len(tt.code), tt.mem)
		}
		for cut := range tt.code {
			if n, _ := vexLength(tt.code[:cut]); n > cut {
				t.Errorf("%s cut to %d bytes has %d", tt.name, cut, n)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xf0, 0x48, 0x0f, 0xc1, 0x08, 0xc5, 0xfe, 0x6f, 0x06})
	f.Add([]byte{0xc5})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return
		}
		for name, decode := range map[string]func([]byte, uint64) ([]insn, bool){"amd64": decodeAMD64, "arm64": decodeARM64} {
			c := &code{}
			c.insns, c.whole = decode(text, 0x1000)
			size := 0
			for at, in := range c.insns {
				if in.size <= 0 || in.pc != 0x1000+uint64(size) {
					t.Fatalf("%s: instruction %d at %#x of %d bytes, after %d", name, at, in.pc, in.size, size)
				}
				size += in.size
				if c.at(in.pc) != at {
					t.Fatalf("%s: instruction %d is not found", name, at)
				}
				c.judge(at, func(uint64) string { return "" })
			}
			if size > len(text) || c.whole && size != len(text) {
				t.Fatalf("%s: %d of %d bytes decoded", name, size, len(text))
			}
		}
	})
}
