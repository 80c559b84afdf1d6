package kernel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Config sizes a session. The zero value is right for this machine.
type Config struct {
	Budget time.Duration // of one run at T=1, all its repeats, at most 100 ms; 0 is 60 ms
	// Bytes of the stream's arrays together and of the random walk's; 0 is by the last-level caches and
	// the free memory.
	StreamBytes, RandomBytes int64
	Kernels                  []string // which, nil is all of Names
}

const (
	defaultBudget = 60 * time.Millisecond
	maxBudget     = 100 * time.Millisecond

	// A run is the fastest of so many repeats: the ceiling is what the machine can give, and a
	// neighbour's few ms would otherwise be a good part of a kernel's time.
	repeats = 3
)

// Session is a calibrated set of kernels: totals that stay the same at every T. It holds the
// memory of the memory kernels until Close. It is not safe for concurrent use: two kernels at once would
// measure each other.
type Session struct {
	order []string
	loops map[string]loop
	total map[string]int64
	salt  uint64
}

// Result is one run of one kernel.
type Result struct {
	WallNS int64
	Ops    int64
	HopNS  float64 // atomic: core-to-core latency at T>1; 0 unknown
}

// Calibrate makes the kernels and finds for each the total that takes the budget: at T=1, for the atomic at
// all CPUs, where it is slowest.
func Calibrate(ctx context.Context, info host.Info, cfg Config) (*Session, error) {
	if cfg.Budget <= 0 {
		cfg.Budget = defaultBudget
	}
	cfg.Budget = min(cfg.Budget, maxBudget)
	if cfg.StreamBytes <= 0 || cfg.RandomBytes <= 0 {
		stream, random := memorySizes(info, host.FreeMemory())
		if cfg.StreamBytes <= 0 {
			cfg.StreamBytes = stream
		}
		if cfg.RandomBytes <= 0 {
			cfg.RandomBytes = random
		}
	}
	if cfg.Kernels == nil {
		cfg.Kernels = Names()
	}
	s := &Session{order: cfg.Kernels, loops: map[string]loop{}, total: map[string]int64{}, salt: 1}
	for _, name := range cfg.Kernels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := newLoop(name, cfg)
		if err != nil {
			return nil, err
		}
		s.loops[name] = l
		if err := s.fit(ctx, name, cfg.Budget); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newLoop(name string, cfg Config) (loop, error) {
	switch name {
	case ALU:
		return alu{}, nil
	case Cache:
		return newCache(1), nil
	case Stream:
		return newStream(cfg.StreamBytes), nil
	case Random:
		return newRandom(cfg.RandomBytes), nil
	case Atomic:
		return contended{new(shared)}, nil
	}
	return nil, fmt.Errorf("no calibration kernel is named %q", name)
}

// memorySizes: the arrays must exceed the caches that all workers have together (stream, of which each reads
// its part) or that one has (random, where each walks over all), and leave most of the free memory alone.
func memorySizes(info host.Info, free int64) (stream, random int64) {
	const least, most = 64 << 20, 512 << 20
	llc := max(info.LLCBytes, 8<<20)
	stream = min(max(2*llc*int64(max(info.LLCs, 1)), least), most)
	random = min(max(4*llc, least), most/2)
	if free > 0 {
		stream, random = min(stream, free/8), min(random, free/8)
	}
	return max(stream, 1<<20), max(random, 1<<20)
}

// fit doubles the total until a run takes a measurable part of its share of the budget, then scales it.
func (s *Session) fit(ctx context.Context, name string, budget time.Duration) error {
	l := s.loops[name]
	budget /= repeats
	workers := 1
	if name == Atomic {
		workers = max(1, runtime.NumCPU())
	}
	n := int64(1 << 10)
	if most := l.most(); most > 0 {
		n = min(n, most)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.total[name] = n
		r, err := s.Run(ctx, name, workers)
		if err != nil {
			return err
		}
		most := l.most()
		full := most > 0 && n >= most
		if time.Duration(r.WallNS) < budget/5 && !full {
			n *= 2
			if most > 0 {
				n = min(n, most)
			}
			continue
		}
		scale := float64(budget) / float64(max(r.WallNS, 1))
		if st, ok := l.(*stream); ok && full && scale > 1 {
			st.passes = max(1, int64(scale))
			return nil
		}
		n = max(int64(float64(n)*scale), 1)
		if most > 0 {
			n = min(n, most)
		}
		s.total[name] = n
		return nil
	}
}

// Run measures one kernel at T workers and checks what it computed.
func (s *Session) Run(ctx context.Context, name string, threads int) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	l, ok := s.loops[name]
	if !ok {
		return Result{}, fmt.Errorf("calibration kernel %q is not in this session", name)
	}
	if threads < 1 {
		return Result{}, fmt.Errorf("calibration kernel %s: %d threads", name, threads)
	}
	if c, ok := l.(*cache); ok {
		c.grow(threads)
	}
	r := Result{WallNS: math.MaxInt64, Ops: l.ops(s.total[name])}
	for range repeats {
		wall, err := s.once(name, l, threads)
		if err != nil {
			return Result{}, err
		}
		r.WallNS = min(r.WallNS, max(wall.Nanoseconds(), 1))
	}
	if name == Atomic && threads > 1 {
		r.HopNS, _ = Bounce()
	}
	return r, nil
}

// once measures one repeat and checks every worker's result.
func (s *Session) once(name string, l loop, threads int) (time.Duration, error) {
	s.salt = s.salt*lcgA + lcgC
	n, before := s.total[name], uint64(0)
	word, isAtomic := l.(contended)
	if isAtomic {
		before = word.word.n.Load()
	}
	wall, values := measure(l, threads, n, s.salt)
	for w, got := range values {
		lo, hi := split(n, threads, w)
		if want := l.want(w, lo, hi, s.salt); got != want {
			return 0, errWrong(name, w, got, want)
		}
	}
	if isAtomic {
		if got := word.word.n.Load() - before; got != uint64(n) {
			return 0, errWrong(name, 0, got, uint64(n))
		}
	}
	return wall, nil
}

// Record is Run in the manifest's form.
func (s *Session) Record(ctx context.Context, name string, threads, block int) (record.KernelRun, error) {
	r, err := s.Run(ctx, name, threads)
	if err != nil {
		return record.KernelRun{}, err
	}
	return record.KernelRun{
		Kernel: name, Threads: threads, Block: block, WallNS: r.WallNS, Ops: r.Ops, HopNS: r.HopNS,
	}, nil
}

// All records every kernel of the session once at T workers.
func (s *Session) All(ctx context.Context, threads, block int) ([]record.KernelRun, error) {
	var out []record.KernelRun
	for _, name := range s.order {
		r, err := s.Record(ctx, name, threads, block)
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Close gives the memory back.
func (s *Session) Close() { s.loops = nil }

// Run calibrates one kernel and runs it once: for a look, not for a curve, as another call has
// another total.
func Run(ctx context.Context, name string, threads int, budget time.Duration) (Result, error) {
	info, _ := host.Read("/")
	s, err := Calibrate(ctx, info, Config{Budget: budget, Kernels: []string{name}})
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	return s.Run(ctx, name, threads)
}
