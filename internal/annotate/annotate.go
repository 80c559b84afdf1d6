// Package annotate makes the pprof files that explain leaves in a capture's
// out directory: the profiles that Go wrote with a cause on each sample, and
// profiles of what no profiler samples, made from the accounts of slot time.
//
//	cpu, mutex, block, wall   what Go (or fgprof) recorded, by CPU, Mutex, Block and Wall
//	slots                     slot time by call path and state, by Slots: adds up to T x wall
//	blame                     waiting, at the call path of whoever caused it, by Blame
//	loss                      slot time (or CPU time) at peak minus at base, by Loss
//
// Every sample carries the labels cause and group, so that
//
//	go tool pprof -tagroot=cause -top FILE
//	go tool pprof -tagfocus=threads=16 FILE
//
// work. The time that a file shows is one run's: profiles of several runs of a
// cell are averaged, and CPU samples scaled to the CPU time that the system counted.
package annotate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// Cell says what a file is of. All but Target, Mode and Threads may be left out.
type Cell struct {
	Target  string
	Mode    string // thread or process
	Threads int
	Procs   int
	Arm     string   // "" or "baseline", or the arm's name
	Gates   []string // broken gates, one line each
	Notes   []string // what else the reader of the file should know, one line each
}

// Labels that every sample carries, beside those of its profile.
const (
	LabelCause   = "cause"
	LabelGroup   = "group"
	LabelState   = "state"   // of a lane: on-cpu, runnable, waiting, …
	LabelMode    = "mode"    // thread or process
	LabelThreads = "threads" // numeric
	LabelProcess = "process" // numeric, in process mode
)

// baseline is the arm that file names and comments do not mention.
const baseline = "baseline"

func (c Cell) String() string {
	s := fmt.Sprintf("%s, %s mode, T=%d", c.Target, c.Mode, c.Threads)
	if c.Procs > 0 {
		s += fmt.Sprintf(", GOMAXPROCS=%d", c.Procs)
	}
	if c.Arm != "" && c.Arm != baseline {
		s += ", arm " + c.Arm
	}
	return s
}

// label puts the cell's and the cause's labels on a sample.
func (c Cell) label(s *profile.Sample, id cause.ID) {
	if s.Label == nil {
		s.Label = map[string][]string{}
	}
	if s.NumLabel == nil {
		s.NumLabel = map[string][]int64{}
	}
	s.Label[LabelCause] = []string{string(id)}
	s.Label[LabelGroup] = []string{id.Group()}
	if c.Mode != "" {
		s.Label[LabelMode] = []string{c.Mode}
	}
	if c.Threads > 0 {
		s.NumLabel[LabelThreads] = []int64{int64(c.Threads)}
	}
}

// comment describes the cell in the profile, a line each.
func (c Cell) comment(p *profile.Profile, what string, runs int) {
	p.Comments = []string{clean("scaleprof: " + what), clean("cell: " + c.String())}
	if runs > 1 {
		p.Comments = append(p.Comments, fmt.Sprintf("average of %d profiled runs", runs))
	}
	for _, g := range c.Gates {
		p.Comments = append(p.Comments, clean("gate: "+g))
	}
	for _, n := range c.Notes {
		p.Comments = append(p.Comments, clean(n))
	}
	p.DocURL = docURL
}

// docURL explains the causes.
const docURL = "https://github.com/scaleprof/scaleprof/blob/main/docs/causes.md"

// maxComment bounds a line of comment, in bytes.
const maxComment = 400

// clean keeps a comment to one line of printable text.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > maxComment {
		s = strings.ToValidUTF8(s[:maxComment], "") + "…"
	}
	return s
}

// apportion scales values so that they add up to total exactly: each is the
// difference of two rounded running sums. Where the values add up to 0 nothing
// can be scaled and the result is all 0.
func apportion(values []int64, total int64) []int64 {
	out := make([]int64, len(values))
	// Sums of products of nanoseconds exceed 64 bits.
	sum := new(big.Int)
	for _, v := range values {
		sum.Add(sum, big.NewInt(v))
	}
	if sum.Sign() == 0 {
		return out
	}
	running, before, scaled := new(big.Int), int64(0), new(big.Int)
	for i, v := range values {
		running.Add(running, big.NewInt(v))
		scaled.Mul(running, big.NewInt(total))
		scaled.Quo(scaled, sum)
		now := scaled.Int64()
		out[i], before = now-before, now
	}
	return out
}

// names are the functions of a sample's call path, leaf first, inlined ones included.
func names(s *profile.Sample, buf []string) []string {
	buf = buf[:0]
	for _, l := range s.Location {
		if l == nil {
			continue
		}
		if len(l.Line) == 0 {
			buf = append(buf, "")
		}
		for _, line := range l.Line {
			name := ""
			if line.Function != nil {
				name = line.Function.Name
			}
			buf = append(buf, name)
		}
	}
	return buf
}

// valueIndex finds a sample type, -1 if the profile lacks it.
func valueIndex(p *profile.Profile, name string) int {
	return slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
}
