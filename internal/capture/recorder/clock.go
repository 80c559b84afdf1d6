package recorder

import "time"

// clock gives CLOCK_MONOTONIC, ns, at the price of time.Now: it adds the time
// since it was made to one reading of the kernel's clock. Where that cannot be
// read, it starts from the wall clock, which is the same for all processes too.
type clock struct {
	start  time.Time
	origin int64
}

func newClock() clock {
	c := clock{start: time.Now(), origin: monotonic()}
	if c.origin == 0 {
		c.origin = c.start.UnixNano()
	}
	return c
}

func (c clock) now() int64 { return c.origin + int64(time.Since(c.start)) }
