package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The curve is curveRows lines of plot, an axis, the T below it and a legend.
const (
	curveRows   = 9
	curveLines  = curveRows + 3
	curveMargin = 7 // columns for the numbers at the left, axis included
	curveWidest = 76
	curveLeast  = 30 // narrower than this nothing can be told
)

// glyphs are what a curve is drawn with.
type glyphs struct {
	points                              []rune // one for each series, in order
	interval, ideal, ceiling            rune
	axis, corner, tick, base, gap, join string
}

func glyphsFor(ascii bool) glyphs {
	if ascii {
		return glyphs{points: []rune("*o#%"), interval: '|', ideal: '.', ceiling: '~', axis: "|", corner: "+", tick: "+", base: "-", gap: "  ", join: ", "}
	}
	return glyphs{points: []rune("●○◆◇"), interval: '│', ideal: '·', ceiling: '╌', axis: "┤", corner: "└", tick: "┴", base: "─", gap: "  ", join: ", "}
}

// Curve draws what each T gives, in cores' worth of the smallest T, for series
// of one target: the ideal, what the machine gives to code that shares nothing,
// and the measured points with their intervals. Only points that were measured
// are drawn; nothing is joined up. At most 12 lines of at most opt.Width columns;
// nil where there is no second point to draw or no room.
func Curve(series []Series, opt TextOptions) []string {
	width := opt.Width
	if width <= 0 {
		width = 80
	}
	width = min(width, curveWidest)
	p := newPlot(series, width-curveMargin)
	if p == nil || width < curveLeast {
		return nil
	}
	g := glyphsFor(opt.ASCII)
	p.lines(g)
	p.points(g)
	out := make([]string, 0, curveLines)
	for r := range curveRows {
		label := ""
		if r%2 == 0 {
			label = p.label(r)
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%*s %s%s", curveMargin-2, label, g.axis, string(p.cell[r])), " "))
	}
	out = append(out, p.axis(g), p.ticks(), p.legend(g, width))
	return out
}

// plot is a raster of characters over T and cores' worth.
type plot struct {
	series    []Series
	cell      [][]rune
	cols      int
	tLo, tHi  int
	top       float64 // cores' worth at the top row
	threads   []int   // that have a point
	ceilings  bool
	intervals bool
	clipped   bool // the ideal leaves the plot
}

// worth is a point's speed-up in cores' worth: times the T that it is relative to.
func worth(s *Series, v float64) float64 { return v * float64(s.Points[0].Threads) }

func newPlot(series []Series, cols int) *plot {
	p := &plot{cols: cols, tLo: math.MaxInt}
	seen := map[int]bool{}
	for _, s := range series {
		n := 0
		for _, pt := range s.Points {
			if finitePositive(pt.Speedup) && pt.Threads > 0 {
				n++
			}
		}
		if n < 2 || len(p.series) == len(glyphsFor(true).points) {
			continue
		}
		p.series = append(p.series, s)
		for _, pt := range s.Points {
			if !finitePositive(pt.Speedup) || pt.Threads <= 0 {
				continue
			}
			p.tLo, p.tHi = min(p.tLo, pt.Threads), max(p.tHi, pt.Threads)
			if !seen[pt.Threads] {
				seen[pt.Threads] = true
				p.threads = append(p.threads, pt.Threads)
			}
			p.top = math.Max(p.top, worth(&s, *pt.Speedup))
			if iv := pt.SpeedupCI; iv != nil && iv[1] < 2**pt.Speedup {
				p.top = math.Max(p.top, worth(&s, iv[1]))
			}
			if finitePositive(pt.CeilingSpeedup) {
				p.top = math.Max(p.top, worth(&s, *pt.CeilingSpeedup))
			}
		}
	}
	if len(p.series) == 0 || p.tHi <= p.tLo || cols < 10 {
		return nil
	}
	// Nothing gives much more than the ideal: what does is drawn at the top.
	p.top = math.Min(p.top, 2*float64(p.tHi))
	// The ideal may leave at the top: a curve that gives a quarter of it would
	// else be squeezed into two rows.
	if ideal := float64(p.tHi); ideal <= 1.5*p.top {
		p.top = math.Max(p.top, ideal)
	} else {
		p.top *= 1.1
		p.clipped = p.top < ideal
	}
	p.cell = make([][]rune, curveRows)
	for r := range p.cell {
		p.cell[r] = []rune(strings.Repeat(" ", cols))
	}
	return p
}

func finitePositive(v *float64) bool {
	return v != nil && *v > 0 && !math.IsInf(*v, 0) && !math.IsNaN(*v)
}

// col is the column of T; the first has a little room to its left.
func (p *plot) col(t float64) int {
	return 2 + int(math.Round((t-float64(p.tLo))/float64(p.tHi-p.tLo)*float64(p.cols-4)))
}

// row is the row of a number of cores' worth, from the top; -1 above the plot.
func (p *plot) row(v float64) int {
	if v > p.top*1.06 {
		return -1
	}
	return curveRows - 1 - int(math.Round(max(v, 0)/p.top*(curveRows-1)))
}

func (p *plot) label(r int) string {
	v := p.top * float64(curveRows-1-r) / (curveRows - 1)
	s := strconv.FormatFloat(v, 'f', 0, 64)
	if p.top < 10 {
		s = strconv.FormatFloat(v, 'f', 1, 64)
	}
	if len(s) > curveMargin-2 {
		return "" // no machine has as many cores: a damaged capture
	}
	return s
}

func (p *plot) put(col, row int, g rune) {
	if row >= 0 && row < curveRows && col >= 0 && col < p.cols {
		p.cell[row][col] = g
	}
}

// lines draws the ideal and the ceiling between its points, as lines.
func (p *plot) lines(g glyphs) {
	for c := 2; c < p.cols-1; c += 2 {
		t := float64(p.tLo) + float64(c-2)/float64(p.cols-4)*float64(p.tHi-p.tLo)
		p.put(c, p.row(t), g.ideal)
	}
	for i := range p.series {
		s := &p.series[i]
		var last *Point
		for k := range s.Points {
			pt := &s.Points[k]
			if !finitePositive(pt.CeilingSpeedup) {
				continue
			}
			if last != nil && last.Threads < pt.Threads {
				p.ceilings = true
				from, to := p.col(float64(last.Threads)), p.col(float64(pt.Threads))
				for c := from; c <= to; c++ {
					f := float64(c-from) / float64(max(to-from, 1))
					p.put(c, p.row(worth(s, *last.CeilingSpeedup+f*(*pt.CeilingSpeedup-*last.CeilingSpeedup))), g.ceiling)
				}
			}
			last = pt
		}
		if p.ceilings {
			break // one machine has one ceiling
		}
	}
}

// points draws the intervals, then the points over them; the first series last,
// so that it is the one seen where two fall together.
func (p *plot) points(g glyphs) {
	for i := len(p.series) - 1; i >= 0; i-- {
		s := &p.series[i]
		for _, pt := range s.Points {
			if !finitePositive(pt.Speedup) {
				continue
			}
			c := p.col(float64(pt.Threads))
			if iv := pt.SpeedupCI; iv != nil && iv[0] <= iv[1] && iv[0] > 0 {
				hi, lo := max(p.row(worth(s, iv[1])), 0), max(p.row(worth(s, iv[0])), 0)
				p.intervals = p.intervals || hi < lo // else the point hides it
				for r := hi; r <= lo; r++ {
					p.put(c, r, g.interval)
				}
			}
			p.put(c, max(p.row(worth(s, *pt.Speedup)), 0), g.points[i])
		}
	}
}

func (p *plot) axis(g glyphs) string {
	line := make([]string, p.cols)
	for i := range line {
		line[i] = g.base
	}
	for _, t := range p.threads {
		line[p.col(float64(t))] = g.tick
	}
	return strings.Repeat(" ", curveMargin-1) + g.corner + strings.Join(line, "")
}

// ticks are the T below the axis. The first and the last are always there, the
// others where they fit.
func (p *plot) ticks() string {
	line := []byte(strings.Repeat(" ", curveMargin+p.cols))
	copy(line[curveMargin-3:], "T")
	place := func(t int) {
		s := strconv.Itoa(t)
		at := curveMargin + p.col(float64(t)) - len(s)/2
		at = min(at, len(line)-len(s))
		for i := max(0, at-1); i < min(len(line), at+len(s)+1); i++ {
			if line[i] != ' ' {
				return
			}
		}
		copy(line[at:], s)
	}
	place(p.tLo)
	place(p.tHi)
	for _, t := range p.threads {
		if t != p.tLo && t != p.tHi {
			place(t)
		}
	}
	return strings.TrimRight(string(line), " ")
}

// legend names what was drawn, cut to what fits.
func (p *plot) legend(g glyphs, width int) string {
	out := strings.Repeat(" ", curveMargin)
	add := func(s string) {
		if out != strings.Repeat(" ", curveMargin) {
			s = g.gap + s
		}
		if columns(out+s) <= width {
			out += s
		}
	}
	for i, s := range p.series {
		name := s.Mode
		if s.Arm != "" && s.Arm != "baseline" {
			name += " " + s.Arm
		}
		add(string(g.points[i]) + " " + name)
	}
	if p.intervals {
		add(string(g.interval) + " 95% interval")
	}
	if p.ceilings {
		add(string(g.ceiling) + " this machine")
	}
	if p.clipped {
		add(string(g.ideal) + " ideal, up to " + strconv.Itoa(p.tHi))
	} else {
		add(string(g.ideal) + " ideal")
	}
	return out
}
