package analyze

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/experiment"
	"github.com/scaleprof/scaleprof/internal/gate"
	"github.com/scaleprof/scaleprof/internal/report"
)

// Thresholds of the verdict, all as fractions of the slot time at peak (loss)
// or of what there is to explain (shares).
const (
	// notableLoss is the loss below which a program is said to scale: what two
	// cells of one program differ by on a quiet machine.
	notableLoss = 0.05
	// leadingShare is the part of the excess that a group must carry to be named.
	leadingShare = 0.30
	// leadOver is how far the first group must be ahead of the second for the
	// evidence to decide between them.
	leadOver = 1.15
	// disturbing is the part of the loss taken by others on the machine from which
	// on the rest is not believed without an experiment.
	disturbing = 0.15
	// ownRow is the part of its group that a row must carry to be the verdict
	// by itself; below it the report argues by group.
	ownRow = 0.5
	// otherRows is the part of the loss that a group's other rows must carry to be told.
	otherRows = 0.05
)

// standing is one group's claim on the excess.
type standing struct {
	group string
	cores float64 // attributed
	top   *report.Row
	sure  bool // it, or some row of it, is distinguishable from noise
	exp   *report.Experiment
}

// claim is the larger of what attribution and an experiment give to the group.
// An experiment also sees indirect costs (write barriers, cold caches), so a
// group may lead by it alone.
func (s standing) claim() float64 {
	if s.exp != nil && s.exp.EffectCI != nil && (*s.exp.EffectCI)[0] > 0 && s.exp.EffectCores > s.cores {
		return s.exp.EffectCores
	}
	return s.cores
}

// outside lists groups that are not the program's doing; they may be named, as
// what they are, when nothing in the program explains the loss.
func outside(id cause.ID) bool {
	switch id.Group() {
	case "os", "hardware":
		return true
	}
	return false
}

// never holds what is no cause at all: what the recorder cost, and what is not known.
func never(id cause.ID) bool {
	return id.Group() == "observer" && id != cause.ObserverHarness || id == cause.Unexplained
}

