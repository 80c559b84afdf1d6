package lanes

// tally sums ns by a key of one word. It is a hash table of its own, since the
// accounting adds to one several times per event: open addressing, and the place
// of the last key is tried first.
type tally struct {
	keys []uint64 // key+1, 0 for an empty place
	vals []int64
	n    int
	last int
}

func (t *tally) add(key uint64, ns int64) {
	if len(t.keys) == 0 {
		t.resize(64)
	}
	key++
	i := t.last
	if t.keys[i] != key {
		i = t.find(key)
		if t.keys[i] == 0 {
			if t.n*2 >= len(t.keys) {
				t.resize(len(t.keys) * 2)
				i = t.find(key)
			}
			t.keys[i] = key
			t.n++
		}
		t.last = i
	}
	t.vals[i] += ns
}

// has says whether anything was added under key.
func (t *tally) has(key uint64) bool {
	return len(t.keys) > 0 && t.keys[t.find(key+1)] != 0
}

func (t *tally) find(key uint64) int {
	mask := len(t.keys) - 1
	i := int(key*0x9e3779b97f4a7c15>>40) & mask
	for t.keys[i] != key && t.keys[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

func (t *tally) resize(size int) {
	keys, vals := t.keys, t.vals
	t.keys, t.vals, t.last = make([]uint64, size), make([]int64, size), 0
	for i, k := range keys {
		if k != 0 {
			j := t.find(k)
			t.keys[j], t.vals[j] = k, vals[i]
		}
	}
}

func (t *tally) clear() {
	clear(t.keys)
	clear(t.vals)
	t.n, t.last = 0, 0
}

// all yields keys and sums, in no order that means anything.
func (t *tally) all(yield func(uint64, int64) bool) {
	for i, k := range t.keys {
		if k != 0 && !yield(k-1, t.vals[i]) {
			return
		}
	}
}

// numbers gives small numbers to values of one word, in order of their first
// appearance; the first is 0.
type numbers struct {
	places tally // number+1 under its value
	values []uint64
	last   int
}

func (s *numbers) of(v uint64) int {
	if s.last < len(s.values) && s.values[s.last] == v {
		return s.last
	}
	if len(s.places.keys) > 0 {
		if i := s.places.find(v + 1); s.places.keys[i] != 0 {
			s.last = int(s.places.vals[i])
			return s.last
		}
	}
	s.last = len(s.values)
	s.values = append(s.values, v)
	s.places.add(v, int64(s.last))
	return s.last
}

func (s *numbers) clear() {
	s.places.clear()
	s.values, s.last = s.values[:0], 0
}
