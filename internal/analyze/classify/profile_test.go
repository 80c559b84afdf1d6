package classify

import (
	"bytes"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// enough is how many samples a test wants, and few how many it takes where the
// machine gives no more.
const enough, few = 20, 10

// sampled runs work on n goroutines under a CPU profile, longer if too few
// samples came, and returns the share of each cause, the call paths by weight, and
// the number of samples.
func sampled(t *testing.T, n int, work func(worker int, stop func() bool)) (map[cause.ID]float64, []string, float64) {
	t.Helper()
	for d := 250 * time.Millisecond; ; d *= 4 {
		shares, listed, all := sampledFor(t, d, n, work)
		if all >= enough || d >= time.Second && all >= few {
			return shares, listed, all
		}
		if d >= time.Second {
			t.Skipf("only %v samples in %v: the machine is too busy", all, d)
		}
	}
}

func sampledFor(t *testing.T, d time.Duration, n int, work func(worker int, stop func() bool)) (map[cause.ID]float64, []string, float64) {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skip("another CPU profile is running")
	}
	var stopped atomic.Bool
	time.AfterFunc(d, func() { stopped.Store(true) })
	var wg sync.WaitGroup
	for w := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work(w, stopped.Load)
		}()
	}
	wg.Wait()
	pprof.StopCPUProfile()
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	shares, all := map[cause.ID]float64{}, 0.0
	lines := map[string]float64{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				frames = append(frames, line.Function.Name)
			}
		}
		id, rule := Explain(of(frames...))
		shares[id] += float64(s.Value[0])
		all += float64(s.Value[0])
		lines[string(id)+" by "+rule.Name+": "+strings.Join(frames, " < ")] += float64(s.Value[0])
	}
	for id := range shares {
		shares[id] /= all
	}
	var listed []string
	for l := range lines {
		listed = append(listed, l)
	}
	sort.Slice(listed, func(i, j int) bool { return lines[listed[i]] > lines[listed[j]] })
	for i, l := range listed {
		listed[i] = strconv.FormatFloat(lines[l]/all, 'f', 3, 64) + " " + l
	}
	return shares, listed, all
}

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

//go:noinline
func deep(n int) int {
	var pad [64]byte
	pad[n%64] = 1
	if n == 0 {
		return int(pad[0])
	}
	return deep(n-1) + int(pad[n%64])
}

var (
	sinkTree  atomic.Pointer[tree]
	sinkBytes atomic.Pointer[[]byte]
	sinkN     atomic.Int64
)

