package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Bounds on what the program may answer, and on how long it may take for that
// when a recording is over.
const (
	maxProfile = 32 << 20
	maxTrace   = 64 << 20
	answerTime = 10 * time.Second
)

// longest is how long a recording is asked to last where its end is told: long
// enough for every load, and short enough for a server that does not listen
// to it to be waited for.
const longest = 30 * time.Second

// collector fetches the profiles of one run.
type collector struct {
	base  address
	dir   string // of the run
	want  recorder.Profiles
	stop  chan struct{} // closed when the window ends
	over  sync.WaitGroup
	mu    sync.Mutex
	files []record.Raw
	said  []string // warnings
}

func newCollector(base address, dir string, want recorder.Profiles) *collector {
	return &collector{base: base, dir: dir, want: want, stop: make(chan struct{})}
}

// counters are the profiles that only ever grow: what they say before the
// window is subtracted from what they say after it.
func (c *collector) counters() []string {
	var all []string
	if c.want.Mutex > 0 {
		all = append(all, "mutex")
	}
	if c.want.Block > 0 {
		all = append(all, "block")
	}
	if c.want.Allocs {
		all = append(all, "allocs")
	}
	return all
}

// before fetches the counters before the window. One that cannot be had is not
// asked for again.
func (c *collector) before(ctx context.Context) {
	for _, kind := range c.counters() {
		if c.fetch(ctx, kind, kind+".before", c.base.at(kind)) {
			continue
		}
		switch kind {
		case "mutex":
			c.want.Mutex = 0
		case "block":
			c.want.Block = 0
		case "allocs":
			c.want.Allocs = false
		}
	}
}

// after fetches the counters at the window's end.
func (c *collector) after(ctx context.Context) {
	for _, kind := range c.counters() {
		if !c.fetch(ctx, kind, kind, c.base.at(kind)) {
			c.drop(kind + ".before") // alone it would count backwards
		}
	}
}

// record starts the recordings that go on during the window, for so long at
// most, or until end is called.
func (c *collector) record(ctx context.Context, most time.Duration) {
	if c.want.CPU {
		c.over.Add(1)
		go func() {
			defer c.over.Done()
			c.recordCPU(ctx, most)
		}()
	}
	if c.want.Trace {
		c.over.Add(1)
		go func() {
			defer c.over.Done()
			c.fetch(ctx, "trace", "trace", c.base.at(fmt.Sprintf("trace?seconds=%.1f", most.Seconds())))
		}()
	}
}

// recordCPU asks for whole seconds, as net/http/pprof counts. A server with a
// limit on how long an answer may take refuses what is longer.
func (c *collector) recordCPU(ctx context.Context, most time.Duration) {
	for seconds := max(int(most/time.Second), 1); ; seconds /= 2 {
		err := c.get(ctx, "cpu", "cpu", c.base.at(fmt.Sprintf("profile?seconds=%d", seconds)))
		var status *statusError
		if seconds > 1 && errors.As(err, &status) && strings.Contains(status.text, "WriteTimeout") {
			continue
		}
		c.warn("cpu", err)
		return
	}
}

// end ends the recordings and waits for their answers.
func (c *collector) end() {
	close(c.stop)
	c.over.Wait()
}

// fetch gets one profile, and warns where it cannot be had.
func (c *collector) fetch(ctx context.Context, kind, as string, from address) bool {
	err := c.get(ctx, kind, as, from)
	c.warn(kind, err)
	return err == nil
}

func (c *collector) warn(kind string, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, fmt.Sprintf("no %s: %v", noun(kind), err))
}

func noun(kind string) string {
	switch kind {
	case "trace":
		return "execution trace"
	case "cpu":
		return "CPU profile"
	case "allocs":
		return "allocation profile"
	}
	return kind + " profile"
}

// fileName is the name of a raw file in the run's directory.
func fileName(as string) string {
	if as == "trace" {
		return "trace.out"
	}
	return as + ".raw.pb.gz"
}

// get fetches one profile into the run's directory and looks at what it is.
func (c *collector) get(ctx context.Context, kind, as string, from address) error {
	r := request{from: from, limit: maxProfile, wait: answerTime}
	if kind == "cpu" || kind == "trace" {
		r.stop = c.stop
		r.wait = longest + answerTime
	}
	if kind == "trace" {
		r.limit, r.cut = maxTrace, true
	}
	name := filepath.Join(c.dir, fileName(as))
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("keeping it: %w", err)
	}
	err = r.send(ctx, f)
	err = errors.Join(err, f.Close())
	var ended *endedError
	switch {
	case errors.Is(err, errCut):
		err = nil // the first part of the window is a picture of it too
		c.warnText(fmt.Sprintf("the execution trace was ended after %d MB; it is of the window's first part", maxTrace>>20))
	case kind == "trace" && errors.As(err, &ended) && looks(name, kind) == nil:
		err = nil // the analysis uses it as far as it goes, and says so
	}
	if err == nil {
		if err = looks(name, kind); err != nil {
			err = fmt.Errorf("%s answered with something else: %w", from, err)
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, record.Raw{Kind: as, Name: fileName(as)})
	return nil
}

