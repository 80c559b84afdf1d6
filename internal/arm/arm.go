// Package arm holds the variations under which a cell is run again with
// everything else equal: what each one changes, which causes it tests, what it
// confounds, and whether this machine can do it at all.
//
// An attribution from profiles is a hypothesis. An arm removes (or, for
// delay=, enlarges) the suspect; the effect is the difference in differences
//
//	(S_peak - S_base) - (S_peak^arm - S_base^arm)
//
// of slot times, so that what the arm costs at every T alike cancels.
package arm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Kind is the family of an arm.
type Kind string

const (
	GOGC  Kind = "gogc"   // gogc=N: GC frequency
	GCOff Kind = "gc-off" // no GC, under a memory limit
	Mode  Kind = "mode"   // mode=process: T processes with one P each
	Procs Kind = "procs"  // procs=threads, procs=cpus: GOMAXPROCS
	Pin   Kind = "pin"    // one worker thread per physical core
	Delay Kind = "delay"  // delay=CAUSE: a known cost added to a suspect
)

// Doses are the GOGC values of the dose-response arm. With the baseline's 100
// they fit S = S_inf + c/GOGC, which needs no run without a collector.
var doses = [...]int{200, 400, 800}

// Doses lists the gogc arms that `gogc` alone stands for.
func Doses() []string {
	names := make([]string, len(doses))
	for i, d := range doses {
		names[i] = "gogc=" + strconv.Itoa(d)
	}
	return names
}

// Arm is one variation, or several applied together (a combination, for
// Shapley shares): then Parts has more than one element.
type Arm struct {
	Name  string // canonical: parts in the order of Kind's constants, joined by "+"
	Parts []Part
}

// Part is one change.
type Part struct {
	Kind  Kind
	Value string // "400", "process", "threads", a cause's id; "" for gc-off and pin
}

// String is the part's canonical name.
func (p Part) String() string {
	if p.Value == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + "=" + p.Value
}

// Names of the forms that Parse accepts, for help and for errors.
const Forms = "gogc=N, gc-off, mode=process, procs=threads, procs=cpus, pin, delay=CAUSE"

// Parse reads one arm's name. "a+b" is both at once.
func Parse(name string) (Arm, error) {
	var parts []Part
	for field := range strings.SplitSeq(name, "+") {
		p, err := parsePart(strings.TrimSpace(field))
		if err != nil {
			return Arm{}, err
		}
		if slices.ContainsFunc(parts, func(q Part) bool { return q.Kind == p.Kind && p.Kind != Delay || q == p }) {
			return Arm{}, fmt.Errorf("arm %q changes %s twice", name, p.Kind)
		}
		parts = append(parts, p)
	}
	has := func(k Kind) bool { return slices.ContainsFunc(parts, func(p Part) bool { return p.Kind == k }) }
	if has(GOGC) && has(GCOff) {
		return Arm{}, fmt.Errorf("arm %q sets GOGC twice", name)
	}
	if has(Mode) && has(Procs) {
		return Arm{}, fmt.Errorf("arm %q sets GOMAXPROCS twice: mode=process gives each process one P", name)
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return rank(a.Kind) - rank(b.Kind) })
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.String()
	}
	return Arm{Name: strings.Join(names, "+"), Parts: parts}, nil
}

func rank(k Kind) int {
	return slices.Index([]Kind{GOGC, GCOff, Mode, Procs, Pin, Delay}, k)
}

func parsePart(s string) (Part, error) {
	key, value, hasValue := strings.Cut(s, "=")
	switch Kind(key) {
	case GOGC:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1_000_000 {
			return Part{}, fmt.Errorf("arm %q: gogc wants a whole number from 1 to 1000000, as in gogc=400 (gc-off switches the collector off)", s)
		}
		if n == 100 {
			return Part{}, fmt.Errorf("arm %q is the baseline: GOGC is 100 there", s)
		}
		return Part{GOGC, strconv.Itoa(n)}, nil
	case GCOff, Pin:
		if hasValue {
			return Part{}, fmt.Errorf("arm %q: %s takes no value", s, key)
		}
		return Part{Kind: Kind(key)}, nil
	case Mode:
		if value != string(record.Process) {
			return Part{}, fmt.Errorf("arm %q: the only such arm is mode=process", s)
		}
		return Part{Mode, value}, nil
	case Procs:
		if value != "threads" && value != "cpus" {
			return Part{}, fmt.Errorf("arm %q: want procs=threads or procs=cpus", s)
		}
		return Part{Procs, value}, nil
	case Delay:
		if value == "" || !safe(value) {
			return Part{}, fmt.Errorf("arm %q: delay wants a cause's id, as in delay=lock/mutex", s)
		}
		return Part{Delay, value}, nil
	}
	return Part{}, fmt.Errorf("unknown arm %q; there are %s", s, Forms)
}

// safe says whether a cause's id is made of what ids are made of: it becomes
// part of cell names.
func safe(id string) bool {
	if len(id) > 64 {
		return false
	}
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '/' {
			return false
		}
	}
	return true
}

// ParseList reads a comma list. "gogc" alone stands for the three doses. It
// keeps the order given and drops repeats.
func ParseList(list string) ([]Arm, error) {
	var arms []Arm
	for field := range strings.SplitSeq(list, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		names := []string{field}
		if field == string(GOGC) {
			names = Doses()
		}
		for _, name := range names {
			a, err := Parse(name)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(arms, func(b Arm) bool { return a.Name == b.Name }) {
				arms = append(arms, a)
			}
		}
	}
	return arms, nil
}

// All lists the arms that `--arms all` means: every one that needs no value
// from the user, the doses for GOGC. The caller leaves out the impossible ones.
func All(procsRule string) []Arm {
	other := "threads"
	if procsRule == "threads" {
		other = "cpus"
	}
	arms, err := ParseList("gogc,gc-off,mode=process,procs=" + other + ",pin")
	if err != nil {
		panic("arm: the built-in list does not parse: " + err.Error())
	}
	return arms
}