// TestOfThisGo profiles small programs whose costs are known, and asks that the
// classes which can be meant carry most of the samples. The shares depend on the
// machine little, as all but the named cost is small.
func TestOfThisGo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes profiles of a quarter of a second each")
	}
	if raceEnabled {
		t.Skip("the race detector would be what is sampled")
	}
	in := func(ids ...cause.ID) []cause.ID { return ids }
	gc := in(cause.GCAssist, cause.GCMark, cause.GCSTW, cause.GCSweep, cause.GCScavenge, cause.GCWriteBarrier)
	alloc := in(cause.AllocMalloc, cause.AllocRefill, cause.AllocHeap, cause.AllocZero)
	sched := in(cause.SchedFind, cause.SchedSwitch, cause.LockRuntime, cause.SchedPreempt)
	guarded := 0
	var mu sync.Mutex
	var rw sync.RWMutex
	var m sync.Map
	for i := range 1000 {
		m.Store(i, i)
	}
	pool := sync.Pool{New: func() any { return new([64]byte) }}
	plain := map[string]int{}
	for i := range 1000 {
		plain[strconv.Itoa(i)] = i
	}
	for _, tt := range []struct {
		name  string
		n     int
		work  func(w int, stop func() bool)
		want  []cause.ID // together at least min
		min   float64
		never []cause.ID // together at most 5%
	}{
		{"compute", 2, func(_ int, stop func() bool) {
			x := uint64(1)
			for !stop() {
				for range 10_000 {
					x ^= x << 13
					x ^= x >> 7
				}
			}
			sinkN.Store(int64(x))
		}, in(cause.WorkUser), 0.95, append(append(gc, alloc...), cause.LockMutex)},
		{"maps", 2, func(_ int, stop func() bool) {
			n := 0
			for !stop() {
				for k := range plain {
					n += plain[k]
				}
			}
			sinkN.Store(int64(n))
		}, in(cause.WorkUser), 0.95, append(gc, alloc...)},
		{"small objects", 2, func(_ int, stop func() bool) {
			for !stop() {
				sinkTree.Store(grow(8))
			}
		}, append(append(in(), gc...), alloc...), 0.7, in(cause.LockMutex, cause.LockChannel)},
		{"large objects", 2, func(_ int, stop func() bool) {
			for !stop() {
				b := make([]byte, 1<<20)
				sinkBytes.Store(&b)
			}
		}, append(append(append(in(), gc...), alloc...), sched...), 0.8, in(cause.WorkUser, cause.LockMutex)},
		{"mutex", 2, func(_ int, stop func() bool) {
			for !stop() {
				for range 100 {
					mu.Lock()
					guarded++
					mu.Unlock()
				}
			}
		}, append(in(cause.LockMutex), sched...), 0.8, alloc},
		{"rwmutex", 2, func(_ int, stop func() bool) {
			for !stop() {
				for range 100 {
					rw.RLock()
					seen := guarded
					rw.RUnlock()
					if seen < 0 {
						return
					}
				}
			}
		}, in(cause.LockRWMutex), 0.8, append(alloc, cause.LockMutex)},
		{"channel", 1, func(_ int, stop func() bool) {
			c := make(chan int)
			go func() {
				for range c {
				}
			}()
			for !stop() {
				c <- 1
			}
			close(c)
		}, append(in(cause.LockChannel, cause.LockSelect, cause.SchedNetpoll), sched...), 0.7, in(cause.LockMutex)},
		{"sync.Map", 2, func(w int, stop func() bool) {
			for i := w; !stop(); i++ {
				m.Store(i%1000, 1)
			}
		}, append(append(in(cause.LockMap), gc...), alloc...), 0.6, in(cause.LockRWMutex, cause.LockChannel)},
		{"pool", 2, func(_ int, stop func() bool) {
			for !stop() {
				for range 100 {
					pool.Put(pool.Get())
				}
			}
		}, in(cause.LockPool), 0.7, append(alloc, cause.LockMutex)},
		{"goroutines", 2, func(_ int, stop func() bool) {
			var wg sync.WaitGroup
			for !stop() {
				for range 100 {
					wg.Add(1)
					go wg.Done()
				}
				wg.Wait()
			}
		}, append(in(cause.SchedSpawn, cause.LockWaitGroup), sched...), 0.7, in(cause.LockMutex, cause.AllocHeap)},
		{"stacks", 2, func(_ int, stop func() bool) {
			for !stop() {
				done := make(chan struct{})
				go func() { sinkN.Add(int64(deep(1000))); close(done) }()
				<-done
			}
		}, in(cause.AllocStackGrowth), 0.3, in(cause.LockMutex)},
		{"system calls", 2, func(_ int, stop func() bool) {
			f, err := os.Open(os.DevNull)
			if err != nil {
				return
			}
			defer f.Close()
			var b [1]byte
			for !stop() {
				_, _ = f.ReadAt(b[:], 0)
			}
		}, in(cause.IOSyscall), 0.6, append(alloc, cause.LockChannel)},
		{"timers", 2, func(_ int, stop func() bool) {
			for !stop() {
				for range 10 {
					tm := time.NewTimer(time.Hour)
					tm.Stop()
				}
			}
		}, append(append(in(cause.SchedTimers), gc...), alloc...), 0.5, in(cause.LockMutex)},
		{"write barriers", 2, func(_ int, stop func() bool) {
			// Marking must be on for much of the time: a live heap, collected again and again.
			live := make([]*tree, 1<<16)
			for i := range live {
				live[i] = &tree{}
			}
			go func() {
				for !stop() {
					runtime.GC()
				}
			}()
			for !stop() {
				for i := 1; i < len(live); i++ {
					live[i-1], live[i] = live[i], live[i-1]
				}
			}
		}, append(in(cause.WorkUser), gc...), 0.9, append(in(cause.LockMutex), alloc...)},
		{"sockets", 1, func(_ int, stop func() bool) {
			a, b := pipe(t)
			if a == nil {
				return
			}
			defer a.Close()
			defer b.Close()
			var buf [64]byte
			for !stop() {
				_, _ = a.Write(buf[:])
				_, _ = b.Read(buf[:])
			}
		}, append(in(cause.IOSyscall, cause.IONetwork, cause.SchedNetpoll), sched...), 0.8, alloc},
		{"stop the world", 1, func(_ int, stop func() bool) {
			var ms runtime.MemStats
			for !stop() {
				runtime.ReadMemStats(&ms)
			}
		}, append(in(cause.GCSTW), sched...), 0.8, in(cause.LockMutex)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer debug.SetGCPercent(debug.SetGCPercent(100))
			shares, listed, n := sampled(t, tt.n, tt.work)
			got, wrong := 0.0, 0.0
			for _, id := range tt.want {
				got += shares[id]
			}
			for _, id := range tt.never {
				wrong += shares[id]
			}
			slack := 3 / n // a few samples prove nothing
			if got < tt.min-slack || wrong > 0.05+slack || shares[cause.Unexplained] > 0.05+slack {
				t.Errorf("wanted causes carry %.2f (at least %.2f wanted), wrong ones %.2f, shares %v\n%s", got, tt.min, wrong, shares, strings.Join(listed[:min(len(listed), 25)], "\n"))
			}
			if testing.Verbose() {
				t.Logf("%v", shares)
			}
		})
	}
}

