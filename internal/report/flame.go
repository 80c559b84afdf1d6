package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// LossPath is a call path of the loss profile with what it cost at both T.
type LossPath struct {
	Cause  string
	Frames []string // root first
	BaseNS int64
	PeakNS int64
}

// flame is the loss of a comparison as an icicle: all of it at the top, below it
// the causes, below each the call paths that it grew on.
//
// A width cannot be less than nothing. So a box is as wide as its part grew in
// all, what shrank inside it taken off, and what shrank as a whole is left out.
// Where the parts of a box that grew add up to more than the box, because others
// shrank, they are drawn narrower to fit; the figures are those of the profile.
type flame struct {
	Boxes []flameBox
	Rows  int
	Whole bool // made from the loss profile; else only of the paths that the report names
	Left  int  // boxes too narrow to be drawn
}

// flameBox is one box, in percent of the width and in rows from the top.
type flameBox struct {
	X, Width float64
	Row      int
	Name     string // as it is written in the box
	Title    string // with figures
	Kind     string // class of its colour: a group, "all", "runtime" or "code"
}

// Limits of the picture: narrower boxes cannot be seen, and a page should open.
const (
	flameNarrow = 0.15 // percent
	flameRows   = 64
	flameBoxes  = 5000
)

type flameNode struct {
	name       string
	kind       string
	base, peak int64
	children   map[string]*flameNode
}

func (n *flameNode) child(name, kind string) *flameNode {
	c := n.children[name]
	if c == nil {
		c = &flameNode{name: name, kind: kind}
		if n.children == nil {
			n.children = map[string]*flameNode{}
		}
		n.children[name] = c
	}
	return c
}

func (n *flameNode) grew() int64 { return n.peak - n.base }

// newFlame draws a comparison's loss; nil where nothing grew.
func newFlame(c *Comparison) *flame {
	paths, whole := c.Loss, true
	if len(paths) == 0 {
		paths, whole = namedPaths(c), false
	}
	root := &flameNode{name: "all that was lost", kind: "all"}
	for _, p := range paths {
		group, _, _ := strings.Cut(p.Cause, "/")
		n := root
		add := func(name, kind string) {
			n = n.child(name, kind)
			n.base, n.peak = n.base+p.BaseNS, n.peak+p.PeakNS
		}
		root.base, root.peak = root.base+p.BaseNS, root.peak+p.PeakNS
		add(p.Cause, "g-"+group)
		for _, f := range p.Frames[:min(len(p.Frames), flameRows-2)] {
			kind := "code"
			if internalFrame(f) {
				kind = "runtime"
			}
			add(f, kind)
		}
	}
	if root.grew() <= 0 {
		return nil
	}
	f := &flame{Whole: whole}
	f.draw(root, 0, 100, 0, c)
	return f
}

func (f *flame) draw(n *flameNode, x, width float64, row int, c *Comparison) {
	f.Rows = max(f.Rows, row+1)
	f.Boxes = append(f.Boxes, flameBox{X: x, Width: width, Row: row, Name: boxName(n), Title: flameTitle(n, c), Kind: n.kind})
	var grown []*flameNode
	sum := int64(0)
	for _, k := range n.children {
		if k.grew() > 0 {
			grown = append(grown, k)
			sum += k.grew()
		}
	}
	slices.SortFunc(grown, func(a, b *flameNode) int {
		return cmp.Or(cmp.Compare(b.grew(), a.grew()), strings.Compare(a.name, b.name))
	})
	whole := max(sum, n.grew())
	for _, k := range grown {
		part := width * float64(k.grew()) / float64(whole)
		if part < flameNarrow || len(f.Boxes) >= flameBoxes {
			f.Left++
			continue
		}
		f.draw(k, x, part, row+1, c)
		x += part
	}
}

// boxName is the name in a box: causes keep their group.
func boxName(n *flameNode) string {
	if n.kind == "code" || n.kind == "runtime" {
		return shortFunc(n.name)
	}
	return n.name
}

func flameTitle(n *flameNode, c *Comparison) string {
	s := n.name
	if c.ExcessNS > 0 && c.CoresLost > 0 {
		s += fmt.Sprintf(": %s cores lost", cores(float64(n.grew())*c.CoresLost/float64(c.ExcessNS)))
	}
	if n.base != 0 || n.peak != n.grew() {
		s += fmt.Sprintf(", %s at T=%d, %s at T=%d", signedWall(n.base), c.Base, signedWall(n.peak), c.Peak)
	}
	return s
}

// namedPaths are the call paths that the report itself has, with the rest of
// each row as a path of no frames.
func namedPaths(c *Comparison) []LossPath {
	var out []LossPath
	for _, r := range c.Rows {
		base, peak := r.BaseNS, r.PeakNS
		if r.ExcessNS > 0 {
			for _, s := range r.Stacks {
				if s.ExcessNS > 0 && s.ExcessNS <= peak-base {
					frames := slices.Clone(s.Frames)
					slices.Reverse(frames)
					out = append(out, LossPath{Cause: r.Cause, Frames: frames, PeakNS: s.ExcessNS})
					peak -= s.ExcessNS
				}
			}
		}
		out = append(out, LossPath{Cause: r.Cause, BaseNS: base, PeakNS: peak})
	}
	return out
}
