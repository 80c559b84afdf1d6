package memory

import "testing"

// BenchmarkOpen reads the line table of a small program.
func BenchmarkOpen(b *testing.B) {
	path := build(b, linuxAMD64)
	for b.Loop() {
		m, err := openImage(path)
		if err != nil {
			b.Fatal(err)
		}
		m.close()
	}
}
