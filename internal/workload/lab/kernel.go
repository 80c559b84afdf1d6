package lab

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// writes puts one block an operation into a file, each worker at offsets of its
// own. With one file for all, the kernel lets one writer at a time into it; the
// others spin or sleep in the kernel. WriteAt takes no lock in Go. The twin has a
// file for each worker.
type writes struct {
	files  []*os.File
	blocks []padded[[]byte]
	fault  firstFault
}

const (
	blockBytes   = 16 << 10
	blocksOfEach = 16 // a worker's part of the file, in blocks
)

func (f *writes) Work(w int, lo, hi int64) workload.Tally {
	file, block := f.files[w], f.blocks[w].value
	var t workload.Tally
	for i := lo; i < hi; i++ {
		at := (int64(w)*blocksOfEach + i%blocksOfEach) * blockBytes
		if _, err := file.WriteAt(block, at); err != nil {
			f.fault.note(err)
			return t
		}
		t.Sum += burn(uint64(i), 8)
		t.Ops++
	}
	return t
}

func newWrites(one bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		f := &writes{}
		for w := range p.Workers {
			f.blocks = append(f.blocks, padded[[]byte]{value: make([]byte, blockBytes)})
			if one && w > 0 {
				f.files = append(f.files, f.files[0])
				continue
			}
			file, err := scratchFile()
			if err != nil {
				return nil, errors.Join(fmt.Errorf("making a file to write to: %w", err), f.Close())
			}
			f.files = append(f.files, file)
		}
		return f, nil
	}
}

func (f *writes) Close() error {
	for i, file := range f.files {
		if i > 0 && file == f.files[0] {
			continue
		}
		f.fault.note(removeFile(file))
	}
	return f.fault.error()
}

// scratchFile makes a file, in memory where the system has a file system there:
// the journal of a file system on disk is shared by all its files.
func scratchFile() (*os.File, error) {
	const name = "scaleprof-lab-*"
	if file, err := os.CreateTemp("/dev/shm", name); err == nil {
		return file, nil
	}
	return os.CreateTemp("", name)
}

func removeFile(file *os.File) error {
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// firstFault keeps the first error that workers meet.
type firstFault struct {
	mu  sync.Mutex
	err error
}

func (f *firstFault) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstFault) error() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func kernelPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "syscall", Title: "all workers write to one file",
				Expect: string(cause.IOSyscall), OpNS: 2_500,
			},
			bad: newWrites(true), fixed: newWrites(false), cure: "a file for each worker",
		},
		pageFaultPair(),
	}
}
