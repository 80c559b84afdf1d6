package lab

import (
	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// node is an object of two pointers and some payload, 64 bytes.
type node struct {
	left, right *node
	payload     [6]uint64
}

// tree builds a tree of the given depth, 2^depth-1 nodes.
func tree(depth int, v uint64) *node {
	if depth == 0 {
		return nil
	}
	n := &node{left: tree(depth-1, 2*v), right: tree(depth-1, 2*v+1)}
	n.payload[0] = v
	return n
}

// fold returns a value that depends on every node under n.
func (n *node) fold() uint64 {
	if n == nil {
		return 1
	}
	return n.left.fold()*31 + n.right.fold()*37 + n.payload[0]
}

// plant is tree in nodes that the caller owns.
func plant(nodes []node, depth int, v uint64) (*node, []node) {
	if depth == 0 {
		return nil, nodes
	}
	n := &nodes[0]
	nodes = nodes[1:]
	n.left, nodes = plant(nodes, depth-1, 2*v)
	n.right, nodes = plant(nodes, depth-1, 2*v+1)
	n.payload[0] = v
	return n, nodes
}

// trees builds, folds and drops one small tree an operation. How much the
// collector then takes from the workers is decided by what else lives: nothing
// (collections are cheap and come every few milliseconds) or a large heap of
// pointers (each takes long). With one worker the collector marks on the core
// that nobody uses; with all cores working it marks on theirs. The twins build
// the trees in nodes that each worker owns, and keep the same heap alive.
type trees struct {
	noClose
	depth int
	live  []*node
	own   []padded[[]node] // one for each worker, nil where nodes are allocated
}

func (t *trees) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		var root *node
		if t.own == nil {
			root = tree(t.depth, uint64(i))
		} else {
			root, _ = plant(t.own[w].value, t.depth, uint64(i))
		}
		sum += root.fold()
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

const (
	treeDepth = 5
	liveDepth = 16 // a live tree is 64 Ki nodes, 4 MiB
)

func newTrees(liveTrees int, own bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		t := &trees{depth: treeDepth}
		for k := range liveTrees {
			t.live = append(t.live, tree(liveDepth, uint64(k)))
		}
		if own {
			t.own = make([]padded[[]node], p.Workers)
			for w := range t.own {
				t.own[w].value = make([]node, 1<<treeDepth)
			}
		}
		return t, nil
	}
}

// swaps exchanges pointers in a table of each worker's own, as sorting does,
// and allocates a little. The live heap makes marking last, and while marking is
// on, every pointer write goes through the write barrier. With all cores working
// marking takes longer and comes more often, so more of the writes pay. The twin
// exchanges numbers that stand for the objects, and
// clears its text instead of allocating it.
type swaps struct {
	noClose
	live    []*node
	tables  [][]*node
	text    []padded[[]byte] // what each worker allocated last
	numbers [][]uint32       // instead of tables in the twin
}

const (
	swapsPerOp = 256
	textBytes  = 2 << 10
	tableSize  = 1 << 12
)

func (s *swaps) Work(w int, lo, hi int64) workload.Tally {
	var sum uint64
	for i := lo; i < hi; i++ {
		if s.numbers == nil {
			table := s.tables[w]
			exchange(table, uint64(i))
			table[uint64(i)%tableSize] = &node{}
			s.text[w].value = make([]byte, textBytes)
		} else {
			exchange(s.numbers[w], uint64(i))
			clear(s.text[w].value)
		}
		sum += burn(uint64(i), 4)
	}
	return workload.Tally{Ops: hi - lo, Sum: sum}
}

func exchange[E any](table []E, v uint64) {
	for range swapsPerOp {
		v = v*0x9e3779b97f4a7c15 + 1
		a, b := v>>40%tableSize, v>>20%tableSize
		table[a], table[b] = table[b], table[a]
	}
}

func newSwaps(numbers bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		s := &swaps{text: make([]padded[[]byte], p.Workers)}
		for k := range 16 {
			s.live = append(s.live, tree(liveDepth, uint64(k)))
		}
		for w := range p.Workers {
			if numbers {
				s.numbers = append(s.numbers, make([]uint32, tableSize))
				s.text[w].value = make([]byte, textBytes)
				continue
			}
			table := make([]*node, tableSize)
			for i := range table {
				table[i] = &node{payload: [6]uint64{uint64(w)}}
			}
			s.tables = append(s.tables, table)
		}
		return s, nil
	}
}

// gcPairs expects the group for the trees: their loss spreads over marking by
// the collector's own goroutines, by assists, sweeping, pauses and barriers, and
// none of these rows need be the largest.
func gcPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "gc-mark", Title: "small trees beside a large live heap of pointers",
				Expect: "gc", OpNS: 1_900,
			},
			bad: newTrees(16, false), fixed: newTrees(16, true), cure: "the trees' nodes are reused, the live heap is the same", cheap: 400,
		},
		{
			info: workload.Info{
				Name: "gc-thrash", Title: "small trees and nothing else alive: a collection every few milliseconds",
				Expect: "gc", OpNS: 1_700,
			},
			bad: newTrees(0, false), fixed: newTrees(0, true), cure: "the trees' nodes are reused", cheap: 400,
		},
		{
			info: workload.Info{
				Name: "write-barrier", Title: "pointers exchanged in tables while marking is on",
				Expect: string(cause.GCWriteBarrier), OpNS: 2_000,
			},
			bad: newSwaps(false), fixed: newSwaps(true), cure: "numbers exchanged instead of pointers", cheap: 650,
		},
	}
}
