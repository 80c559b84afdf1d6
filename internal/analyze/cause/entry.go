package cause

import "strings"

// Entry is what the catalogue knows of a cause.
type Entry struct {
	ID       ID
	Title    string   // a short noun phrase
	Meaning  string   // what a core-second under this name was lost to
	Measured string   // from what, in which unit, with which caveats
	Excludes string   // what a reader might expect here that is booked elsewhere
	Confirm  []string // exact commands, with placeholders for files of the capture, see Commands
	Helps    []string // what usually helps, most effective first
	Arms     []string // arms that test it, as in the plan: "gogc=400"
	Advice   []string // sentences for a verdict, with placeholders for what was measured, see Advise
}

// Files that a command of Confirm may name in braces.
var placeholders = []string{"cpu", "loss", "slots", "blame", "mutex", "block", "wall", "trace", "allocs"}

// Commands fills the names of files into Confirm: file maps "loss" to a path,
// and so on. A command that needs a file which the capture lacks is left out.
func (e Entry) Commands(file map[string]string) []string { return fill(e.Confirm, file) }

// Advise fills what was measured into Advice and joins the sentences. Values
// that an entry may ask for:
//
//	path        the call path that lost most, leaf first
//	source      its source line
//	culprit     the code that made it wait
//	instruction the instruction, with its source line
//	waits, wait, hold   number of waits, mean wait, mean time that the lock was held
//	goal, rate, sites   heap goal, allocation rate, sites that allocate most
//	sizes       sizes of the objects
//	lanes       the uneven lanes
//	marking     share of the window with marking on
//	cycles      number of collections
//	quota, cpus, procs, threads   figures of the cell
//
// A sentence whose value is not known is left out; where none is left, the
// first of Helps stands for them.
func (e Entry) Advise(value map[string]string) string {
	if said := fill(e.Advice, value); len(said) > 0 {
		return strings.Join(said, " ")
	}
	if len(e.Helps) == 0 {
		return ""
	}
	return upperFirst(e.Helps[0]) + "."
}

// fill replaces {name} by its value and drops the texts for which one is missing.
func fill(texts []string, value map[string]string) []string {
	var out []string
	for _, text := range texts {
		if s, ok := fillOne(text, value); ok {
			out = append(out, s)
		}
	}
	return out
}

func fillOne(text string, value map[string]string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{")
		b.WriteString(before)
		if !open {
			return b.String(), true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", false
		}
		v := value[name]
		if v == "" {
			return "", false
		}
		b.WriteString(v)
		text = after
	}
}
