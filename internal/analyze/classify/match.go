package classify

import (
	"slices"
	"strings"
)

// matcher gives a function's families by its name, without allocating.
type matcher struct {
	exact    map[string]set
	prefixes []prefix // sorted by text
	// heads has a bit for each pair of bytes that an entry begins with (the
	// second modulo 64): most user code is told by it alone.
	heads [256]uint64
}

func (m *matcher) head(name string) { m.heads[name[0]] |= 1 << (name[1] & 63) }

// prefix is an entry for all names that begin with text. Of the prefixes that
// a name begins with, each shorter one is also a prefix of the next longer one,
// so that the longest one's families can include the others'.
type prefix struct {
	text     string
	families set // of this prefix and of all shorter ones that it begins with
	parent   int // the longest other prefix that text begins with, or -1
}

// compile builds the matcher of a table.
func compile(table []member) *matcher {
	exact, byPrefix, only := map[string]set{}, map[string]set{}, map[string]set{}
	for _, m := range table {
		for _, name := range m.names {
			if p, ok := strings.CutSuffix(name, "*"); ok {
				byPrefix[p] |= m.families
			} else if name, ok := strings.CutPrefix(name, "="); ok {
				only[name] |= m.families
			} else {
				exact[name] |= m.families
			}
		}
	}
	m := &matcher{exact: exact}
	for text, families := range byPrefix {
		m.prefixes = append(m.prefixes, prefix{text, families, -1})
	}
	slices.SortFunc(m.prefixes, func(a, b prefix) int { return strings.Compare(a.text, b.text) })
	for i := range m.prefixes {
		p := &m.prefixes[i]
		// In sorted order a parent comes before its children, and its own
		// families are complete by then.
		for j := i - 1; j >= 0; j-- {
			if strings.HasPrefix(p.text, m.prefixes[j].text) {
				p.parent = j
				p.families |= m.prefixes[j].families
				break
			}
		}
	}
	for name, families := range m.exact {
		m.exact[name] = families | m.byPrefix(name)
	}
	for name, families := range only {
		m.exact[name] = families
	}
	for name := range m.exact {
		m.head(name)
	}
	for _, p := range m.prefixes {
		m.head(p.text)
	}
	return m
}

// families is the set of families that a function is in, 0 for user code.
func (m *matcher) families(name string) set {
	if len(name) < 2 || m.heads[name[0]]&(1<<(name[1]&63)) == 0 {
		return 0
	}
	if f, ok := m.exact[name]; ok {
		return f
	}
	return m.byPrefix(name)
}

func (m *matcher) byPrefix(name string) set {
	// The last prefix that sorts at or before name is the longest match, or one
	// of its ancestors is, or nothing matches.
	lo, hi := 0, len(m.prefixes)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.prefixes[mid].text <= name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for i := lo - 1; i >= 0; i = m.prefixes[i].parent {
		if strings.HasPrefix(name, m.prefixes[i].text) {
			return m.prefixes[i].families
		}
	}
	return 0
}
