package lanes

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"
)

// pipe reads a trace with golang.org/x/exp/trace in a goroutine of its own, so
// that reading and accounting share two cores. Only a few batches of events are
// under way; none is kept.
type pipe struct {
	full    chan *batch
	empty   chan *batch
	stop    chan struct{}
	current *batch
	at      int
}

type batch struct {
	events [batchSize]trace.Event
	n      int
	err    error // after the events
}

const (
	batchSize = 512
	batches   = 4
)

// newPipe begins to read r. The caller must call close before it lets go of r.
func newPipe(r io.Reader) (*pipe, error) {
	tr, err := newTraceReader(r)
	if err != nil {
		return nil, err
	}
	p := &pipe{full: make(chan *batch, batches), empty: make(chan *batch, batches), stop: make(chan struct{})}
	for range batches {
		p.empty <- new(batch)
	}
	go p.read(tr)
	return p, nil
}

// newTraceReader is trace.NewReader for files that may be damaged: the library
// trusts some fields that such a file can break.
func newTraceReader(r io.Reader) (tr *trace.Reader, err error) {
	defer func() {
		if x := recover(); x != nil {
			tr, err = nil, fmt.Errorf("damaged: %v", x)
		}
	}()
	return trace.NewReader(r)
}

func (p *pipe) read(tr *trace.Reader) {
	defer close(p.full)
	for {
		select {
		case <-p.stop:
			return
		case b := <-p.empty:
			b.fill(tr)
			failed := b.err != nil // b is the other side's once sent
			p.full <- b
			if failed {
				return
			}
		}
	}
}

func (b *batch) fill(tr *trace.Reader) {
	b.n, b.err = 0, nil
	defer func() {
		if x := recover(); x != nil {
			b.err = fmt.Errorf("damaged: %v", x)
		}
	}()
	for b.n < batchSize {
		ev, err := tr.ReadEvent()
		if err != nil {
			b.err = err
			return
		}
		b.events[b.n] = ev
		b.n++
	}
}

var errClosed = errors.New("closed")

func (p *pipe) next(out *event) error {
	for p.current == nil || p.at == p.current.n {
		if p.current != nil {
			if err := p.current.err; err != nil {
				return err
			}
			p.empty <- p.current
		}
		b, ok := <-p.full
		if !ok {
			return errClosed
		}
		p.current, p.at = b, 0
	}
	convert(&p.current.events[p.at], out)
	p.at++
	return nil
}

// close ends reading and waits until nothing reads any more.
func (p *pipe) close() {
	close(p.stop)
	for range p.full {
	}
}
