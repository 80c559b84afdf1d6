package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scaleprof/scaleprof/internal/record"
)

var seedPath = filepath.Join("..", "..", "testdata", "seed-testscalability.log")

func seedText(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(seedPath)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The published figures, in microseconds.
func TestSeedLogKnownAnswers(t *testing.T) {
	log, err := parseSeedLog("seed.log", seedText(t))
	if err != nil {
		t.Fatal(err)
	}
	if log.cpus != 16 {
		t.Errorf("%d CPUs, want 16", log.cpus)
	}
	levels := []int{1, 4, 8, 12, 16, 15}
	want := map[string][]int64{
		"sonic/process": {169785, 73421, 72286, 85187, 100788, 99805},
		"std/process":   {315315, 105815, 90710, 107567, 115681, 117348},
		"sonic/thread":  {150786, 51560, 37515, 36387, 39338, 40201},
		"std/thread":    {287707, 96182, 88373, 96573, 115144, 110567},
	}
	got := map[string][]int64{}
	for _, p := range log.points {
		series := p.library + "/" + string(p.mode)
		if at := len(got[series]); at < len(levels) && p.threads != levels[at] {
			t.Errorf("%s: T=%d, want %d", series, p.threads, levels[at])
		}
		got[series] = append(got[series], p.wallNS/1000)
	}
	if len(got) != len(want) {
		t.Errorf("%d series, want %d", len(got), len(want))
	}
	for series, figures := range want {
		if len(got[series]) != len(figures) {
			t.Errorf("%s: %v, want %v", series, got[series], figures)
			continue
		}
		for i := range figures {
			if got[series][i] != figures[i] {
				t.Errorf("%s at T=%d: %dus, want %dus", series, levels[i], got[series][i], figures[i])
			}
		}
	}
}

func TestSeedManifest(t *testing.T) {
	im := read(t, Options{Sources: []Source{{Path: seedPath}}})
	m := im.Manifest
	if len(m.Cells) != 24 || len(m.Runs) != 24 || len(m.Plan.Targets) != 2 || len(m.Plan.Modes) != 2 {
		t.Fatalf("%d cells, %d runs, %d targets, %d modes", len(m.Cells), len(m.Runs), len(m.Plan.Targets), len(m.Plan.Modes))
	}
	if m.Host.CPUs != 16 || m.Host.PhysicalCores != 0 || m.Host.OS != "" || m.Host.CPU != "" {
		t.Errorf("the host is more or less than the log says: %+v", m.Host)
	}
	if m.Plan.Clock != "wall-with-startup" || m.Plan.ProcsRule != "cpus" || m.Plan.Blocks != 1 || !m.Complete {
		t.Errorf("plan %+v", m.Plan)
	}
	for _, target := range m.Plan.Targets {
		if target.Ops != 4800 || target.Kind != "import" {
			t.Errorf("target %+v, want 4,800 operations", target)
		}
	}
	wall := map[string]int64{}
	for _, r := range m.Runs {
		if r.Kind != record.Timed || r.Block != 0 || r.Ops != 4800 {
			t.Errorf("run %+v", r)
		}
		wall[r.Cell] = r.WallNS
	}
	ratio := float64(wall["import-sonic-thread-t1"]) / float64(wall["import-sonic-thread-t8"])
	if want := 150786.0 / 37515; ratio != want {
		t.Errorf("speed-up of sonic, threads, 1 to 8: %v, want %v", ratio, want)
	}
	for _, c := range m.Cells {
		if c.Procs != 16 {
			t.Errorf("%s: GOMAXPROCS %d, want 16 at every level", c.ID, c.Procs)
		}
	}

	with := read(t, Options{Sources: []Source{{Path: seedPath}}, PhysicalCores: 8}).Manifest.Host
	if with.PhysicalCores != 8 || with.SMT != 2 {
		t.Errorf("with the physical cores given: %+v", with)
	}
}

func TestSeedLogFaults(t *testing.T) {
	const head = "=== RUN   TestScalability_Thread\n=== RUN   TestScalability_Thread/sonic\n"
	for _, tt := range []struct{ name, text, want string }{
		{"not a number", head + "8 threads total cost: fast\n", "x.log:3:"},
		{"zero", head + "1 threads total cost: 0us\n", "x.log:3: 0us is no wall time"},
		{"too long", head + "1 threads total cost: 99999999999999999999us\n", "x.log:3:"},
		{"no threads", head + "0 threads total cost: 5us\n", "x.log:3: 0 workers"},
		{"no series", "=== RUN   TestScalability_Thread\n8 threads total cost: 5us\n", "x.log:2: a figure before"},
		{"no CPUs", head + "num cpu: 0\n8 threads total cost: 5us\n", "x.log:3: 0 is no number of CPUs"},
		{"no figure", head, "x.log: no figure"},
		{"long line", head + strings.Repeat("x", 1<<17), "x.log:3: bufio.Scanner: token too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseSeedLog("x.log", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}

// Without "num cpu", the level called full says it; a log of several counts has several runs.
func TestSeedLogOtherForms(t *testing.T) {
	text := "=== RUN   TestScalability_Process/std\nhalf-processes\n4 processes total cost: 10us\n" +
		"full-processes-1\n7 processes total cost: 11us\nfull-processes\nsome output\n8 processes total cost: 12us\r\n8 processes total cost: 13us\n"
	path := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	m := read(t, Options{Sources: []Source{{Path: path}}}).Manifest
	if m.Host.CPUs != 8 || m.Plan.Targets[0].Ops != 2400 || len(m.Cells) != 3 || len(m.Runs) != 4 || m.Plan.Blocks != 2 {
		t.Errorf("%d CPUs, targets %v, %d cells, %d runs, %d blocks", m.Host.CPUs, m.Plan.Targets, len(m.Cells), len(m.Runs), m.Plan.Blocks)
	}
}

func FuzzSeedLog(f *testing.F) {
	f.Add(seedText(f))
	f.Add([]byte("=== RUN   TestScalability_Thread/sonic\nfull-threads\n16 threads total cost: 39338us\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := parseSeedLog("f", text)
		if err != nil {
			return
		}
		for _, p := range log.points {
			if p.threads < 1 || p.threads > maxThreads || p.wallNS < 1 || p.wallNS > maxWallNS || p.library == "" {
				t.Errorf("figure %+v", p)
			}
		}
	})
}