func pipe(t *testing.T) (a, b net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Log("no loopback:", err)
		return nil, nil
	}
	defer l.Close()
	c := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			conn = nil
		}
		c <- conn
	}()
	a, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Log("no loopback:", err)
		return nil, nil
	}
	return a, <-c
}

func BenchmarkStack(b *testing.B) {
	for _, tt := range []struct{ name, frames string }{
		{"user", strings.Repeat("main.f < ", 30) + "main.main"},
		{"deep", "runtime.futexwakeup < runtime.notewakeup < runtime.startm < runtime.wakep < runtime.ready < runtime.goready.func1 < runtime.systemstack < runtime.goready < runtime.send < runtime.chansend < runtime.chansend1 < main.f < main.main"},
	} {
		frames := strings.Split(tt.frames, " < ")
		at := func(i int) string { return frames[i] }
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Stack(len(frames), at)
			}
		})
	}
}

func TestStackAllocatesNothing(t *testing.T) {
	frames := strings.Split("runtime.memclrNoHeapPointers < runtime.mallocgc < decode_ < main.f", " < ")
	if n := testing.AllocsPerRun(100, func() { Stack(len(frames), func(i int) string { return frames[i] }) }); n != 0 {
		t.Errorf("%v allocations for a stack", n)
	}
}

func FuzzStack(f *testing.F) {
	for _, s := range stacks {
		f.Add(s.frames, "sync")
	}
	f.Fuzz(func(t *testing.T, text, reason string) {
		frames := strings.Split(text, " < ")
		id, _ := Explain(of(frames...))
		if _, ok := cause.Lookup(id); !ok {
			t.Errorf("%q is %q, which the catalogue lacks", text, id)
		}
		if id := WaitCause(reason, len(frames), func(i int) string { return frames[i] }); id.Group() == "" {
			t.Errorf("waiting at %q is %q", text, id)
		}
	})
}

// TestEveryRuleIsReached keeps rules from being shadowed by earlier ones.
func TestEveryRuleIsReached(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range stacks {
		var frames []string
		if s.frames != "" {
			frames = strings.Split(s.frames, " < ")
		}
		_, r := Explain(of(frames...))
		seen[r.Name] = true
	}
	names := map[string]bool{}
	for _, r := range Rules() {
		if names[r.Name] {
			t.Errorf("two rules are called %q", r.Name)
		}
		names[r.Name] = true
		if r.Why == "" {
			t.Errorf("rule %q does not say why", r.Name)
		}
		if _, ok := cause.Lookup(r.Cause); !ok {
			t.Errorf("rule %q: the catalogue lacks %s", r.Name, r.Cause)
		}
		if !seen[r.Name] {
			t.Errorf("no stack of the tests is decided by rule %q", r.Name)
		}
	}
}
