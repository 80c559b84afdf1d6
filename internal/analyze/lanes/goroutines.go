package lanes

// class is who a goroutine is to the accounting. It decides whose fault it is
// when the goroutine holds a P that a lane wants.
type class uint8

const (
	classOther    class = iota // the program's, not a lane's
	classLane                  // a lane, inside its region
	classChild                 // started by a lane, or by a child of one
	classMark                  // GC worker, dedicated or fractional
	classIdleMark              // GC worker on a P that nobody wanted when it began
	classSweep                 // bgsweep
	classScavenge              // bgscavenge
	classFinalize              // finalizers and cleanups
	classObserver              // trace and profile writers
	classSystem                // any other goroutine of the runtime
	numClasses
)

// user says whether a goroutine runs the program's own code.
func (c class) user() bool { return c <= classChild }

// status is a goroutine's state.
type status uint8

const (
	stUnknown status = iota
	stRunnable
	stRunning
	stWaiting
	stSyscall
)

// mode is what a running goroutine does as far as ranges tell. Modes exclude
// each other: of ranges that nest, the first of this order counts.
type mode uint8

const (
	modePlain  mode = iota
	modeStop        // asked for a stop-the-world that is in progress
	modeAssist      // marks to pay for allocations
	modeSweep       // sweeps before it may allocate
)

// goroutine is the state of one live goroutine. Nothing of it outlives the
// goroutine but entries of the journal.
type goroutine struct {
	id      int64
	status  status
	class   class
	mode    mode
	assist  bool
	stopper bool
	named   bool // class and start are known
	serves  bool // counted among its lane's running or ready children
	lane    int32
	owner   int32 // the lane that this goroutine descends from or is, -1 for none
	start   int32 // stack of its start function, 0 unknown
	creator int64
	p       *proc // while running, or in a system call with its P
	since   int64 // begin of the state
	cut     int64 // begin of the present mode while running; end of the with-P part of a system call, 0 while it lasts
	where   int32 // stack at which it stopped running, 0 unknown
	inRange int32 // stack at which assist began
	why     reason
	origin  origin
	from    shares // the blame integrals when it became runnable
	stopped int64  // stop-the-world time, in all, when it began to wait
	charged float64
	last    uint64 // its newest journal entry, 0 none
}

// table holds the live goroutines: a hash table by id over slots that are
// recycled, so that churn costs no memory and little time.
type table struct {
	keys  []int64 // -1 empty
	slots []*goroutine
	n     int
	mask  uint64
	free  []*goroutine
	slab  []goroutine
}

const noKey = -1

func newTable() *table {
	t := &table{}
	t.resize(1 << 10)
	return t
}

func (t *table) resize(size int) {
	keys, slots := t.keys, t.slots
	t.keys, t.slots = make([]int64, size), make([]*goroutine, size)
	t.mask = uint64(size - 1)
	for i := range t.keys {
		t.keys[i] = noKey
	}
	for i, k := range keys {
		if k != noKey {
			j := t.find(k)
			t.keys[j], t.slots[j] = k, slots[i]
		}
	}
}

func (t *table) home(id int64) uint64 {
	return (uint64(id) * 0x9e3779b97f4a7c15 >> 20) & t.mask
}

// find is the index of id, or of the empty place where it would go.
func (t *table) find(id int64) uint64 {
	i := t.home(id)
	for t.keys[i] != id && t.keys[i] != noKey {
		i = (i + 1) & t.mask
	}
	return i
}

// get is the live goroutine id, nil if there is none.
func (t *table) get(id int64) *goroutine {
	if id < 0 {
		return nil
	}
	return t.slots[t.find(id)]
}

// add makes a goroutine. An id that is alive already, which only a damaged
// trace contains, is replaced.
func (t *table) add(id int64) *goroutine {
	if t.n*2 >= len(t.keys) {
		t.resize(len(t.keys) * 2)
	}
	i := t.find(id)
	g := t.slots[i]
	if g == nil {
		switch n := len(t.free); {
		case n > 0:
			g, t.free = t.free[n-1], t.free[:n-1]
		default:
			if len(t.slab) == 0 {
				t.slab = make([]goroutine, 128)
			}
			g, t.slab = &t.slab[0], t.slab[1:]
		}
		t.keys[i], t.slots[i] = id, g
		t.n++
	}
	*g = goroutine{id: id, lane: -1, owner: -1, creator: -1}
	return g
}

// remove forgets a goroutine; its slot is used again.
func (t *table) remove(g *goroutine) {
	i := t.find(g.id)
	if t.slots[i] != g {
		return
	}
	t.n--
	t.free = append(t.free, g)
	// Close the gap, so that no search stops early.
	j := i
	for {
		j = (j + 1) & t.mask
		if t.keys[j] == noKey {
			break
		}
		if h := t.home(t.keys[j]); (j-h)&t.mask >= (j-i)&t.mask {
			t.keys[i], t.slots[i] = t.keys[j], t.slots[j]
			i = j
		}
	}
	t.keys[i], t.slots[i] = noKey, nil
}

// each visits all live goroutines.
func (t *table) each(f func(*goroutine)) {
	for i, k := range t.keys {
		if k != noKey {
			f(t.slots[i])
		}
	}
}
