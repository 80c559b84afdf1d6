package kernel

import (
	"context"
	"math/bits"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/host"
)

func small() Config {
	return Config{Budget: 2 * time.Millisecond, StreamBytes: 3 << 20, RandomBytes: 1 << 20}
}

func TestSession(t *testing.T) {
	ctx := context.Background()
	s, err := Calibrate(ctx, host.Info{}, small())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ops := map[string]int64{}
	for _, threads := range []int{1, 2, 3, 7} { // 7: more than most test machines' CPUs
		runs, err := s.All(ctx, threads, 4)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != len(Names()) {
			t.Fatalf("%d runs", len(runs))
		}
		for i, r := range runs {
			if r.Kernel != Names()[i] || r.Threads != threads || r.Block != 4 || r.WallNS < 1 || r.Ops < 1 {
				t.Errorf("%+v", r)
			}
			if first, ok := ops[r.Kernel]; ok && first != r.Ops {
				t.Errorf("%s: %d operations at T=%d, %d before", r.Kernel, r.Ops, threads, first)
			}
			ops[r.Kernel] = r.Ops
			if r.Kernel != Atomic && r.HopNS != 0 {
				t.Errorf("%s has a hop time", r.Kernel)
			}
		}
	}
	if _, err := s.Run(ctx, "nonsense", 1); err == nil {
		t.Error("an unknown kernel runs")
	}
	if _, err := s.Run(ctx, ALU, 0); err == nil {
		t.Error("runs on no thread")
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Run(done, ALU, 1); err == nil {
		t.Error("runs although cancelled")
	}
}

// Every loop computes what its closed form says, for any share of any total: it neither skips work nor
// does the compiler drop it.
func TestResults(t *testing.T) {
	loops := map[string]loop{
		ALU: alu{}, Cache: newCache(3), Random: newRandom(1 << 18), Atomic: contended{new(shared)},
		Stream: newStream(3 << 16),
	}
	loops[Stream].(*stream).passes = 3
	for name, l := range loops {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				top := int64(20_000)
				if m := l.most(); m > 0 {
					top = m
				}
				lo := rapid.Int64Range(0, top).Draw(t, "lo")
				hi := rapid.Int64Range(lo, top).Draw(t, "hi")
				w := rapid.IntRange(0, 2).Draw(t, "worker")
				salt := rapid.Uint64().Draw(t, "salt")
				if got, want := l.share(w, lo, hi, salt), l.want(w, lo, hi, salt); got != want {
					t.Fatalf("got %#x, want %#x", got, want)
				}
			})
		})
	}
}

// The closed form itself, against plain stepping.
func TestPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 500).Draw(t, "n")
		x := rapid.Uint64().Draw(t, "x")
		want := x
		for range n {
			want = want*lcgA + lcgC
		}
		if got := (step{lcgA, lcgC}).power(n).at(x); got != want {
			t.Fatalf("power(%d).at(%d) = %d, want %d", n, x, got, want)
		}
	})
}

// The memory loops read the memory that they claim to read: one changed word changes the result.
func TestMemoryIsRead(t *testing.T) {
	c := newCache(1)
	lines := int64(len(c.buffers[0]) / lineWords)
	before := c.share(0, 0, 2*lines, 0)
	c.buffers[0][5*lineWords]++
	if got := c.share(0, 0, 2*lines, 0) - before; got != 2 {
		t.Errorf("two passes see a changed word %d times", got)
	}

	r := newRandom(1 << 18)
	n := int64(len(r.next) / lineWords)
	// Each load's address is the load before it: a word changed early in the walk moves its end.
	end := r.share(0, 0, n/2, 0)
	third := r.place(3, 0)
	r.next[third*lineWords] = r.next[third*lineWords] ^ 1
	if got := r.share(0, 0, n/2, 0); got == end {
		t.Error("the walk's end does not depend on a link at its start")
	}

	s := newStream(3 << 16)
	s.share(0, 0, s.most(), 9)
	for _, i := range []int{0, 1, len(s.a) / 3, len(s.a) - 1} {
		if want := uint64(i) + 9*uint64(2*i+1); s.a[i] != want {
			t.Errorf("a[%d] = %d, want %d", i, s.a[i], want)
		}
	}
}

