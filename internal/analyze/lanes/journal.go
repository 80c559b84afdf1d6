package lanes

// journal remembers what goroutines did lately: a ring of their finished
// states, linked backwards for each goroutine and, where a state ended because
// another goroutine ended it, to that one's states. Through it a wait is charged
// to what the goroutine that ended it was doing, and to whom that one waited for
// in turn. It holds the last states of all goroutines together, so that its size
// does not grow with the trace; what has left it cannot be told any more.
type journal struct {
	ring []entry
	head uint64 // number of the newest entry; the first is 1
}

const journalSize = 1 << 15

// doing is the kind of an entry.
type doing uint8

const (
	didQueue   doing = iota // was ready
	didWait                 // was parked
	didSyscall              // was in a system call
	wasBorn                 // was created: what came before is its creator's
)

// entry is one finished state of a goroutine in which it did not run; between
// its entries, it ran.
type entry struct {
	t0, t1  int64
	prev    uint64 // this goroutine's entry before, 0 none
	link    uint64 // newest entry of the goroutine that ended a wait, or that created this one
	linkWho who
	culprit stackID
	cause   causeID
	doing   doing
	follow  bool // the wait is for what another goroutine does: look there
}

// who is a goroutine as far as blame needs it after its end: the lane that it
// is, or the lane that it descends from and its start function. 17 bits each.
type who uint64

func newWho(lane, owner int32, start stackID) who {
	return who(uint64(lane+1)<<34 | uint64(owner+1)<<17 | uint64(start))
}

// lane is the lane that it is, -1 for none.
func (w who) lane() int32 { return int32(w>>34) - 1 }

// owner is the lane that it is or descends from, -1 for none.
func (w who) owner() int32 { return int32(w>>17&(1<<17-1)) - 1 }

func newJournal() *journal { return &journal{ring: make([]entry, journalSize)} }

// add appends an entry and returns its number.
func (j *journal) add(e entry) uint64 {
	j.head++
	j.ring[j.head%journalSize] = e
	return j.head
}

// at is entry n, nil when it has left the ring.
func (j *journal) at(n uint64) *entry {
	if n == 0 || n > j.head || j.head-n >= journalSize {
		return nil
	}
	return &j.ring[n%journalSize]
}
