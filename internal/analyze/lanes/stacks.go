package lanes

import (
	"strings"

	"golang.org/x/exp/trace"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// stackID numbers the distinct call paths of a pass; 0 is none.
type stackID = int32

const (
	maxStacks = 1 << 16 // distinct call paths kept; what comes after has none
	maxFrames = 256
)

// stackInfo is what is known of a call path; everything that needs its function
// names is found out once.
type stackInfo struct {
	stack     *Stack
	site      int32 // of the first frame that is not the runtime's or sync's, see lockSites
	run       causeID
	hasRun    bool
	wait      [numReasons]causeID
	hasWait   [numReasons]bool
	kernel    bool // the leaf is in the kernel, by a system call of the program or of the runtime
	fresh     bool // the leaf touches memory that may be new: it clears or copies, or allocates
	broadcast bool // wakes everybody who waits: close, Broadcast
	starts    class
	serves    bool // begins where a server answers a connection, see serving
}

// stackTable interns call paths. Stacks of the library are valid within a
// generation only and keep its tables alive, so they are forgotten at each.
type stackTable struct {
	infos   []stackInfo
	byTrace map[trace.Stack]stackID
	recent  [16]seen                // found lately, by what asked for it
	ranges  map[trace.Stack]stackID // as byTrace, without the recorder's own frames
	byHash  map[uint64][]stackID
	sites   map[siteKey]int32
	parent  []int32 // union-find over sites
	scratch []Frame
	lost    int // stacks not kept
	causes  *causes
	rules   Rules
}

// seen is a stack of the library that was interned.
type seen struct {
	stack trace.Stack
	id    stackID
}

// siteKey is a place in the program.
type siteKey struct {
	fn   string
	line int
}

func newStackTable(c *causes, rules Rules) *stackTable {
	return &stackTable{
		infos:   make([]stackInfo, 1, 256),
		byTrace: make(map[trace.Stack]stackID),
		ranges:  make(map[trace.Stack]stackID),
		byHash:  make(map[uint64][]stackID),
		sites:   make(map[siteKey]int32),
		parent:  make([]int32, 1),
		causes:  c,
		rules:   rules,
	}
}

// forget drops the handles of a generation that has ended.
func (t *stackTable) forget() {
	clear(t.byTrace)
	clear(t.ranges)
	t.recent = [16]seen{}
}

// rangeID interns the stack at which a range began, from the function that it
// is about: the recorder's frames that noted it are left out.
func (t *stackTable) rangeID(s trace.Stack) stackID {
	if s == trace.NoStack {
		return 0
	}
	if id, ok := t.ranges[s]; ok {
		return id
	}
	id := t.id(s)
	if id != 0 {
		frames := t.infos[id].stack.Frames
		n := 0
		for n < len(frames)-1 && strings.HasPrefix(frames[n].Func, "runtime.trace") {
			n++
		}
		id = t.intern(frames[n:])
	}
	t.ranges[s] = id
	return id
}

// idAt is id with a memory for each n, a small number: what goroutine n does is
// often what it did before.
func (t *stackTable) idAt(s trace.Stack, n int64) stackID {
	r := &t.recent[n&15]
	if s != r.stack {
		r.stack, r.id = s, t.id(s)
	}
	return r.id
}

// id interns a stack.
func (t *stackTable) id(s trace.Stack) stackID {
	if s == trace.NoStack {
		return 0
	}
	if id, ok := t.byTrace[s]; ok {
		return id
	}
	t.scratch = t.scratch[:0]
	for f := range s.Frames() {
		if len(t.scratch) == maxFrames {
			break
		}
		t.scratch = append(t.scratch, Frame{Func: f.Func, File: f.File, Line: int(f.Line), PC: f.PC})
	}
	id := t.intern(t.scratch)
	t.byTrace[s] = id
	return id
}

// intern finds or keeps a stack by its frames, which it copies.
func (t *stackTable) intern(frames []Frame) stackID {
	if n := len(frames); n > 1 && frames[n-1].Func == "runtime.goexit" {
		frames = frames[:n-1]
	}
	if len(frames) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for i := range frames {
		h = (h ^ frames[i].PC ^ uint64(len(frames[i].Func))<<48) * 1099511628211
	}
	for _, id := range t.byHash[h] {
		if sameFrames(t.infos[id].stack.Frames, frames) {
			return id
		}
	}
	if len(t.infos) >= maxStacks {
		t.lost++
		return 0
	}
	id := stackID(len(t.infos))
	t.infos = append(t.infos, t.describe(append([]Frame(nil), frames...)))
	t.byHash[h] = append(t.byHash[h], id)
	return id
}

func sameFrames(a, b []Frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].PC != b[i].PC || a[i].Func != b[i].Func || a[i].Line != b[i].Line {
			return false
		}
	}
	return true
}