func (c *collector) warnText(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, s)
}

// drop removes a file that was fetched.
func (c *collector) drop(as string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = slices.DeleteFunc(c.files, func(f record.Raw) bool { return f.Kind == as })
	_ = os.Remove(filepath.Join(c.dir, fileName(as))) // it is in nobody's way
}

// looks says in what way a file is not of its kind, nil if it is.
func looks(name, kind string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if kind == "trace" {
		head := make([]byte, 16)
		n, _ := f.Read(head) // an empty file has no header
		if !bytes.HasPrefix(head[:n], []byte("go 1.")) {
			return errors.New("it is no execution trace")
		}
		return nil
	}
	p, err := record.ReadProfile(f)
	if err != nil {
		return err
	}
	want := map[string]string{"cpu": "cpu/nanoseconds", "mutex": "delay/nanoseconds", "block": "delay/nanoseconds", "allocs": "alloc_space/bytes"}[kind]
	for _, t := range p.SampleType {
		if t.Type+"/"+t.Unit == want {
			return nil
		}
	}
	return fmt.Errorf("it is no %s", noun(kind))
}

// probe asks once for everything that profiled runs will ask for, and says
// which of it the program does not have.
func probe(ctx context.Context, base address, kinds []string) (notes, without []string) {
	for _, kind := range kinds {
		if why := missing(ctx, base, kind); why != "" {
			notes = append(notes, why)
			without = append(without, kind)
		}
		if ctx.Err() != nil {
			return nil, nil
		}
	}
	return notes, without
}

// missing says why a program has no profile of a kind, "" if it has one.
func missing(ctx context.Context, base address, kind string) string {
	dir, err := os.MkdirTemp("", "scaleprof-probe-")
	if err != nil {
		return "" // the runs will tell
	}
	defer os.RemoveAll(dir)
	c := newCollector(base, dir, recorder.Profiles{})
	path := kind
	switch kind {
	case "cpu":
		path = "profile?seconds=1"
	case "trace":
		path = "trace?seconds=0.1"
	}
	err = c.get(ctx, kind, kind, base.at(path))
	if ctx.Err() != nil {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("no %s: %v", noun(kind), err)
	}
	if kind != "mutex" && kind != "block" {
		return ""
	}
	var text bytes.Buffer
	r := request{from: base.at(kind + "?debug=1"), limit: maxProfile, wait: answerTime}
	if err := r.send(ctx, &text); err != nil {
		return "" // some program's own handler: what it answered before is fine
	}
	if kind == "mutex" && bytes.Contains(text.Bytes(), []byte("sampling period=0\n")) {
		return "no mutex profile: the program does not call runtime.SetMutexProfileFraction; the trace shows waits for locks all the same"
	}
	if kind == "block" && !entry.Match(text.Bytes()) {
		return "no block profile: the program does not call runtime.SetBlockProfileRate, or nothing in it waits; the trace shows waits all the same"
	}
	return ""
}

// entry is a line of a contention profile: cycles, count and addresses.
var entry = regexp.MustCompile(`(?m)^\d+ \d+ @`)

// ownFiles are the profiles that a program writes by itself.
func ownFiles(dir, from string, want recorder.Profiles) (files []record.Raw, said []string) {
	for _, f := range []struct {
		kind, name string
		on         bool
	}{
		{"cpu", "cpu.pprof", want.CPU},
		{"mutex", "mutex.pprof", want.Mutex > 0},
		{"block", "block.pprof", want.Block > 0},
		{"trace", "trace.out", want.Trace},
	} {
		if !f.on {
			continue
		}
		name := filepath.Join(from, f.name)
		info, err := os.Lstat(name)
		if err != nil {
			continue // it writes what it wants to
		}
		switch {
		case !info.Mode().IsRegular():
			err = errors.New("it is not a regular file")
		default:
			err = looks(name, f.kind)
		}
		if err == nil {
			err = os.Rename(name, filepath.Join(dir, fileName(f.kind)))
		}
		if err != nil {
			said = append(said, fmt.Sprintf("no %s: the program's %s: %v", noun(f.kind), f.name, err))
			continue
		}
		files = append(files, record.Raw{Kind: f.kind, Name: fileName(f.kind)})
	}
	if len(files) == 0 && len(said) == 0 {
		said = append(said, "the program wrote no profile into the directory that "+ProfilesEnv+" names")
	}
	return files, said
}