// judge names the cause to act on, or says why it does not.
func judge(c *report.Comparison, gates []report.Gate) report.Verdict {
	for i := range gates {
		if gates[i].ID == gate.WorkChanged {
			return unclear(c, gates[i].Text)
		}
	}
	lossFraction := 1 - c.Efficiency
	if lossFraction < notableLoss {
		return scales(c)
	}
	if c.CoresLostCI != nil && c.CoresLostCI[0] <= 0 {
		return unclear(c, fmt.Sprintf("the runs differ so much that it may be none (95%%: %.2f to %.2f); more blocks on a quieter machine may tell", c.CoresLostCI[0], c.CoresLostCI[1]))
	}
	if len(c.Rows) == 0 {
		return unclear(c, "no run was profiled, so timings alone are known")
	}
	groups := rank(c)
	own := ownCode(c)
	if own != nil && len(groups) > 0 && own.CoresLost <= groups[0].cores {
		own = nil
	}
	if own != nil && (len(groups) == 0 || !groups[0].sure || groups[0].cores < leadingShare*c.CoresLost) {
		return unclear(c, ownCodeText(own))
	}
	if len(groups) == 0 {
		return unclear(c, "no cause grew beyond noise")
	}
	var elsewhere []standing
	for _, g := range groups {
		if g.group == "os" {
			elsewhere = append(elsewhere, g)
		}
	}
	lead := groups[0]
	switch {
	case !lead.sure && lead.exp == nil:
		return unclear(c, fmt.Sprintf("the runs differ too much: the largest part, %s with %.2f, is within their noise; more blocks on a quieter machine may tell", lead.top.Cause, lead.claim()))
	case lead.claim() < leadingShare*c.CoresLost:
		return unclear(c, fmt.Sprintf("the loss is spread: the largest part is %s with %.2f", lead.top.Cause, lead.claim()))
	}
	if lead.top.Cause == string(cause.BalanceQueue) {
		// That workers outnumber the Ps is how it was asked to run, not what the program does.
		if g := gateAmong(gates, gate.Oversubscribed, gate.Affinity, gate.GOMAXPROCS); g != nil {
			return unclear(c, fmt.Sprintf("%.2f of them are workers that wait for a P (%s): %s. That says nothing of the program; compare levels of T that the machine can run", lead.top.CoresLost, lead.top.Cause, g.Text))
		}
	}
	if lead.top.Cause == string(cause.BalanceTail) {
		if g := gateAmong(gates, unevenCPUs); g != nil {
			return unclear(c, fmt.Sprintf("%.2f of them are workers that are done before others (%s): %s", lead.top.CoresLost, lead.top.Cause, g.Text))
		}
	}
	if outside(cause.ID(lead.top.Cause)) {
		return name(c, lead)
	}
	// A machine that was taken away distorts what it leaves: waits for a GC worker
	// or a lock's holder are longer when that one has no CPU.
	if taken := claims(elsewhere); taken >= disturbing*c.CoresLost && lead.claim() < 2*taken && lead.exp == nil {
		why := fmt.Sprintf("%.2f of them went to others on this machine (%s), which distorts the rest", taken, elsewhere[0].top.Cause)
		if g := gateThatVoids(gates); g != nil {
			why += ": " + g.Text
		}
		return unclear(c, why)
	}
	v := name(c, lead)
	if len(groups) > 1 && lead.exp == nil && groups[1].sure && lead.claim() < leadOver*groups[1].claim() {
		// Within noise of one another: the larger is named, and said to be so.
		v.Confidence = "unclear"
		v.Text += fmt.Sprintf("; %s follows closely with %.2f", groups[1].top.Cause, groups[1].claim())
	}
	if own != nil {
		// Code that runs slower may do so for what the leading cause does to caches, or for a cause of its own.
		v.Confidence = "unclear"
		v.Text += fmt.Sprintf("; the program's own code takes %.2f more for the same work, for which nothing is seen", own.CoresLost)
	}
	return v
}

// ownCode is the row of the program's own code where it surely takes longer, and
// that is a large part of the loss; nil else.
func ownCode(c *report.Comparison) *report.Row {
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Cause == string(cause.WorkUser) && r.Distinguishable && r.CoresLost >= leadingShare*c.CoresLost {
			return r
		}
	}
	return nil
}

func ownCodeText(own *report.Row) string {
	text := fmt.Sprintf("%.2f of them are the program's own code, which takes longer for the same work (%s)", own.CoresLost, own.Cause)
	if own.Detail != "" {
		return text + ": " + own.Detail
	}
	return text + ", and the samples do not say what it waits for"
}

func claims(groups []standing) float64 {
	sum := 0.0
	for _, g := range groups {
		sum += g.claim()
	}
	return sum
}

// rank orders the groups by their claim on the excess.
func rank(c *report.Comparison) []standing {
	byGroup := map[string]*standing{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if never(cause.ID(r.Cause)) || r.Cause == string(cause.WorkUser) {
			continue
		}
		g := byGroup[r.Group]
		if g == nil {
			g = &standing{group: r.Group}
			byGroup[r.Group] = g
		}
		g.cores += r.CoresLost
		if r.CoresLost > 0 && (g.top == nil || r.CoresLost > g.top.CoresLost) {
			g.top = r
		}
		g.sure = g.sure || r.Distinguishable && r.CoresLost > 0
	}
	// A group's rows take from one another as runs differ, so their sum is known better than
	// each. That something lost cores is established by then: what is asked is whether this group
	// did, which its own interval says.
	for i := range c.Groups {
		if g := byGroup[c.Groups[i].Group]; g != nil && c.Groups[i].CoresLostCI != nil && c.Groups[i].CoresLostCI[0] > 0 {
			g.sure = true
		}
	}
	for name, g := range byGroup {
		g.exp = experimentOn(c, name)
	}
	var out []standing
	for _, g := range byGroup {
		if g.top != nil && g.claim() > 0 {
			out = append(out, *g)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := out[i].claim(), out[j].claim(); a != b {
			return a > b
		}
		return out[i].group < out[j].group
	})
	return out
}

