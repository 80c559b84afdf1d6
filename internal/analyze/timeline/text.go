package timeline

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scaleprof/scaleprof/internal/analyze/lanes"
)

// Style is what the output can show.
type Style struct {
	Width int  // columns
	Color bool // SGR colours
	ASCII bool // no other characters
}

// look is how an activity is drawn: readable without the colour.
type look struct {
	glyph, ascii string
	color        int // SGR
	text         string
}

var looks = [lanes.NumActivities]look{
	lanes.Absent:    {" ", " ", 0, "not there: begins later or is done"},
	lanes.Running:   {"█", "#", 32, "running"},
	lanes.Assisting: {"A", "A", 31, "GC assist"},
	lanes.Sweeping:  {"S", "S", 31, "GC sweep"},
	lanes.Stopping:  {"!", "!", 31, "stops the world"},
	lanes.Ready:     {"░", "r", 33, "runnable, no P"},
	lanes.Halted:    {"X", "X", 31, "stopped with the world"},
	lanes.InLock:    {"L", "L", 35, "waits for a lock"},
	lanes.InChannel: {"c", "c", 36, "waits for a channel, Cond or WaitGroup"},
	lanes.InGC:      {"g", "g", 31, "waits for the GC"},
	lanes.InNetwork: {"n", "n", 34, "waits for the network"},
	lanes.Idle:      {"·", ".", 0, "idle: sleeps, or nothing known"},
	lanes.InSyscall: {"s", "s", 34, "system call or cgo"},
	lanes.Marking:   {"M", "M", 31, "GC worker"},
	lanes.Free:      {"·", ".", 0, "free"},
	lanes.Searching: {"?", "?", 33, "searching for work"},
	lanes.Runtime:   {"R", "R", 33, "other runtime work"},
}

// maxShown is how many lanes are drawn; the legend counts them all.
const maxShown = 64

// NameWidth is the width of the lanes' names and the space behind, for callers
// that choose the number of columns.
const NameWidth = 12

// Write draws the timeline: an axis, a row for each lane, the collector and the
// Ps, and a legend of what occurs with its share of the lanes' time.
func (t *Timeline) Write(w io.Writer, st Style) error {
	d := drawing{style: st}
	d.axis(t)
	for i := range t.Rows {
		if i == maxShown {
			d.printf("%s… %d more are not drawn; the legend counts them\n", strings.Repeat(" ", NameWidth), len(t.Rows)-maxShown)
			break
		}
		r := &t.Rows[i]
		d.name(r.Name)
		d.cells(r.Cells)
	}
	d.name("GC marking")
	d.level(t.Mark, 31)
	if t.Procs > 0 && t.LanesOf != "Ps" {
		d.name("Ps in GC")
		d.level(t.MarkPs, 31)
		d.name("Ps free")
		d.level(t.FreePs, 0)
	}
	d.legend(t)
	text := trailing.ReplaceAllString(d.b.String(), "\n")
	if st.ASCII {
		text = strings.ReplaceAll(text, "…", "...")
	}
	_, err := io.WriteString(w, text)
	return err
}

var trailing = regexp.MustCompile(` +\n`)

type drawing struct {
	style Style
	b     strings.Builder
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *drawing) name(s string) { d.printf("%-*s", NameWidth, s) }

// axis marks the begin, the middle and the end of the stretch.
func (d *drawing) axis(t *Timeline) {
	n := len(t.Mark)
	from, mid, to := moment(t.FromNS, t.ToNS), moment((t.FromNS+t.ToNS)/2, t.ToNS), moment(t.ToNS, t.ToNS)
	line := from
	if at := n/2 - len(line); at > 0 && n/2+len(mid)+len(to)+2 < n {
		line += strings.Repeat(" ", at) + "|" + mid
	}
	if at := n - width(line) - width(to); at > 0 {
		line += strings.Repeat(" ", at) + to
	}
	d.name("")
	d.b.WriteString(line + "\n")
}

func width(s string) int { return utf8.RuneCountInString(s) }

// moment is a time with the unit that suits the end of the stretch.
func moment(ns, end int64) string {
	switch {
	case end >= int64(time.Second):
		return fmt.Sprintf("%.3g s", float64(ns)/1e9)
	case end >= int64(time.Millisecond):
		return fmt.Sprintf("%.4g ms", float64(ns)/1e6)
	case end >= int64(time.Microsecond):
		return fmt.Sprintf("%.4g us", float64(ns)/1e3)
	}
	return fmt.Sprintf("%d ns", ns)
}

// paint writes text in a colour, where colours are shown.
func (d *drawing) paint(color int, text string) {
	if d.style.Color && color != 0 {
		d.printf("\x1b[%dm%s\x1b[0m", color, text)
		return
	}
	d.b.WriteString(text)
}

func (d *drawing) glyph(a lanes.Activity) string {
	if d.style.ASCII {
		return looks[a].ascii
	}
	return looks[a].glyph
}

func (d *drawing) cells(cells []lanes.Activity) {
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && cells[j] == cells[i] {
			j++
		}
		d.paint(looks[cells[i]].color, strings.Repeat(d.glyph(cells[i]), j-i))
		i = j
	}
	d.b.WriteByte('\n')
}

// bars are eighths. In ASCII there are tenths as digits.
var bars = []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// level draws shares of 0 to 1. What is above nothing shows.
func (d *drawing) level(shares []float64, color int) {
	var b strings.Builder
	for _, x := range shares {
		x = min(max(x, 0), 1)
		switch {
		case x == 0:
			b.WriteByte(' ')
		case d.style.ASCII:
			b.WriteByte("0123456789"[min(int(x*10), 9)])
		default:
			b.WriteString(bars[max(1, int(x*8+0.5))])
		}
	}
	d.paint(color, b.String())
	d.b.WriteByte('\n')
}

// legend names the activities that occur, with their share of the lanes' time.
func (d *drawing) legend(t *Timeline) {
	var sum [lanes.NumActivities]int64
	var all int64
	for i := range t.Rows {
		for k, ns := range t.Rows[i].NS {
			sum[k] += ns
			all += ns
		}
	}
	d.b.WriteByte('\n')
	col := 0
	for k, ns := range sum {
		if ns == 0 {
			continue
		}
		a := lanes.Activity(k)
		share := float64(ns) / float64(max(all, 1))
		percent := fmt.Sprintf("%.0f%%", 100*share)
		if share < 0.005 {
			percent = "<1%"
		}
		glyph := d.glyph(a)
		if glyph == " " {
			glyph = "blank"
		}
		item := width(glyph) + 1 + len(looks[a].text) + 1 + len(percent)
		switch {
		case col > 0 && col+3+item > d.style.Width:
			d.b.WriteByte('\n')
			col = 0
		case col > 0:
			d.b.WriteString("   ")
			col += 3
		}
		d.paint(looks[a].color, glyph)
		d.printf(" %s %s", looks[a].text, percent)
		col += item
	}
	d.b.WriteByte('\n')
	unit := "eighths"
	if d.style.ASCII {
		unit = "tenths (digits)"
	}
	if t.LanesOf != "Ps" {
		d.printf("GC and P rows are levels, in %s of the time and of the %d Ps.\n", unit, t.Procs)
	} else {
		d.printf("The GC row is a level, in %s of the time.\n", unit)
	}
}
