package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
	"pgregory.net/rapid"
)

// stack is a call path for the tests: root first, then base and peak.
type stack struct {
	path       string // "main;work"
	cause      string
	base, peak int64
}

// lossProfile has the sample types of a loss profile.
func lossProfile(stacks ...stack) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{
			{Type: "excess", Unit: "nanoseconds"},
			{Type: "base", Unit: "nanoseconds"},
			{Type: "peak", Unit: "nanoseconds"},
			{Type: "cores_lost", Unit: "milli"},
		},
		DefaultSampleType: "excess",
	}
	locs := map[string]*profile.Location{}
	for _, st := range stacks {
		s := &profile.Sample{Value: []int64{st.peak - st.base, st.base, st.peak, (st.peak - st.base) / 1000}}
		if st.cause != "" {
			s.Label = map[string][]string{"cause": {st.cause}}
		}
		names := strings.Split(st.path, ";")
		for i := len(names) - 1; i >= 0 && st.path != ""; i-- {
			loc := locs[names[i]]
			if loc == nil {
				fn := &profile.Function{ID: uint64(len(locs) + 1), Name: names[i], Filename: names[i] + ".go"}
				loc = &profile.Location{ID: fn.ID, Line: []profile.Line{{Function: fn}}}
				locs[names[i]] = loc
				p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
			}
			s.Location = append(s.Location, loc)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func testLoss() *profile.Profile {
	return lossProfile(
		stack{"main;work", "work/user", 1000, 1500},
		stack{"main;work;gcWriteBarrier", "gc/write-barrier", 100, 2100},
		stack{"main;work", "gc/assist", 50, 80},
		stack{"main;old", "work/user", 700, 300},
		stack{"main;same", "work/user", 9, 9},
		stack{"", "balance/tail", 0, 40},
	)
}

func TestFolded(t *testing.T) {
	p := testLoss()
	for _, tt := range []struct {
		name   string
		opt    Options
		shrunk bool
		want   string
		left   Left
	}{
		{
			"grew",
			Options{},
			false,
			"main;work;gcWriteBarrier 2000\nmain;work 530\n(no stack) 40\n",
			Left{1, -400, "nanoseconds"},
		},
		{
			"by cause",
			Options{Roots: []string{"cause"}},
			false,
			"cause=gc/write-barrier;main;work;gcWriteBarrier 2000\ncause=work/user;main;work 500\n" +
				"cause=balance/tail;(no stack) 40\ncause=gc/assist;main;work 30\n",
			Left{1, -400, "nanoseconds"},
		},
		{"shrunk", Options{}, true, "main;old 400\n", Left{3, 2570, "nanoseconds"}},
		{
			"another type",
			Options{Sample: "base"},
			false,
			"main;work 1050\nmain;old 700\nmain;work;gcWriteBarrier 100\nmain;same 9\n",
			Left{Unit: "nanoseconds"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			left, err := Folded(&b, p, tt.opt, tt.shrunk)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Error(diff)
			}
			if left != tt.left {
				t.Errorf("left out %+v, want %+v", left, tt.left)
			}
		})
	}
}

func TestDiffFolded(t *testing.T) {
	var b bytes.Buffer
	if err := DiffFolded(&b, testLoss(), nil); err != nil {
		t.Fatal(err)
	}
	want := "main;work;gcWriteBarrier 100 2100\nmain;work 1050 1580\nmain;old 700 300\n(no stack) 0 40\nmain;same 9 9\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	p := testLoss()
	if _, err := Folded(&bytes.Buffer{}, p, Options{Sample: "cpu"}, false); err == nil || !strings.Contains(err.Error(), "excess, base, peak, cores_lost") {
		t.Errorf("unknown sample type: %v", err)
	}
	p.SampleType = p.SampleType[:1]
	if err := DiffFolded(&bytes.Buffer{}, p, nil); err == nil || !strings.Contains(err.Error(), "two sides") {
		t.Errorf("a profile without sides: %v", err)
	}
	if err := Speedscope(&bytes.Buffer{}, &profile.Profile{}, "x", Options{}); err == nil {
		t.Error("a profile without sample types is taken")
	}
}

// Names that hold the separators must not make lines or frames of their own.
func TestSeparatorsInNames(t *testing.T) {
	p := lossProfile(stack{"a b", "", 0, 5})
	p.Function[0].Name = "odd;name\nwith\x1b\u202e 7"
	var b bytes.Buffer
	if _, err := Folded(&b, p, Options{}, false); err != nil || b.String() != "odd:name with\ufffd\ufffd 7 5\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	if err := Speedscope(&b, testLoss(), "loss.pb.gz", Options{Roots: []string{"cause"}}); err != nil {
		t.Fatal(err)
	}
	var file speedscopeFile
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	checkSpeedscope(t, &file)
	var names []string
	for _, p := range file.Profiles {
		names = append(names, fmt.Sprintf("%s %s %d", p.Name, p.Unit, p.EndValue))
	}
	want := []string{
		"excess: what grew nanoseconds 2570",
		"excess: what shrank, by how much nanoseconds 400",
		"base nanoseconds 1859",
		"peak nanoseconds 4029",
		"cores_lost none 2",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	var path []string
	for _, at := range file.Profiles[0].Samples[0] {
		path = append(path, file.Shared.Frames[at].Name)
	}
	if got := strings.Join(path, " < "); got != "cause=gc/write-barrier < main < work < gcWriteBarrier" {
		t.Errorf("the largest path is %s", got)
	}
}

// checkSpeedscope holds a file against what speedscope's importer relies on.
func checkSpeedscope(t interface{ Fatalf(string, ...any) }, file *speedscopeFile) {
	if file.Schema != "https://www.speedscope.app/file-format-schema.json" || file.Active >= len(file.Profiles) {
		t.Fatalf("schema %q, profile %d of %d", file.Schema, file.Active, len(file.Profiles))
	}
	for _, p := range file.Profiles {
		sum := p.StartValue
		if p.Type != "sampled" || len(p.Samples) != len(p.Weights) || p.Samples == nil || p.Weights == nil {
			t.Fatalf("%s: type %s, %d samples, %d weights", p.Name, p.Type, len(p.Samples), len(p.Weights))
		}
		for i, path := range p.Samples {
			sum += p.Weights[i]
			if p.Weights[i] <= 0 || len(path) == 0 {
				t.Fatalf("%s: weight %d of a path of %d frames", p.Name, p.Weights[i], len(path))
			}
			for _, at := range path {
				if at < 0 || at >= len(file.Shared.Frames) {
					t.Fatalf("%s: frame %d of %d", p.Name, at, len(file.Shared.Frames))
				}
			}
		}
		if sum != p.EndValue {
			t.Fatalf("%s: weights add up to %d, the end is %d", p.Name, sum, p.EndValue)
		}
	}
}

// What grew less what shrank is the profile's total, in every format.
func TestTotalsAreKept(t *testing.T) {
	value := rapid.Int64Range(0, math.MaxInt32)
	one := rapid.Custom(func(t *rapid.T) stack {
		return stack{
			path:  strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 4).Draw(t, "path"), ";"),
			cause: rapid.SampledFrom([]string{"", "gc/mark", "work/user"}).Draw(t, "cause"),
			base:  value.Draw(t, "base"), peak: value.Draw(t, "peak"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		stacks := rapid.SliceOf(one).Draw(t, "stacks")
		p := lossProfile(stacks...)
		var excess int64
		for _, s := range stacks {
			excess += s.peak - s.base
		}
		opt := Options{Roots: rapid.SampledFrom([][]string{nil, {"cause"}, {"nothing"}}).Draw(t, "roots")}
		var grew, shrank, diff, speed bytes.Buffer
		left, err := Folded(&grew, p, opt, false)
		if err != nil {
			t.Fatal(err)
		}
		other, err := Folded(&shrank, p, opt, true)
		if err != nil {
			t.Fatal(err)
		}
		up, down := lastColumn(t, grew.String()), lastColumn(t, shrank.String())
		if up-down != excess || left.Sum != -down || other.Sum != up {
			t.Fatalf("grew %d, shrank %d, excess %d, left out %v and %v", up, down, excess, left, other)
		}
		if err := DiffFolded(&diff, p, opt.Roots); err != nil {
			t.Fatal(err)
		}
		if err := Speedscope(&speed, p, "x", opt); err != nil {
			t.Fatal(err)
		}
		var file speedscopeFile
		if err := json.Unmarshal(speed.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		checkSpeedscope(t, &file)
	})
}

func lastColumn(t *rapid.T, text string) (sum int64) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		n, err := strconv.ParseInt(line[strings.LastIndexByte(line, ' ')+1:], 10, 64)
		if err != nil || n <= 0 {
			t.Fatalf("line %q", line)
		}
		sum += n
	}
	return sum
}
