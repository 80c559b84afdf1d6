package recorder

import (
	"runtime"
	"sync/atomic"
)

// meeting is a barrier that opens when all its members are running at the same
// time, each on a CPU of its own. To have arrived is not enough: the kernel
// likes to wake a thread on the CPU of the one that woke it, and two workers
// then share a CPU for the first milliseconds of the window.
//
// The last to arrive calls rounds. A member that runs answers within a
// microsecond; one that has been put aside answers when it runs again. The
// meeting opens after a round in which all have answered in time, or when it
// has lasted for patience.
//
// The words may be memory that is shared with other processes.
type meeting struct {
	words []uint32
	n     int
	late  int64 // ns after which a member stops waiting for the others to arrive, 0 for never
}

// Waiting members look at the meeting spins times before they offer their P,
// where that is allowed. Times are in ns.
const (
	spins    = 1000
	together = int64(50e3)
	patience = int64(20e6)
	absence  = int64(250e6) // of a process: it has died, or does not share the words
)

// Words of a meeting, each on a cache line of its own.
const (
	line        = 16 // words
	arrivedWord = 0
	roundWord   = line
	answers     = 2 * line
	opened      = ^uint32(0) // as a round
)

func meetingWords(n int) int { return answers + n*line }

func newMeeting(n int) *meeting { return &meeting{words: make([]uint32, meetingWords(n)), n: n} }

// join returns when the meeting has opened. The last member to arrive calls
// open first, while all others still wait. With offer, members that wait give
// their P to others, and there are no rounds: not all can run at the same time.
func (m *meeting) join(i int, now func() int64, offer bool, open func()) {
	if int(atomic.AddUint32(&m.words[arrivedWord], 1)) == m.n {
		if !offer {
			m.gather(i, now)
		}
		open()
		atomic.StoreUint32(&m.words[roundWord], opened)
		return
	}
	answer := &m.words[answers+i*line]
	since := now()
	for k := 1; ; k++ {
		round := atomic.LoadUint32(&m.words[roundWord])
		if round == opened {
			return
		}
		if atomic.LoadUint32(answer) != round {
			atomic.StoreUint32(answer, round)
		}
		if k%spins != 0 {
			continue
		}
		waited := now() - since
		if m.late > 0 && waited > m.late && round == 0 {
			return
		}
		// Who is still missing after such a time may have no P to come on.
		if offer = offer || waited > patience; offer {
			runtime.Gosched()
		}
	}
}

// gather calls rounds until all members answer in time.
func (m *meeting) gather(self int, now func() int64) {
	end := now() + patience
	for round := uint32(1); ; round++ {
		begin := now()
		atomic.StoreUint32(&m.words[roundWord], round)
		for i := 0; i < m.n; i++ {
			for i != self && atomic.LoadUint32(&m.words[answers+i*line]) != round {
				if now() > end {
					return
				}
			}
		}
		if t := now(); t-begin < together || t > end {
			return
		}
	}
}