func (t *stackTable) describe(frames []Frame) stackInfo {
	leaf := frames[0].Func
	info := stackInfo{
		stack:  &Stack{Frames: frames},
		starts: startClass(frames[len(frames)-1].Func), serves: frames[len(frames)-1].Func == serving,
		kernel: kernelLeaf(leaf),
		fresh:  strings.HasPrefix(leaf, "runtime.memclr") || strings.HasPrefix(leaf, "runtime.memmove"),
	}
	for i := range frames {
		fn := frames[i].Func
		if fn == "runtime.closechan" || fn == "sync.(*Cond).Broadcast" {
			info.broadcast = true
		}
		if !lowest(fn) {
			info.site = t.site(siteKey{fn, frames[i].Line})
			break
		}
	}
	return info
}

func (t *stackTable) site(k siteKey) int32 {
	if s, ok := t.sites[k]; ok {
		return s
	}
	s := int32(len(t.parent))
	t.sites[k] = s
	t.parent = append(t.parent, s)
	return s
}

// find is the representative of a site's class: the lock calls and unlock calls
// that were seen to meet at one lock.
func (t *stackTable) find(s int32) int32 {
	for t.parent[s] != s {
		t.parent[s] = t.parent[t.parent[s]]
		s = t.parent[s]
	}
	return s
}

func (t *stackTable) union(a, b int32) int32 {
	a, b = t.find(a), t.find(b)
	if a > b {
		a, b = b, a
	}
	if a == 0 {
		return b
	}
	t.parent[b] = a
	return a
}

func (t *stackTable) get(id stackID) *Stack { return t.infos[id].stack }

// running is the cause of CPU time at a stack.
func (t *stackTable) running(id stackID) causeID {
	info := &t.infos[id]
	if !info.hasRun {
		info.hasRun = true
		info.run = t.causes.number(t.rules.Run(t.names(id)))
	}
	return info.run
}

// waiting is the cause of time parked at a stack for a reason.
func (t *stackTable) waiting(id stackID, why reason) causeID {
	info := &t.infos[id]
	if !info.hasWait[why] {
		info.hasWait[why] = true
		n, frame := t.names(id)
		info.wait[why] = t.causes.number(t.rules.Wait(reasonNames[why], n, frame))
	}
	return info.wait[why]
}

func (t *stackTable) names(id stackID) (int, func(int) string) {
	if id == 0 {
		return 0, nil
	}
	frames := t.infos[id].stack.Frames
	return len(frames), func(i int) string { return frames[i].Func }
}

// Rules give a stack its cause; package classify's are meant.
type Rules struct {
	Run  func(n int, frame func(i int) string) cause.ID
	Wait func(reason string, n int, frame func(i int) string) cause.ID
}

// lowest says whether a frame is of the layers that locks and channels are made of.
func lowest(fn string) bool {
	return strings.HasPrefix(fn, "runtime.") || strings.HasPrefix(fn, "sync.") || strings.HasPrefix(fn, "internal/sync.") ||
		strings.HasPrefix(fn, "internal/runtime/") || strings.HasPrefix(fn, "sync/atomic.")
}

// kernelLeaf says whether a sample at this leaf is in the kernel for a call
// that the program or the runtime made, not for a page fault or an interrupt.
func kernelLeaf(fn string) bool {
	switch fn {
	case "runtime.futex", "runtime.usleep", "runtime.osyield", "runtime.madvise", "runtime.tgkill", "runtime.sysMmap", "runtime.sysMunmap",
		"runtime.mincore", "runtime.rtsigprocmask", "runtime.sigaltstack", "runtime.write1", "runtime.read", "runtime.closefd", "runtime.nanosleep",
		"runtime.clone", "runtime.sched_getaffinity", "runtime.timer_settime", "runtime.setitimer", "runtime.pipe2", "runtime.open":
		return true
	}
	return strings.HasPrefix(fn, "internal/runtime/syscall") || strings.HasPrefix(fn, "syscall.Raw") || strings.HasPrefix(fn, "syscall.raw")
}

// startClass is who a goroutine is by its start function.
func startClass(fn string) class {
	switch {
	case strings.HasPrefix(fn, "runtime.gcBgMarkWorker"):
		return classMark
	case fn == "runtime.bgsweep":
		return classSweep
	case fn == "runtime.bgscavenge":
		return classScavenge
	case fn == "runtime.runfinq", fn == "runtime.runFinalizers", fn == "runtime.runCleanups", strings.HasPrefix(fn, "runtime.(*cleanupQueue)"):
		return classFinalize
	case strings.HasPrefix(fn, "runtime.(*traceAdvancerState)"), strings.HasPrefix(fn, "runtime.traceStartReadCPU"),
		strings.HasPrefix(fn, "runtime/trace."), strings.HasPrefix(fn, "runtime/pprof."), strings.HasPrefix(fn, "github.com/felixge/fgprof."):
		return classObserver
	case fn == "runtime.main":
		return classOther
	case strings.HasPrefix(fn, "runtime."):
		return classSystem
	}
	return classOther
}
