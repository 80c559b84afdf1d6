package recorder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
)

// maxSpec bounds the size of a Spec's file, in bytes.
const maxSpec = 16 << 20

// Child is this process's end of the protocol.
type Child struct {
	Spec    *Spec
	control *os.File
	gate    *os.File
	finish  *os.File // nil where it is not open
}

// IsChild reports whether this process was started to record a window.
func IsChild() bool { return os.Getenv(SpecEnv) != "" }

// OpenChild reads the Spec and takes over the control descriptors. It also
// sets GOMAXPROCS, which has to be done early in a process's life. The rate of
// the allocation profile stays Go's own, 512 KiB: a window that allocates enough
// for it to matter has thousands of samples, and a finer one costs the
// allocator what a timed run does not pay. The processes that this one starts see none of it.
func OpenChild() (*Child, error) {
	path := os.Getenv(SpecEnv)
	if path == "" {
		return nil, fmt.Errorf("%s is not set: this command is started by `scaleprof capture`", SpecEnv)
	}
	if err := os.Unsetenv(SpecEnv); err != nil {
		return nil, fmt.Errorf("clearing %s: %w", SpecEnv, err)
	}
	c := &Child{Spec: new(Spec)}
	if !inherited(ControlFD) || !inherited(GateFD) {
		return nil, fmt.Errorf("descriptors %d and %d are not open: this command is started by `scaleprof capture`", ControlFD, GateFD)
	}
	c.control = os.NewFile(ControlFD, "control")
	c.gate = os.NewFile(GateFD, "gate")
	if inherited(FinishFD) {
		c.finish = os.NewFile(FinishFD, "finish")
	}
	if err := c.readSpec(path); err != nil {
		return nil, c.Fail(err)
	}
	// The parent sets GOMAXPROCS by environment; what it set there must not be
	// set again, for a call of runtime.GOMAXPROCS stops the world.
	if p := c.Spec.Procs; p > 0 && runtime.GOMAXPROCS(0) != p {
		runtime.GOMAXPROCS(p)
	}
	return c, nil
}

func (c *Child) readSpec(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the run's specification: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpec))
	if err != nil {
		return fmt.Errorf("reading the run's specification: %w", err)
	}
	if err := decode(data, c.Spec); err != nil {
		return fmt.Errorf("reading the run's specification: %w", err)
	}
	s := c.Spec
	if s.Workers < 1 || s.Threads < s.Workers || s.Process < 0 || s.Lo < 0 || s.Hi < s.Lo || s.Warm < 0 {
		return fmt.Errorf("reading the run's specification: %d of %d workers, process %d, operations %d to %d after %d make no sense",
			s.Workers, s.Threads, s.Process, s.Lo, s.Hi, s.Warm)
	}
	return nil
}

// Suffix tells the files of this process from those of the others in Spec.Dir:
// "" where there are none, else ".p" and the number of the process, from 1.
func (c *Child) Suffix() string {
	if c.Spec.Threads > c.Spec.Workers {
		return fmt.Sprintf(".p%d", c.Spec.Process+1)
	}
	return ""
}

func (c *Child) send(m *Message) error {
	b, err := encode(nil, reflect.ValueOf(m))
	if err == nil {
		_, err = c.control.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("telling the parent %q: %w", m.Kind, err)
	}
	return nil
}

// Ready says that the process is warmed up, and returns when the gate opens.
// The wait holds no P.
func (c *Child) Ready() error {
	if err := c.send(&Message{Kind: "ready"}); err != nil {
		return err
	}
	return await(c.gate, "start gate")
}

// Done says that the window has ended, and returns when all windows have.
func (c *Child) Done() error {
	if err := c.send(&Message{Kind: "done"}); err != nil {
		return err
	}
	if c.finish == nil {
		return nil
	}
	return await(c.finish, "finish gate")
}

// await reads to the end of a gate.
func await(gate *os.File, name string) error {
	var buf [8]byte
	for {
		if _, err := gate.Read(buf[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("waiting at the %s: %w", name, err)
		}
	}
}

// Result hands over what was measured and ends the conversation.
func (c *Child) Result(r *Result) error { return c.send(&Message{Kind: "result", Result: r}) }

// Fail tells the parent why the run failed, in one line, and returns err.
func (c *Child) Fail(err error) error {
	if err == nil {
		err = errors.New("unknown fault")
	}
	line := strings.Join(strings.Fields(err.Error()), " ")
	const most = 2000
	if len(line) > most {
		line = line[:most] + " …"
	}
	// Where the parent is gone, nobody is left to be told.
	_ = c.send(&Message{Kind: "error", Error: line})
	return err
}
