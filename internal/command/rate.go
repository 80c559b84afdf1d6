package command

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// figure finds numbers in a command's output.
type figure struct {
	flag string // without dashes, for messages
	re   *regexp.Regexp
}

// newFigure reads the flag's expression. nil for "".
func newFigure(flag, expr string) (*figure, error) {
	if expr == "" {
		return nil, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if re.NumSubexp() < 1 {
		return nil, fmt.Errorf(`%s: %q has no group around the number; want for instance 'Requests/sec:\s+(\S+)'`, flag, expr)
	}
	return &figure{flag, re}, nil
}

// in is the number in the last match: what a command says last is its total.
func (f *figure) in(text []byte, who string) (float64, error) {
	all := f.re.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("%s printed nothing that matches --%s %q", who, f.flag, f.re)
	}
	group := string(all[len(all)-1][1])
	v, err := number(group)
	if err != nil {
		return 0, fmt.Errorf("%s printed %q where --%s wants a number above 0", who, clip(group), f.flag)
	}
	return v, nil
}

// thousands is a number whose digits are in groups of three.
var thousands = regexp.MustCompile(`^\d{1,3}([,_ ']\d{3})+(\.\d*)?$`)

// number reads "1234.5", "1,234.5", "1.2k" or "3M". It is above 0 and finite.
func number(s string) (float64, error) {
	s = strings.TrimSpace(s)
	scale := 1.0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'k', 'K':
			scale = 1e3
		case 'M':
			scale = 1e6
		case 'G':
			scale = 1e9
		}
		if scale > 1 {
			s = strings.TrimSpace(s[:n-1])
		}
	}
	if thousands.MatchString(s) {
		s = strings.NewReplacer(",", "", "_", "", " ", "", "'", "").Replace(s)
	}
	v, err := strconv.ParseFloat(s, 64)
	v *= scale
	if err != nil || !(v > 0) || v > maxFigure || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number above 0", s)
	}
	return v, nil
}

// maxFigure bounds what a command may claim: requests, or requests per second.
const maxFigure = 1e15
