//go:build unix

package lab

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// faults touches a few fresh pages an operation and gives the pages back to the
// system when its region is used up. Every first touch enters the kernel, where
// the threads of one process share the address space's locks and counters, and
// giving pages back interrupts the other cores to make them forget the
// addresses. The twin keeps the pages.
type faults struct {
	regions []padded[region]
	keep    bool
	fault   firstFault
}

type region struct {
	memory []byte
	used   int
}

const (
	pagesPerOp  = 4
	regionPages = 512
)

func (f *faults) Work(w int, lo, hi int64) workload.Tally {
	r := &f.regions[w].value
	page := unix.Getpagesize()
	var t workload.Tally
	for i := lo; i < hi; i++ {
		v := uint64(i)
		for range pagesPerOp {
			v = burn(v, 8)
			fill(r.memory[r.used*page:(r.used+1)*page], byte(v))
			r.used++
		}
		if r.used == regionPages {
			r.used = 0
			if err := f.release(r.memory); err != nil {
				f.fault.note(err)
				return t
			}
		}
		t.Sum += v
		t.Ops++
	}
	return t
}

func (f *faults) release(memory []byte) error {
	if f.keep {
		return nil
	}
	if err := unix.Madvise(memory, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("giving pages back: %w", err)
	}
	return nil
}

func newFaults(keep bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		f := &faults{keep: keep, regions: make([]padded[region], p.Workers)}
		for w := range f.regions {
			memory, err := unix.Mmap(-1, 0, regionPages*unix.Getpagesize(),
				unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				f.Close()
				return nil, fmt.Errorf("mapping memory: %w", err)
			}
			f.regions[w].value.memory = memory
		}
		return f, nil
	}
}

func (f *faults) Close() error {
	for w := range f.regions {
		if r := &f.regions[w].value; r.memory != nil {
			f.fault.note(unix.Munmap(r.memory))
			r.memory = nil
		}
	}
	return f.fault.error()
}

func pageFaultPair() pair {
	return pair{
		info: workload.Info{
			Name: "page-fault", Title: "fresh pages touched and given back",
			Expect: string(cause.AllocPageFault), OpNS: 10_500,
		},
		bad: newFaults(false), fixed: newFaults(true), cure: "the pages are kept", cheap: 350,
	}
}
