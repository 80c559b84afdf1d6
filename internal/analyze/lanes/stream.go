package lanes

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"
)

// stream reads a trace with golang.org/x/exp/trace in a goroutine of its own, so
// that reading and accounting share two cores. Only a few batches of events are
// under way; none is kept. Batches are large: each hand-over may move a side to
// another core, whose caches it then has to fill again.
type stream struct {
	r     *trace.Reader
	full  chan *batch
	empty chan *batch
	stop  chan struct{}
}

// batch is events that mean something to the accounting.
type batch struct {
	events []trace.Event
	n      int
	err    error // after the events
}

const (
	firstBatch = 1 << 10 // events, doubled with each batch
	lastBatch  = 1 << 14
	batches    = 3
)

// openStream begins to read r, which may be damaged: the library trusts some
// fields that such a file can break.
func openStream(r io.Reader) (s *stream, err error) {
	defer func() {
		if x := recover(); x != nil {
			s, err = nil, fmt.Errorf("damaged: %v", x)
		}
	}()
	tr, err := trace.NewReader(r)
	if err != nil {
		return nil, err
	}
	return &stream{r: tr, full: make(chan *batch, batches), empty: make(chan *batch, batches), stop: make(chan struct{})}, nil
}

// feed gives the events to a until the window is closed, and returns what ended
// the stream, nil where the window's end did. Nothing reads any more then.
func (s *stream) feed(ctx context.Context, a *pass) error {
	for range batches {
		s.empty <- new(batch)
	}
	go s.read()
	defer func() {
		close(s.stop)
		for range s.full {
		}
	}()
	var ev event
	for b := range s.full {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range b.events[:b.n] {
			convert(&b.events[i], &ev)
			a.take(&ev)
			if a.closed {
				return nil
			}
		}
		if b.err != nil {
			return b.err
		}
		s.empty <- b
	}
	return errors.New("closed")
}

func (s *stream) read() {
	defer close(s.full)
	size := firstBatch
	for {
		select {
		case <-s.stop:
			return
		case b := <-s.empty:
			if len(b.events) < size {
				b.events = make([]trace.Event, size)
			}
			b.fill(s.r)
			size = min(size*2, lastBatch)
			failed := b.err != nil // b is the other side's once sent
			s.full <- b
			if failed {
				return
			}
		}
	}
}

// fill reads the next events.
func (b *batch) fill(r *trace.Reader) {
	b.n, b.err = 0, nil
	defer func() {
		if x := recover(); x != nil {
			b.err = fmt.Errorf("damaged: %v", x)
		}
	}()
	for b.n < len(b.events) {
		ev := &b.events[b.n]
		*ev, b.err = r.ReadEvent()
		if b.err != nil {
			return
		}
		if ev.Kind() != trace.EventMetric || ev.Metric().Name != heapGrows {
			b.n++
		}
	}
}

// heapGrows is the name of the metric that half of all events are.
const heapGrows = "/memory/classes/heap/objects:bytes"
