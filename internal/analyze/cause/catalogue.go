package cause

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// catalogue holds every entry, in the order of the groups.
var catalogue = slices.Concat(workEntries, gcEntries, allocEntries, schedEntries, lockEntries, balanceEntries, ioEntries, osEntries,
	memoryEntries, hardwareEntries, observerEntries, unexplainedEntries)

// groupTitles names the groups in the catalogue's order.
var groupTitles = []struct{ Group, Title string }{
	{"work", "The program's own work"},
	{"gc", "Garbage collector"},
	{"alloc", "Allocator"},
	{"sched", "Scheduler"},
	{"lock", "Locks and channels"},
	{"balance", "Division of the work"},
	{"io", "System calls, C, network, sleep"},
	{"os", "Operating system and neighbours"},
	{"memory", "Caches and memory"},
	{"hardware", "The machine's ceiling"},
	{"observer", "The measurement itself"},
	{"unexplained", "What is left"},
}

// All lists the catalogue, grouped.
func All() []Entry { return slices.Clone(catalogue) }

// Lookup finds the entry of a cause.
func Lookup(id ID) (Entry, bool) {
	for _, e := range catalogue {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// GroupTitle is a group's name for people, or the group itself where it is unknown.
func GroupTitle(group string) string {
	for _, g := range groupTitles {
		if g.Group == group {
			return g.Title
		}
	}
	return group
}

// Find is Lookup for a name that a user typed. Its error says which names come close.
func Find(name string) (Entry, error) {
	if e, ok := Lookup(ID(name)); ok {
		return e, nil
	}
	near := Near(name)
	if len(near) == 0 {
		return Entry{}, fmt.Errorf("unknown cause %q; `scaleprof explain --cause list` shows them all", name)
	}
	names := make([]string, len(near))
	for i, id := range near {
		names[i] = string(id)
	}
	return Entry{}, fmt.Errorf("unknown cause %q; did you mean %s?", name, strings.Join(names, " or "))
}

// maxNear bounds the names that Near gives for a misspelt one.
const maxNear = 3

// Near lists the causes that a misspelt name may mean: those of the group for a
// group's name, else those whose name or last part differs by few letters,
// closest first.
func Near(name string) []ID {
	name = strings.ToLower(strings.TrimSpace(name))
	var near []ID
	if name == "" || len(name) > 64 {
		return nil
	}
	for _, e := range catalogue {
		if e.ID.Group() == strings.TrimSuffix(name, "/") {
			near = append(near, e.ID)
		}
	}
	if near != nil {
		return near
	}
	type candidate struct {
		id       ID
		distance int
	}
	var found []candidate
	for _, e := range catalogue {
		_, last, _ := strings.Cut(string(e.ID), "/")
		d := min(distance(name, string(e.ID)), distance(name, last))
		if d <= 1+len(name)/4 {
			found = append(found, candidate{e.ID, d})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].distance < found[j].distance })
	for _, c := range found[:min(len(found), maxNear)] {
		near = append(near, c.id)
	}
	return near
}

// distance is the number of letters to insert, delete or replace between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
