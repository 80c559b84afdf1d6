package report

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// footnotes prints the findings that marks in the tables point to.
func (t *textWriter) footnotes() {
	if len(t.notes.texts) == 0 {
		return
	}
	t.printf("\n")
	for _, s := range t.notes.list() {
		t.item(s, "  ")
	}
}

// remarks are the notes on comparisons and arms, each once with those it is of.
func (t *textWriter) remarks(r *Report) {
	notes, arms := &grouped{}, &grouped{}
	for _, c := range r.Comparisons {
		for _, n := range c.Notes {
			notes.add(n, c.Target+", "+c.Mode+" mode")
		}
		for _, e := range c.Experiments {
			arms.add(e.Confounds, e.Arm)
		}
	}
	if len(notes.texts)+len(arms.texts) == 0 {
		return
	}
	t.heading("Notes")
	for _, s := range notes.texts {
		if who := whose(r, notes.who[s]); who != "" {
			s = who + ": " + s
		}
		t.item("- "+s, "  ")
	}
	for _, s := range arms.texts {
		t.item("- arm "+strings.Join(arms.who[s], ", ")+": "+s, "  ")
	}
}

// whose shortens a list of comparisons: "" for all, the mode where it is all of
// one mode.
func whose(r *Report, who []string) string {
	if len(who) == len(r.Comparisons) {
		return ""
	}
	modes := map[string]int{}
	for _, c := range r.Comparisons {
		modes[c.Mode]++
	}
	for mode, n := range modes {
		all := func(s string) bool { return strings.HasSuffix(s, ", "+mode+" mode") }
		if n == len(who) && !slices.ContainsFunc(who, func(s string) bool { return !all(s) }) {
			return mode + " mode"
		}
	}
	return strings.Join(who, "; ")
}

// files names the commands that show the proof, and says where the rest is.
func (t *textWriter) files(r *Report) {
	var commands []string
	others := map[string][]string{} // by command, files that it shows as well
	for _, c := range r.Comparisons {
		for _, e := range c.Verdict.Evidence {
			if shape, file := lossFile(e); file != "" {
				if len(others[shape]) == 0 {
					commands = append(commands, e)
				}
				others[shape] = append(others[shape], file)
			}
		}
	}
	shown := 0
	for _, f := range r.Files {
		if f.Kind == "loss" {
			if shown++; len(commands) == 0 {
				commands = append(commands, f.OpenWith)
			}
		}
	}
	if len(r.Files) == 0 && r.Capture == "" {
		return
	}
	t.heading("Look closer")
	for _, s := range commands {
		t.printf("%s", command(inCapture(r, s), "  ", t.opt.Width))
		shape, _ := lossFile(s)
		if more := others[shape]; len(more) > 1 {
			t.paragraph("the same with "+strings.Join(more[1:], ", "), "    ")
		}
	}
	if r.Capture != "" {
		if t.opt.Brief {
			t.printf("%s", command("scaleprof explain "+shellQuote(r.Capture), "  ", t.opt.Width))
			t.paragraph("call paths, what the arms confound, collector, allocator and scheduler", "    ")
		}
	}
	if len(r.Files) > 0 {
		t.paragraph(fmt.Sprintf("%d profiles (loss, cpu, slots, blame, mutex, block, wall) are in %s", len(r.Files), inCapture(r, "out/")), "  ")
	}
}

// lossFile splits a command into what it does and the loss profile that it opens.
func lossFile(s string) (shape, file string) {
	fields := strings.Split(s, " ")
	for i, f := range fields {
		if strings.HasPrefix(f, "out/loss.") {
			fields[i], file = "", path.Base(f)
		}
	}
	return strings.Join(fields, " "), file
}

func (t *textWriter) warnings(r *Report) {
	if len(r.Warnings) == 0 {
		return
	}
	seen := map[string]bool{}
	shown := 0
	for _, w := range r.Warnings {
		// That arms had too few blocks stands in the table of the arms.
		if seen[w.Text] || w.ID == "arm-few-blocks" {
			continue
		}
		seen[w.Text] = true
		if shown++; shown > maxWarnings {
			continue
		}
		if shown == 1 {
			t.heading("Warnings")
		}
		t.item("- "+w.Text, "  ")
	}
	if shown > maxWarnings {
		t.printf("  and %d more; --format json has them all\n", shown-maxWarnings)
	}
}

const maxWarnings = 8

// inCapture makes the files of a command those of the capture as the user named
// it, so that the command can be pasted where scaleprof ran.
func inCapture(r *Report, command string) string {
	if r.Capture == "" {
		return command
	}
	fields := strings.Split(command, " ")
	for i, f := range fields {
		if strings.HasPrefix(f, "out/") || strings.HasPrefix(f, "runs/") {
			fields[i] = shellQuote(filepath.Join(r.Capture, f))
		}
	}
	return strings.Join(fields, " ")
}

func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+=:@%,", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
