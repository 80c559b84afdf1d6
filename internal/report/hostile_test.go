package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
)

// hostile is a report whose every string is out to do harm.
func hostile() *Report {
	bad := "a\x1b[31m\u009b2J\u202e|`b`\n<script>alert(1)</script>" + strings.Repeat("世界", 60)
	one, e := 1.0, 0.5
	name := bad
	return &Report{
		Schema: Schema, Host: Host{CPUs: 2, CPU: bad, OS: bad, Arch: bad}, Toolchain: Toolchain{Go: bad},
		Series: []Series{{Target: bad, Mode: "thread", Arm: "baseline", Notes: []string{bad}, Points: []Point{
			{Threads: 1, Ops: 10, WallNS: 1000, Speedup: &one, Efficiency: &one},
			{Threads: 2, Ops: 10, WallNS: 1000, Speedup: &one, SpeedupCI: &[2]float64{0.9, 1.1}, Efficiency: &e, Gates: []Gate{{ID: bad, Text: bad}}},
		}}},
		Comparisons: []Comparison{{
			Target: bad, Mode: "thread", Arm: "baseline", Base: 1, Peak: 2, SlotBaseNS: 1000, SlotPeakNS: 2000, ExcessNS: 1000, CoresLost: 1, Efficiency: 0.5,
			Rows: []Row{{
				Cause: bad, Group: bad, PeakNS: 1000, ExcessNS: 1000, CoresLost: 1, Share: 1, Distinguishable: true, Detail: bad,
				Stacks: []Stack{{Frames: []string{bad, bad}, Source: bad, CoresLost: 1}},
			}},
			Verdict: Verdict{Cause: &name, Group: &name, Confidence: "likely", Text: bad, Advice: bad}, Notes: []string{bad},
			Experiments: []Experiment{{Arm: bad, Verdict: bad, Why: bad, Confounds: bad}},
		}},
		Warnings: []Warning{{ID: bad, Text: bad}},
	}
}

func TestHostile(t *testing.T) {
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := Write(&b, hostile(), format, TextOptions{}); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		obeyed(t, format, b.String())
		if format == "json" {
			continue // no markup
		}
		for line := range strings.Lines(b.String()) {
			// What stands in a code span is shown as it is.
			outside, _, _ := strings.Cut(line, "`")
			if format != "text" && format != "bench" && strings.Contains(outside, "<script") {
				t.Errorf("%s has markup of the capture's: %.100q", format, line)
			}
		}
	}
}

// obeyed reports characters that a terminal obeys or that reorder others.
func obeyed(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%s has the character %U", what, r)
			return
		}
	}
	for _, escape := range []string{`\u00`, `\u202`, `\u206`} {
		if strings.Contains(strings.ToLower(text), escape) {
			t.Errorf("%s has %s, which a reader of JSON turns into the character", what, escape)
		}
	}
}

// TestHostileResults: what check and diff print goes through the same place.
func TestHostileResults(t *testing.T) {
	bad := hostile().Host.CPU
	var text, markdown, data bytes.Buffer
	lines := []Line{{Label: bad, Text: bad}, {Text: bad}}
	if err := errors.Join(Lines(&text, bad, lines, TextOptions{}), MarkdownLines(&markdown, bad, lines),
		WriteJSON(&data, map[string]any{bad: []any{bad, &Mapped{bad, [1]string{bad}}}})); err != nil {
		t.Fatal(err)
	}
	obeyed(t, "text", text.String())
	obeyed(t, "markdown", markdown.String())
	obeyed(t, "json", data.String())
}

// Mapped is a value of the kinds that results are made of.
type Mapped struct {
	Name  string
	Array [1]string
}

// TestCleanedAlike: a report read back is the report that was written.
func TestCleanedAlike(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, hostile()); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got.Series[0].Target != Cleaned(hostile()).Series[0].Target {
		t.Error("a stored report and the capture's have other names")
	}
}

// TestHTMLAlone: the page asks nobody for anything.
func TestHTMLAlone(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, hostile()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"http://", "https://", "src=", "href=", "url(", "@import", "ZgotmplZ"} {
		if strings.Contains(b.String(), s) {
			t.Errorf("the page has %q", s)
		}
	}
}
