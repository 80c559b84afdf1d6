package lanes

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/exp/trace"
)

// stream reads a trace with golang.org/x/exp/trace. Reading and accounting take
// turns in one goroutine: an event is smaller than what it costs to hand it to
// another core, and the cores read other cells' traces.
type stream struct {
	r       *trace.Reader
	reading bool // inside the library, which may panic on a damaged trace
}

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
	return &stream{r: tr}, nil
}

// feed gives the events to a until the window is closed, and returns what ended
// the stream, nil where the window's end did.
func (s *stream) feed(ctx context.Context, a *pass) (end error) {
	defer func() {
		if !s.reading {
			return
		}
		if x := recover(); x != nil {
			end = fmt.Errorf("damaged: %v", x)
		}
	}()
	var ev event
	for n := 0; !a.closed; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.reading = true
		e, err := s.r.ReadEvent()
		if err != nil {
			s.reading = false
			return err
		}
		convert(&e, &ev)
		s.reading = false
		a.take(&ev)
	}
	return nil
}
