package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/report"
)

// Fewest different T for each law: one more than it has parameters, so that
// there is something left to test it by.
const (
	minAmdahl = 3
	minUSL    = 4
	minBroken = 4
	minSearch = 5
)

// Differences of BIC below which two laws explain the figures equally well:
// factors of e and e^2 in evidence. Between the USL and a knee more is asked, as
// one of them blames the program and the other the machine.
const (
	tied  = 2.0
	rival = 4.0
)

// fits are the laws fitted to one curve, nil where there are too few T.
type fits struct {
	c                    *curve
	amdahl, usl, broken  *law
	chosen               *law
	rivals               []*law // where several laws explain the figures equally well
	places               []host.Place
	suggestion, noChoice string
}

func fitAll(c *curve, places []host.Place) *fits {
	f := &fits{c: c, places: places}
	m := len(c.threads)
	if m >= minAmdahl {
		f.amdahl = fitAmdahl(c)
	}
	if m >= minUSL {
		f.usl = fitUSL(c)
	}
	if m >= minBroken {
		for i := range places {
			f.consider(fitBroken(c, &places[i]))
		}
	}
	if m >= minSearch {
		f.consider(fitBroken(c, nil))
	}
	f.choose()
	return f
}

// consider keeps the better of two broken lines. A knee that had to be searched
// for has paid for it with a parameter.
func (f *fits) consider(l *law) {
	if l != nil && (f.broken == nil || l.bic < f.broken.bic) {
		f.broken = l
	}
}

// eligible reports whether a law may be chosen: repeats show no lack of fit, and
// what it has beyond Amdahl's law is there beyond noise.
func eligible(l *law) bool {
	if l == nil || !l.fits() {
		return false
	}
	switch l.name {
	case uslName:
		kappa, sigma := l.param("coherency").ci(), l.param("contention").ci()
		// A negative contention is a law that bends the wrong way (METHOD 3.3).
		return kappa != nil && kappa[0] > 0 && sigma[1] >= 0
	case brokenName:
		y := l.param("yield").ci()
		return y != nil && y[1] < 1
	}
	return true
}

func (f *fits) choose() {
	best, lowest := (*law)(nil), math.Inf(1)
	all := []*law{f.amdahl, f.usl, f.broken}
	for _, l := range all {
		if l == nil {
			continue
		}
		lowest = math.Min(lowest, l.bic)
		if eligible(l) && (best == nil || l.bic < best.bic) {
			best = l
		}
	}
	switch {
	case len(f.c.threads) < minAmdahl:
		f.suggestion = f.next(nil, nil)
		f.noChoice = fmt.Sprintf("not identifiable from %s", plural(len(f.c.threads), "T value"))
	case f.c.repeats() < 2:
		f.noChoice = "not identifiable from one repeat: neither noise nor lack of fit is known; add blocks"
	case best == nil:
		f.suggestion = f.next(f.usl, f.broken)
		f.noChoice = "none of the laws fits"
	case best.bic > lowest+tied:
		f.noChoice = "none of the laws fits well enough"
	case best.name != amdahlName && eligible(f.amdahl) && f.amdahl.bic <= best.bic+tied:
		f.chosen = f.amdahl // the simpler law is as good
	default:
		for _, l := range all {
			if l != nil && l != best && l.name != amdahlName && best.name != amdahlName && eligible(l) && l.bic <= best.bic+rival {
				f.rivals = []*law{best, l}
				f.suggestion = f.next(best, l)
				f.noChoice = fmt.Sprintf("not identifiable from these T: %s and %s explain them equally well", describe(best), describe(l))
				return
			}
		}
		f.chosen = best
	}
}

// models is what the report says of every law.
func (f *fits) models() []report.Model {
	out := []report.Model{}
	if len(f.c.threads) < 2 {
		return out
	}
	for _, e := range []struct {
		name string
		l    *law
		need int
	}{{amdahlName, f.amdahl, minAmdahl}, {uslName, f.usl, minUSL}, {brokenName, f.broken, minBroken}} {
		m := report.Model{Name: e.name, Parameters: map[string]float64{}, CI: map[string]report.Interval{}}
		if e.l != nil {
			for _, p := range e.l.params {
				if math.IsNaN(p.value) || math.IsInf(p.value, 0) {
					continue
				}
				m.Parameters[p.name] = p.value
				m.CI[p.name] = p.ci()
			}
			m.Chosen = e.l == f.chosen
			m.Identified = m.Chosen
		}
		m.Why = f.why(e.l, e.need)
		out = append(out, m)
	}
	return out
}

func (f *fits) why(l *law, need int) string {
	m := len(f.c.threads)
	switch {
	case l == nil && m < need:
		return joined(fmt.Sprintf("needs %d different T, there are %d", need, m), f.next(nil, nil))
	case l == nil:
		return "these T do not determine its parameters"
	case l == f.chosen:
		return sentence(l)
	case f.c.repeats() < 2:
		return f.noChoice
	case !l.fits():
		return fmt.Sprintf("does not fit: off by %.1f%% where repeats differ by %.1f%%%s", 100*l.off, 100*f.c.noise, rejected(l.lack))
	case !eligible(l) && l.name == uslName:
		return "coherency is not distinguishable from 0, or contention is negative"
	case !eligible(l) && l.name == brokenName:
		return "no bend beyond noise"
	case f.chosen != nil:
		return describe(f.chosen) + " explains these T better, or as well with fewer parameters"
	}
	return joined(f.noChoice, f.suggestion)
}

// sentence says what the chosen law says.
func sentence(l *law) string {
	var s string
	switch l.name {
	case amdahlName:
		s = "serial fraction " + fraction(l.param("serial_fraction"))
	case uslName:
		s = fmt.Sprintf("contention %s, coherency %s", fraction(l.param("contention")), fraction(l.param("coherency")))
		if p := l.param("peak_threads"); p != nil {
			s += fmt.Sprintf(", peak at T=%.0f", p.value)
		}
	case brokenName:
		s = fmt.Sprintf("up to %s cores count in full but for a serial fraction of %s, beyond each is worth %s of one",
			number(*l.knee), fraction(l.param("serial_fraction")), fraction(l.param("yield")))
	}
	if !math.IsNaN(l.lack) {
		s += fmt.Sprintf("; no lack of fit (p=%.2f)", l.lack)
		if l.lack <= lackLevel {
			s = s[:strings.LastIndex(s, ";")] + fmt.Sprintf("; off by %.1f%%", 100*l.off)
		}
	}
	return s
}

func describe(l *law) string {
	switch l.name {
	case amdahlName:
		return "Amdahl's law"
	case uslName:
		return "the USL"
	}
	s := "a knee at T=" + number(*l.knee)
	if l.place != "" {
		s += " (" + l.place + ")"
	}
	return s
}

func fraction(p *param) string {
	digits := 1
	if math.Abs(p.value) < 0.01 {
		digits = 3
	}
	s := fmt.Sprintf("%.*f%%", digits, 100*p.value)
	if ci := p.ci(); ci != nil {
		s += fmt.Sprintf(" (%.*f to %.*f)", digits, 100*ci[0], digits, 100*ci[1])
	}
	return s
}

func rejected(p float64) string {
	switch {
	case math.IsNaN(p):
		return ""
	case p < 0.001:
		return ", p<0.001"
	}
	return fmt.Sprintf(", p=%.3f", p)
}

func number(v float64) string { return fmt.Sprintf("%.3g", v) }

func plural(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func joined(s, suggestion string) string {
	if suggestion == "" {
		return s
	}
	return s + "; " + suggestion
}
