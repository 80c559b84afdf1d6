package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/scaleprof/scaleprof/internal/report"
)

// textOptions says what w can show: width and colour of a terminal, 80 plain
// columns elsewhere. NO_COLOR (no-color.org) and TERM=dumb turn colour off.
func textOptions(env *environment, w io.Writer) report.TextOptions {
	opt := report.TextOptions{Width: 80}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return opt
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		opt.Width = min(max(width, 60), 120)
	}
	opt.Color = env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	opt.ASCII = !utf8Locale(env)
	return opt
}

// utf8Locale follows the order in which the C library looks; an unset locale is
// taken for one that can show more than ASCII, as terminals do today.
func utf8Locale(env *environment) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
