package recorder

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// pacing keeps collections as frequent under the recorders as without them. What
// profilers keep on the heap (several MB) counts as live, and the collector
// would allow the program so much more allocation before it runs again: a
// program with a heap of the least size then collects half as often, and its
// profile is one of another program.
type pacing struct {
	headroom float64 // bytes of allocation between two collections without the recorders
}

// leastHeap is the goal below which the collector does not go at GOGC=100
// (runtime/mgcpacer.go, defaultHeapMinimum).
const leastHeap = 4 << 20

// heapMarked are the bytes that the last collection found live, and those that
// it scanned beside them; false where the runtime does not tell.
func heapMarked() (live, roots float64, ok bool) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	for _, x := range s {
		if x.Value.Kind() != metrics.KindUint64 {
			return 0, 0, false
		}
	}
	return float64(s[0].Value.Uint64()), float64(s[1].Value.Uint64() + s[2].Value.Uint64()), true
}

// measure is called right after a collection, before any recorder is on.
func (p *pacing) measure() {
	live, roots, ok := heapMarked()
	percent := gcPercent()
	// A memory limit paces by another rule; there the recorders' share is small.
	if !ok || percent <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	goal := live + (live+roots)*float64(percent)/100
	if least := float64(leastHeap) * float64(percent) / 100; goal < least {
		goal = least
	}
	p.headroom = goal - live
}

// restore is called with the recorders on. It collects, and sets GOGC so that
// the program may allocate as much as before until the next collection.
func (p *pacing) restore() {
	if p.headroom <= 0 {
		return
	}
	runtime.GC()
	live, roots, ok := heapMarked()
	if !ok || live+roots <= 0 {
		return
	}
	percent := int(100*p.headroom/(live+roots) + 0.5)
	if percent < 1 {
		percent = 1
	}
	if percent < gcPercent() {
		debug.SetGCPercent(percent)
	}
}

// gcPercent is GOGC as it is now.
func gcPercent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	n := s[0].Value.Uint64()
	if n > 1<<30 { // off
		return 0
	}
	return int(n)
}
