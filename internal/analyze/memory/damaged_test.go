package memory

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestDamagedBinary flips and cuts bytes of a program: reading it may fail, and
// must not crash, hang or take much memory.
func TestDamagedBinary(t *testing.T) {
	whole, err := os.ReadFile(build(t, linuxAMD64))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged")
	base, peak := []Sample{sample("main.atomicAdd", 0x4c5590, second)}, []Sample{sample("main.atomicAdd", 0x4c5590, 9*second)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		data := append([]byte(nil), whole...)
		switch i % 4 {
		case 0: // the headers
			for range 3 {
				data[r.IntN(1024)] ^= byte(1 << r.IntN(8))
			}
		case 1:
			data = data[:r.IntN(len(data))]
		case 2: // anywhere, the line table and debugging information among it
			for range 2000 {
				data[r.IntN(len(data))] ^= byte(r.IntN(256))
			}
		case 3: // section headers, at the end
			for range 8 {
				data[len(data)-1-r.IntN(2048)] ^= byte(r.IntN(256))
			}
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got := Divide(context.Background(), Input{Base: base, Peak: peak, Binary: path, MemoryLoss: math.NaN()})
		if sum := total(base); got.BaseNS != sum {
			t.Errorf("base is %d", got.BaseNS)
		}
	}
}

// TestHostileHeaders claims sizes that no file has.
func TestHostileHeaders(t *testing.T) {
	whole, err := os.ReadFile(build(t, linuxAMD64))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hostile")
	// The section headers hold an offset and a size for each section.
	shoff := int(uint64(whole[0x28]) | uint64(whole[0x29])<<8 | uint64(whole[0x2a])<<16 | uint64(whole[0x2b])<<24)
	for section := range 20 {
		data := append([]byte(nil), whole...)
		at := shoff + 64*section + 0x20
		if at+8 > len(data) {
			break
		}
		for i := range 5 {
			data[at+i] = 0xff
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := openImage(path); err == nil {
			m.source(m.start)
			m.close()
		}
	}
}
