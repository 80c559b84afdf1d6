package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/scaleprof/scaleprof/internal/capture"
)

// newProgress draws a bar on a terminal and writes one line a step elsewhere.
func newProgress(w io.Writer) capture.Progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &bar{w: w}
	}
	return &lines{w: w}
}

// lines logs each step.
type lines struct{ w io.Writer }

func (l *lines) Show(s capture.Status) {
	if !s.Phase {
		return
	}
	fmt.Fprintf(l.w, "scaleprof: %s%s\n", s.Text, timing(s))
}

func (l *lines) Warn(text string) { fmt.Fprintf(l.w, "scaleprof: warning: %s\n", text) }
func (l *lines) End()             {}

func timing(s capture.Status) string {
	spent := s.Spent.Round(time.Second)
	if s.Left <= 0 {
		return fmt.Sprintf(" (%s spent)", spent)
	}
	bound := "about"
	if s.Bound {
		bound = "at most"
	}
	return fmt.Sprintf(" (%s spent, %s %s left)", spent, bound, s.Left.Round(time.Second))
}

// bar shows what is running and what remains. It is drawn only when the capture
// says so, which is never inside a window: drawing takes no CPU from a run.
type bar struct {
	w       io.Writer
	p       *mpb.Progress // nil until there is something to show
	bar     *mpb.Bar
	refresh chan any
	now     capture.Status
}

func (b *bar) begin() {
	if b.p != nil {
		return
	}
	b.refresh = make(chan any)
	b.p = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(barWidth), mpb.WithManualRefresh(b.refresh))
	b.bar = b.p.New(0, mpb.BarStyle().Rbound("]"), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return " " + b.now.Text + timing(b.now)
		})))
}

// barWidth leaves room for the text on a line of 80 columns.
const barWidth = 16

func (b *bar) Show(s capture.Status) {
	b.begin()
	b.now = s
	b.bar.SetTotal(int64(s.Spent+s.Left), false)
	b.bar.SetCurrent(int64(s.Spent))
	b.refresh <- nil
}

func (b *bar) Warn(text string) {
	b.begin()
	fmt.Fprintf(b.p, "scaleprof: warning: %s\n", text)
	b.refresh <- nil
}

func (b *bar) End() {
	if b.p == nil {
		return
	}
	b.bar.Abort(true)
	b.p.Wait()
	b.p = nil
}
