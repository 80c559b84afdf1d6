package stats

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// SeedOf hashes series of numbers into a seed: equal data give equal
// resamples, on every machine and in every run. The lengths are part of the
// hash, and every NaN counts as the same value.
func SeedOf(series ...[]float64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	put := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	for _, s := range series {
		put(uint64(len(s)))
		for _, v := range s {
			if math.IsNaN(v) {
				v = math.NaN()
			}
			put(math.Float64bits(v))
		}
	}
	return h.Sum64()
}
