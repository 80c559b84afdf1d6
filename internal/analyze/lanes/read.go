package lanes

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/classify"
	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Input is what is known of a run besides its trace. Every field may be absent;
// what it would tell is then not told apart.
type Input struct {
	Result *recorder.Result // of the process that the trace is of
	System *record.System   // the machine around the run
	// Processes is how many processes the run had, for the share in System's
	// figures that one of them gets; 0 means 1.
	Processes int
	// Profile is the process's CPU profile. It is used where the trace holds no
	// samples.
	Profile *profile.Profile
	// PeriodNS is the time between two CPU samples of a thread, 0 for the 10 ms
	// of runtime/pprof.
	PeriodNS int64
	Rules    *Rules // nil for package classify's
	// Watch is told what each lane and P did, span by span as they end; nil for
	// nobody. It costs an accounting of many Ps much of its speed.
	Watch func(Span)
}

func (in *Input) rules() Rules {
	if in.Rules != nil {
		return *in.Rules
	}
	return Rules{Run: classify.Stack, Wait: classify.WaitCause}
}

func (in *Input) period() int64 {
	if in.PeriodNS > 0 {
		return in.PeriodNS
	}
	return 10_000_000
}

// ErrNoWindow says that a trace holds no event of a window that could be accounted.
var ErrNoWindow = errors.New("the trace holds nothing to account")

// Read accounts for the slot time of one process from its execution trace. A
// trace that ends early or is damaged is used as far as it goes, and the
// Account says so; the error is then nil. It fails where nothing can be used.
func Read(ctx context.Context, r io.Reader, in Input) (*Account, error) {
	src, err := openStream(r)
	if err != nil {
		return nil, fmt.Errorf("reading trace: %w", err)
	}
	return account(ctx, src, in)
}

// source yields a trace's events in order.
type source interface {
	// feed gives events to the pass until its window is closed. It returns io.EOF
	// at the stream's end.
	feed(context.Context, *pass) error
}

func account(ctx context.Context, src source, in Input) (*Account, error) {
	a := newPass(&in)
	a.foreign = newForeign()
	if in.Watch != nil {
		a.watch = &watch{tell: in.Watch}
	}
	err := src.feed(ctx, a)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("reading trace: %w", ctx.Err())
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if a.watch != nil {
		a.watch.end(a.now)
	}
	return a.finish(err)
}

// take is event for streams that somebody may watch.
func (a *pass) take(ev *event) {
	a.event(ev)
	if a.watch != nil {
		a.watch.see(a, ev)
	}
}
