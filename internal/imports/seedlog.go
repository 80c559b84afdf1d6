package imports

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/scaleprof/scaleprof/internal/record"
)

// seedLog is what the published scalability test printed.
type seedLog struct {
	cpus   int // "num cpu: N", or the T of the level called full; 0 unknown
	points []seedPoint
}

// seedPoint is one figure of the log.
type seedPoint struct {
	library string
	mode    record.Mode
	threads int
	wallNS  int64
}

// seedOpsPerCPU is how many operations the test does for each logical CPU,
// shared out over the workers of a level. The log does not print it: it is in
// the test's source.
const seedOpsPerCPU = 300

// Bounds of what a figure can be: more is a damaged line.
const (
	maxThreads = record.MaxThreads
	maxWallNS  = int64(1e15) // twelve days
)

// seedPatterns are the lines that matter. The test's two output streams are
// interleaved, so that everything between them is passed over.
type seedPatterns struct{ series, mode, figure, cpus, level *regexp.Regexp }

func newSeedPatterns() seedPatterns {
	return seedPatterns{
		series: regexp.MustCompile(`^=== RUN\s+TestScalability_(?:Process|Thread)/(\S+)$`),
		mode:   regexp.MustCompile(`^=== RUN\s+TestScalability_(?:Process|Thread)$`),
		figure: regexp.MustCompile(`^(\d+) (processes|threads) total cost: (\d+)us$`),
		cpus:   regexp.MustCompile(`^num cpu: (\d+)$`),
		level:  regexp.MustCompile(`^(\S+)-(?:thread|threads|process|processes)(-1)?$`),
	}
}

// isSeedLog reports whether text looks like the test's output.
func isSeedLog(text []byte) bool {
	return bytes.Contains(text, []byte("TestScalability_")) && bytes.Contains(text, []byte(" total cost: "))
}

// parseSeedLog reads the log. Every figure must be readable: a log with a
// damaged figure is refused with its line, not read in part.
func parseSeedLog(name string, text []byte) (*seedLog, error) {
	var (
		out     seedLog
		library string
		full    bool // the level announced last is T = all CPUs
		fullT   int
		line    int
		pattern = newSeedPatterns()
	)
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line++
		s := string(bytes.TrimSpace(lines.Bytes()))
		if m := pattern.series.FindStringSubmatch(s); m != nil {
			library, full = m[1], false
			continue
		}
		if pattern.mode.MatchString(s) {
			library = ""
			continue
		}
		if m := pattern.cpus.FindStringSubmatch(s); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > maxThreads {
				return nil, fault("%s is no number of CPUs", m[1])
			}
			out.cpus = n
			continue
		}
		if m := pattern.level.FindStringSubmatch(s); m != nil {
			full = m[1] == "full" && m[2] == ""
			continue
		}
		if !bytes.Contains(lines.Bytes(), []byte("total cost:")) {
			continue
		}
		m := pattern.figure.FindStringSubmatch(s)
		if m == nil {
			return nil, fault("%q is no figure of the form \"N threads total cost: Nus\"", s)
		}
		if library == "" {
			return nil, fault("a figure before the name of its series (=== RUN TestScalability_…/…)")
		}
		p, err := seedFigure(m)
		if err != nil {
			return nil, fault("%v", err)
		}
		p.library = library
		if full {
			fullT, full = p.threads, false
		}
		out.points = append(out.points, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	if len(out.points) == 0 {
		return nil, fmt.Errorf("%s: no figure in it", name)
	}
	if out.cpus == 0 {
		out.cpus = fullT
	}
	return &out, nil
}

func seedFigure(m []string) (seedPoint, error) {
	threads, err := strconv.Atoi(m[1])
	if err != nil || threads < 1 || threads > maxThreads {
		return seedPoint{}, fmt.Errorf("%s workers: not between 1 and %d", m[1], maxThreads)
	}
	us, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil || us < 1 || us > maxWallNS/1000 {
		return seedPoint{}, fmt.Errorf("%sus is no wall time", m[3])
	}
	p := seedPoint{mode: record.Thread, threads: threads, wallNS: us * 1000}
	if m[2] == "processes" {
		p.mode = record.Process
	}
	return p, nil
}
