package capture

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// outputKeep bounds what is kept of a process's output: this much of its
// beginning and as much of its end.
const outputKeep = 32 << 10

// Output keeps the beginning and the end of what a process prints. A process
// that prints without end costs no memory and no disk.
type Output struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte // ring of outputKeep bytes once full
	next    int    // where the ring goes on
	dropped int64
}

// Write never fails: a process must not be stopped by what becomes of its output.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	if room := outputKeep - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > outputKeep {
		o.dropped += int64(len(p) - outputKeep)
		p = p[len(p)-outputKeep:]
	}
	for len(p) > 0 {
		if len(o.tail) < outputKeep {
			k := min(outputKeep-len(o.tail), len(p))
			o.tail = append(o.tail, p[:k]...)
			p = p[k:]
			continue
		}
		k := copy(o.tail[o.next:], p)
		o.next = (o.next + k) % outputKeep
		o.dropped += int64(k)
		p = p[k:]
	}
	return n, nil
}

// Bytes is what was kept, with a line where something is missing.
func (o *Output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	var b bytes.Buffer
	b.Write(o.head)
	if o.dropped > 0 {
		fmt.Fprintf(&b, "\n… %d bytes left out …\n", o.dropped)
	}
	b.Write(o.tail[o.next:])
	b.Write(o.tail[:o.next])
	return b.Bytes()
}

// Complaint is the line that says best why a Go process ended: its panic or
// fatal error, else its last line. "" when it said nothing.
func (o *Output) Complaint() string {
	last := ""
	for line := range strings.SplitSeq(string(o.Bytes()), "\n") {
		line = strings.TrimSpace(line)
		// A test binary has put the benchmark's name before it.
		for _, start := range []string{"panic: ", "fatal error: "} {
			if _, after, ok := strings.Cut(line, "\t"+start); ok {
				line = start + after
			}
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
			strings.HasPrefix(line, "runtime: out of memory") {
			return clip(line)
		}
		if line != "" {
			last = line
		}
	}
	return clip(last)
}

// Clip is clip for the packages that make runs of their own.
func Clip(s string) string { return clip(s) }

// clip keeps a child's text to one printable line of a sensible length: it
// goes to the terminal.
func clip(s string) string {
	const most = 200
	var b strings.Builder
	for i, r := range s {
		if i > most {
			b.WriteString("…")
			break
		}
		if r < ' ' || r == 0x7f {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