// name builds the verdict for a leading group.
func name(c *report.Comparison, g standing) report.Verdict {
	id, group := g.top.Cause, g.group
	v := report.Verdict{Cause: &id, Group: &group, Confidence: "likely"}
	byGroup := g.cores > 0 && g.top.CoresLost < ownRow*g.cores
	title, takes := id, g.top.CoresLost
	if byGroup {
		title, takes = group, g.cores
	}
	entry, known := cause.Lookup(cause.ID(id))
	var text strings.Builder
	fmt.Fprintf(&text, "%s takes %.2f of the %.2f cores lost", title, takes, c.CoresLost)
	switch {
	case byGroup:
		fmt.Fprintf(&text, ", most of it %s (%.2f)", id, g.top.CoresLost)
	case g.cores-g.top.CoresLost >= otherRows*c.CoresLost:
		fmt.Fprintf(&text, ", all of %s %.2f", group, g.cores)
	}
	if known && entry.Title != "" {
		fmt.Fprintf(&text, ": %s", inSentence(entry.Title))
	}
	if g.top.Detail != "" {
		// The rest of it stands at the row.
		first, _, _ := strings.Cut(g.top.Detail, "; ")
		fmt.Fprintf(&text, ", %s", first)
	}
	if e := g.exp; e != nil {
		fmt.Fprintf(&text, "; the %s gives back %.2f", e.Arm, e.EffectCores)
		switch {
		case experiment.Proves(*e):
			v.Confidence = "proven"
		case e.EffectCI == nil:
			text.WriteString(", in too few blocks to count")
		case e.EffectCI[0] <= 0 && 0 <= e.EffectCI[1]:
			fmt.Fprintf(&text, " (95%%: %.2f to %.2f), which decides nothing", e.EffectCI[0], e.EffectCI[1])
		case e.Verdict == experiment.Shifted:
			text.WriteString(": removing it uncovers another limit")
		case e.EffectCI[0] > 0 && e.EffectCores > g.cores:
			v.Confidence = "proven"
			text.WriteString(", more than the profiles show, as they do not see its indirect costs")
		default:
			text.WriteString(", which does not bear it out")
		}
	}
	v.Text = text.String()
	if known {
		v.Evidence = append([]string(nil), entry.Confirm...)
		if len(entry.Helps) > 0 {
			v.Advice = entry.Helps[0]
		}
	}
	return v
}

func scales(c *report.Comparison) report.Verdict {
	return report.Verdict{
		Confidence: "likely",
		Text:       fmt.Sprintf("scales: from T=%d to T=%d it keeps %.0f%% efficiency", c.Base, c.Peak, 100*c.Efficiency),
	}
}

func unclear(c *report.Comparison, why string) report.Verdict {
	return report.Verdict{
		Confidence: "unclear",
		Text:       fmt.Sprintf("cannot tell: %.2f cores are lost from T=%d to T=%d, but %s", c.CoresLost, c.Base, c.Peak, why),
	}
}

// gateThatVoids picks the first gate that makes the figures no picture of the program.
func gateThatVoids(gates []report.Gate) *report.Gate {
	for i := range gates {
		if rule, ok := gate.RuleOf(gates[i].ID); ok && rule.Voids {
			return &gates[i]
		}
	}
	return nil
}

// gateAmong is the first broken gate of the given kinds, nil of none.
func gateAmong(gates []report.Gate, ids ...string) *report.Gate {
	for i := range gates {
		if slices.Contains(ids, gates[i].ID) {
			return &gates[i]
		}
	}
	return nil
}

// inSentence lowers the first letter of a title, but not that of "GC" or "CPU".
func inSentence(title string) string {
	r := []rune(title)
	if len(r) > 1 && unicode.IsUpper(r[1]) {
		return title
	}
	return strings.ToLower(string(r[:1])) + string(r[1:])
}
