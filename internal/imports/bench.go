package imports

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// benchFile is what one `go test -bench` output says.
type benchFile struct {
	goos, goarch, cpu string // "" unknown
	points            []benchPoint
	skipped           []string // lines that were passed over, and why
}

// benchPoint is one result line.
type benchPoint struct {
	pkg     string
	name    string // Benchmark…, without the suffix that gives T
	threads int    // GOMAXPROCS
	iters   int64
	nsPerOp float64
}

// benchLine is a result whose name may still carry a suffix.
type benchLine struct {
	pkg, full string
	iters     int64
	nsPerOp   float64
	line      int
}

// isBench reports whether text has a line that begins like a result.
func isBench(text []byte) bool {
	return bytes.HasPrefix(text, []byte("Benchmark")) || bytes.Contains(text, []byte("\nBenchmark"))
}

// parseBench reads `go test -bench` output, with any number of packages and counts.
func parseBench(name string, text []byte) (*benchFile, error) {
	var (
		out   benchFile
		lines []benchLine
	)
	reader := benchfmt.NewReader(bytes.NewReader(text), name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			// A result whose line the program's own output broke up is one
			// observation less; the others are still good.
			out.skipped = append(out.skipped, rec.Error())
		case *benchfmt.Result:
			_, at := rec.Pos()
			if err := out.machine(name, at, rec); err != nil {
				return nil, err
			}
			line, err := readBenchLine(rec)
			if err != nil {
				out.skipped = append(out.skipped, fmt.Sprintf("%s:%d: %v", name, at, err))
				continue
			}
			line.line = at
			lines = append(lines, line)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 {
		if len(out.skipped) > 0 {
			return nil, errors.New(out.skipped[0])
		}
		return nil, fmt.Errorf("%s: no benchmark result in it", name)
	}
	out.split(name, lines)
	if len(out.points) == 0 {
		return nil, errors.New(out.skipped[0])
	}
	return &out, nil
}

// machine takes over what a result says of its machine. Two machines in one
// file cannot be compared T by T.
func (b *benchFile) machine(name string, line int, rec *benchfmt.Result) error {
	for _, f := range []struct {
		key  string
		into *string
	}{{"goos", &b.goos}, {"goarch", &b.goarch}, {"cpu", &b.cpu}} {
		value := rec.GetConfig(f.key)
		switch {
		case value == "" || value == *f.into:
		case *f.into == "":
			*f.into = value
		default:
			return fmt.Errorf("%s:%d: %s is %q here and %q above: these results are from two machines", name, line, f.key, value, *f.into)
		}
	}
	return nil
}

func readBenchLine(rec *benchfmt.Result) (benchLine, error) {
	full := "Benchmark" + rec.Name.String()
	ns, ok := nsPerOp(rec)
	if !ok {
		return benchLine{}, fmt.Errorf("%s has no ns/op", full)
	}
	if !(ns > 0) || ns > float64(maxWallNS) {
		return benchLine{}, fmt.Errorf("%s: %v ns/op is no duration", full, ns)
	}
	if rec.Iters < 1 {
		return benchLine{}, fmt.Errorf("%s: %d iterations", full, rec.Iters)
	}
	return benchLine{pkg: rec.GetConfig("pkg"), full: full, iters: int64(rec.Iters), nsPerOp: ns}, nil
}

// nsPerOp is the time per operation as it was printed. The reader converts to
// seconds where that changes the number.
func nsPerOp(rec *benchfmt.Result) (float64, bool) {
	for _, v := range rec.Values {
		switch {
		case v.OrigUnit == "ns/op":
			return v.OrigValue, true
		case v.Unit == "ns/op":
			return v.Value, true
		case v.Unit == "sec/op":
			return v.Value * 1e9, true
		}
	}
	return 0, false
}

// cutSuffix splits a name at a last "-N" that can be a GOMAXPROCS.
func cutSuffix(full string) (base string, n int, ok bool) {
	at := strings.LastIndexByte(full, '-')
	if at < 0 {
		return full, 0, false
	}
	n, err := strconv.Atoi(full[at+1:])
	if err != nil || n < 2 || n > maxThreads || full[at+1] == '0' || full[at+1] == '+' {
		return full, 0, false
	}
	return full[:at], n, true
}

// split decides for each name whether its "-N" is the GOMAXPROCS. The testing
// package adds it for N above 1 only, so that the name of a sub-benchmark that
// ends in -8 looks the same as one that ran with 8. What tells them apart is
// that all benchmarks of a run go through the same list of -cpu values: a
// value is in that list when a name occurs both with and without it.
func (b *benchFile) split(name string, lines []benchLine) {
	type key struct{ pkg, full string }
	names := map[key]bool{}
	for _, l := range lines {
		names[key{l.pkg, l.full}] = true
	}
	one := false                  // 1 is in the list
	inList := map[int]bool{}      // values above 1 that are
	hasSuffixed := map[key]bool{} // names that occur with a further -N
	for k := range names {
		base, n, ok := cutSuffix(k.full)
		if !ok {
			one = true
			continue
		}
		if names[key{k.pkg, base}] {
			one, inList[n] = true, true
		}
		hasSuffixed[key{k.pkg, base}] = true
	}
	var ambiguous []string
	for _, l := range lines {
		base, n, ok := cutSuffix(l.full)
		point := benchPoint{pkg: l.pkg, name: l.full, threads: 1, iters: l.iters, nsPerOp: l.nsPerOp}
		switch {
		case !ok:
		case !one: // every name has a suffix: all of them are GOMAXPROCS
			point.name, point.threads = base, n
		case names[key{l.pkg, base}] && hasSuffixed[key{l.pkg, l.full}]:
			if !slices.Contains(ambiguous, l.full) {
				ambiguous = append(ambiguous, l.full)
				b.skipped = append(b.skipped, fmt.Sprintf("%s:%d: %s may be %s with GOMAXPROCS %d or a sub-benchmark of that name with 1", name, l.line, l.full, base, n))
			}
			continue
		case names[key{l.pkg, base}], inList[n] && !hasSuffixed[key{l.pkg, l.full}]:
			point.name, point.threads = base, n
		}
		b.points = append(b.points, point)
	}
}
