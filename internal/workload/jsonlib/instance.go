package jsonlib

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/bits"
	"reflect"
	"sync/atomic"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// window is how many bytes of each result are hashed, in bytes. Operation i
// hashes the i-th window of its result, so that all of a long result is covered
// over the operations while each of them pays for about 50 ns only.
const window = 1024

// instance is a document prepared for one library.
type instance struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	doc       *document
	data      []byte // what marshal makes of doc.value, every time
	decoded   any    // what unmarshal makes of data
	windows   int64
	table     *crc32.Table
	want      []uint64 // value of an operation by i modulo its length
	deep      []worker
	fault     atomic.Pointer[error] // first wrong operation
}

// worker remembers whether a worker's first result was compared in full. The
// padding keeps two workers off one cache line, and off the line that the
// adjacent-line prefetcher fetches with it.
type worker struct {
	verified bool
	_        [127]byte
}

func newInstance(name string, lib *library, doc *document, data []byte, decoded any, workers int) *instance {
	in := &instance{
		name: name, marshal: lib.marshal, unmarshal: lib.unmarshal,
		doc: doc, data: data, decoded: decoded,
		windows: int64(max(1, (len(data)+window-1)/window)),
		table:   crc32.MakeTable(crc32.Castagnoli),
		deep:    make([]worker, max(1, workers)),
	}
	in.want = make([]uint64, max(in.windows, int64(doc.probes)))
	for k := range in.want {
		in.want[k] = in.value(data, decoded, int64(k))
	}
	return in
}

// Work does operations [lo, hi). Operations that failed or gave a wrong result
// are not counted.
func (in *instance) Work(w int, lo, hi int64) workload.Tally {
	var tally workload.Tally
	deep := w >= len(in.deep) || !in.deep[w].verified
	for i := lo; i < hi; i++ {
		data, err := in.marshal(in.doc.value)
		if err != nil {
			in.fail(i, "marshalling", err)
			continue
		}
		decoded := in.doc.fresh()
		if err := in.unmarshal(data, decoded); err != nil {
			in.fail(i, "unmarshalling", err)
			continue
		}
		value, ok := in.verify(data, decoded, i, deep)
		if !ok {
			in.fail(i, "verifying", errWrongResult)
			continue
		}
		deep = false
		tally.Ops++
		tally.Sum += value
	}
	if hi > lo && w < len(in.deep) && !deep {
		in.deep[w].verified = true
	}
	return tally
}

// verify checks the result of operation i and returns its value for the sum.
// It allocates nothing and costs well under a hundredth of the operation.
func (in *instance) verify(data []byte, decoded any, i int64, deep bool) (value uint64, ok bool) {
	if len(data) != len(in.data) {
		return 0, false
	}
	if deep && !(bytes.Equal(data, in.data) && reflect.DeepEqual(decoded, in.decoded)) {
		return 0, false
	}
	k := i % int64(len(in.want))
	value = in.value(data, decoded, k)
	return value, value == in.want[k]
}

// value is derived from a result as operation k, or any that is the same
// modulo len(want), sees it: a window of the bytes and a part of what was
// decoded. It does not depend on who did the operation.
func (in *instance) value(data []byte, decoded any, k int64) uint64 {
	at := k % in.windows * window
	part := data[min(at, int64(len(data))):min(at+window, int64(len(data)))]
	sum := uint64(crc32.Checksum(part, in.table))
	probe := in.doc.probe(decoded, int(k)%max(1, in.doc.probes))
	return (sum<<32 | uint64(len(data))) ^ bits.RotateLeft64(probe*0x9e3779b97f4a7c15, 29)
}

// Close says what went wrong first, if anything did.
func (in *instance) Close() error {
	if err := in.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// fail keeps the first fault.
func (in *instance) fail(i int64, doing string, err error) {
	if in.fault.Load() != nil {
		return
	}
	err = fmt.Errorf("%s: %s the result of operation %d: %w", in.name, doing, i, err)
	in.fault.CompareAndSwap(nil, &err)
}
