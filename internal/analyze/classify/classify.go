// Package classify gives a call path its cause: CPU samples by Stack, waits of
// the execution trace by WaitCause, parked goroutines of a wall-clock profile by Parked.
//
// What belongs to which cause is data: names.go puts functions into families,
// rules.go orders the families into rules, waits.go does the same for waits. The
// code here only walks a stack and compares sets. It allocates nothing.
package classify

import (
	"strings"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

// names is built once from a constant table and never changes.
var names = compile(members)

// facts is what the rules ask of one stack.
type facts struct {
	near  set // union over the near part
	leaf  set
	owner set // of the first frame of user code
	root  set // union over the two outermost frames
	bare  bool
	empty bool
}

// observe walks a stack, leaf first. It looks at the near part and at the two
// outermost frames, so that its cost does not grow with the depth of user code.
func observe(n int, frame func(i int) string) facts {
	first := 0
	// The signal that asks for preemption may come together with the one that
	// takes the sample: the function below is what ran.
	if n > 1 && names.families(frame(0))&asyncPreempt != 0 {
		first = 1
	}
	f := facts{bare: true, empty: n <= first}
	for i := first; i < n; i++ {
		name := frame(i)
		fam := names.families(name)
		if fam&low == 0 && strings.Contains(name, "._Cfunc_") {
			// The Go side of a C function lives in the user's package.
			fam |= low | cgo
		}
		if fam == 0 && name != "" && !strings.Contains(name, ".") && i+1 < n && names.families(frame(i+1))&(low|goexit) == low {
			// Assembly has no package, nor has code that a JIT compiler made. The
			// runtime calls the first, never the second.
			fam = low
		}
		if i == first {
			f.leaf = fam
		}
		if fam&low == 0 {
			f.owner, f.bare = fam, false
			break
		}
		f.near |= fam
	}
	for i := max(first, n-2); i < n; i++ {
		f.root |= names.families(frame(i))
	}
	return f
}

func (r *Rule) holds(f *facts) bool {
	switch {
	case r.empty != f.empty:
		return false
	case r.near != 0 && r.near&f.near == 0:
		return false
	case r.not&f.near != 0:
		return false
	case r.leaf != 0 && r.leaf&f.leaf == 0:
		return false
	case r.owner != 0 && r.owner&f.owner == 0:
		return false
	case r.root != 0 && r.root&f.root == 0:
		return false
	}
	return !r.bare || f.bare
}

// roots and owners are the families that some rule asks of these frames.
var roots, owners = func() (r, o set) {
	for i := range rules {
		r |= rules[i].root
		o |= rules[i].owner
	}
	return r, o
}()

// decide finds the first rule that holds. The last rule always does.
func decide(f *facts) *Rule {
	if f.near == 0 && !f.empty && f.root&roots == 0 && f.owner&owners == 0 {
		// Nothing but user code: only the last rule is left.
		return &rules[len(rules)-1]
	}
	for i := range rules {
		if rules[i].holds(f) {
			return &rules[i]
		}
	}
	return &rules[len(rules)-1]
}

// Stack is the cause of CPU time spent in a stack of n frames, leaf first;
// frame(i) is the name of the function at depth i, inlined functions included, as
// in pprof files and traces. A name may be empty where it is unknown.
func Stack(n int, frame func(i int) string) cause.ID {
	f := observe(n, frame)
	return decide(&f).Cause
}

// Explain is Stack with the rule that decided.
func Explain(n int, frame func(i int) string) (cause.ID, Rule) {
	f := observe(n, frame)
	r := decide(&f)
	return r.Cause, *r
}

// Rules lists the rules in the order in which they are tried.
func Rules() []Rule { return append([]Rule(nil), rules...) }