// The random walk visits every line before it returns.
func TestRandomIsOneCycle(t *testing.T) {
	r := newRandom(1 << 18)
	lines := len(r.next) / lineWords
	if bits.OnesCount(uint(lines)) != 1 || lines*lineWords*8 > 1<<18 {
		t.Fatalf("%d lines", lines)
	}
	seen := make([]bool, lines)
	at := uint64(0)
	far := 0
	for range lines {
		if seen[at] {
			t.Fatalf("line %d is visited twice", at)
		}
		seen[at] = true
		next := r.next[at*lineWords]
		if d := int64(next) - int64(at); d > 64 || d < -64 { // beyond the page
			far++
		}
		at = next
	}
	if at != 0 || far < lines*9/10 {
		t.Errorf("the walk ends at %d, %d of %d steps leave the page", at, far, lines)
	}
}

// The measured loops allocate nothing.
func TestNoAllocation(t *testing.T) {
	s := newStream(3 << 16)
	for name, l := range map[string]loop{
		ALU: alu{}, Cache: newCache(1), Random: newRandom(1 << 16), Atomic: contended{new(shared)}, Stream: s,
	} {
		n := int64(500)
		if m := l.most(); m > 0 {
			n = min(n, m)
		}
		var sink uint64
		if allocs := testing.AllocsPerRun(10, func() { sink += l.share(0, 0, n, 1) }); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
		runtime.KeepAlive(sink)
	}
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<60).Draw(t, "n")
		workers := rapid.IntRange(1, 500).Draw(t, "workers")
		next, least, most := int64(0), n, int64(0)
		for w := range workers {
			lo, hi := split(n, workers, w)
			if lo != next || hi < lo {
				t.Fatalf("worker %d has [%d, %d), the last ended at %d", w, lo, hi, next)
			}
			next, least, most = hi, min(least, hi-lo), max(most, hi-lo)
		}
		if next != n || most-least > 1 {
			t.Fatalf("parts end at %d of %d, from %d to %d", next, n, least, most)
		}
	})
}

func TestBounce(t *testing.T) {
	ns, ok := Bounce()
	if runtime.NumCPU() < 2 {
		if ok {
			t.Errorf("%v ns on one CPU", ns)
		}
		return
	}
	if ok && (ns <= 0 || ns > float64(bounceLimit)) {
		t.Errorf("a hand-over takes %v ns", ns)
	}
}

// GOMAXPROCS is what it was after a kernel that needed more.
func TestWidenIsUndone(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	s, err := Calibrate(context.Background(), host.Info{}, Config{Budget: time.Millisecond, Kernels: []string{ALU}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background(), ALU, 2); err != nil {
		t.Fatal(err)
	}
	if got := runtime.GOMAXPROCS(0); got != 1 {
		t.Errorf("GOMAXPROCS is %d", got)
	}
}

func TestMemorySizes(t *testing.T) {
	for _, test := range []struct {
		name   string
		info   host.Info
		free   int64
		stream int64
		random int64
	}{
		{"unknown", host.Info{}, 0, 64 << 20, 64 << 20},
		{"one big cache", host.Info{LLCBytes: 32 << 20, LLCs: 1}, 24 << 30, 64 << 20, 128 << 20},
		{"eight caches", host.Info{LLCBytes: 32 << 20, LLCs: 8}, 64 << 30, 512 << 20, 128 << 20},
		{"little memory", host.Info{LLCBytes: 32 << 20, LLCs: 1}, 128 << 20, 16 << 20, 16 << 20},
	} {
		if s, r := memorySizes(test.info, test.free); s != test.stream || r != test.random {
			t.Errorf("%s: %d MB and %d MB", test.name, s>>20, r>>20)
		}
	}
}

func BenchmarkLoops(b *testing.B) {
	for name, l := range map[string]loop{
		ALU: alu{}, Cache: newCache(1), Random: newRandom(128 << 20), Atomic: contended{new(shared)}, Stream: newStream(96 << 20),
	} {
		b.Run(name, func(b *testing.B) {
			n := int64(b.N)
			if m := l.most(); m > 0 {
				for ; n > m; n -= m {
					l.share(0, 0, m, 1)
				}
			}
			l.share(0, 0, n, 1)
		})
	}
}
