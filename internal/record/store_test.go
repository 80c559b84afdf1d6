package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// writerEnv makes the test binary write a capture until it is killed.
const writerEnv = "SCALEPROF_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		if err := writeForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func testManifest() *Manifest {
	return &Manifest{
		Schema: Schema, Created: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC),
		Plan: Plan{
			Targets: []Target{{Name: "json/sonic", Kind: "workload", Ops: 100}},
			Threads: []int{1, 2}, Modes: []Mode{Thread}, Arms: []string{Baseline}, Seed: 1<<63 + 5,
		},
		Cells: []Cell{
			{ID: "json-sonic-thread-t1", Target: "json/sonic", Mode: Thread, Threads: 1, Procs: 2, Arm: Baseline},
			{ID: "json-sonic-thread-t2", Target: "json/sonic", Mode: Thread, Threads: 2, Procs: 2, Arm: Baseline},
		},
		Runs: []Run{},
	}
}

// addRun makes a run with one file, as a session does, without saving it.
func addRun(s *Store, m *Manifest) error {
	id := len(m.Runs)
	rel, abs, err := s.NewRun(id, m.Cells[id%2].ID)
	if err != nil {
		return err
	}
	data := strings.Repeat("x", 1000+id)
	if err := os.WriteFile(filepath.Join(abs, "trace.out"), []byte(data), 0o644); err != nil {
		return err
	}
	m.Runs = append(m.Runs, Run{
		ID: id, Seq: id, Cell: m.Cells[id%2].ID, Kind: Profiled, Started: m.Created, WallNS: 5e8, Ops: 100, Checksum: 1<<64 - 1, Dir: rel,
		Processes: []recorder.Result{{BeginNS: 1e9, EndNS: 15e8, Ops: 100, Lanes: []recorder.Lane{{EndNS: 5e8, Ops: 100}}}},
		Files:     []File{{Kind: "trace", Path: rel + "/trace.out", Bytes: int64(len(data))}},
	})
	return nil
}

func writeForever(dir string) error {
	var s *Store
	var m *Manifest
	var err error
	if _, statErr := os.Stat(dir); statErr == nil {
		s, m, _, err = OpenStore(dir)
	} else {
		s, err = Create(dir)
		m = testManifest()
	}
	for err == nil {
		if len(m.Cells) == 0 {
			m = testManifest() // it was killed before its first save
		}
		if err = addRun(s, m); err == nil {
			err = s.Save(m)
		}
	}
	return err
}

// mustLoad loads a capture and checks that nothing in it is damaged.
func mustLoad(t *testing.T, dir string) *Manifest {
	t.Helper()
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, w := range c.Warnings {
		t.Errorf("after a kill: %s", w.Text)
	}
	return c.Manifest
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "x.scaleprof")
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, dir); len(got.Runs) != 0 || got.Complete {
		t.Errorf("a new capture has %d runs, complete %v", len(got.Runs), got.Complete)
	}
	m := testManifest()
	for range 3 {
		if err := addRun(s, m); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(m); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(m, mustLoad(t, dir)); d != "" {
		t.Errorf("loaded another manifest than saved (-saved +loaded):\n%s", d)
	}
	// Nobody else may write, anybody may read.
	if _, _, _, err := OpenStore(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: error %v, want ErrLocked", err)
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("creating over a capture: error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s, again, warnings, err := OpenStore(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	defer s.Close()
	if d := cmp.Diff(m, again); d != "" {
		t.Error(d)
	}
}

func TestCreateRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(full); err == nil || !strings.HasSuffix(err.Error(), "exists and is not a capture") {
		t.Errorf("error %v", err)
	}
	if _, err := Create(filepath.Join(full, "thesis.tex")); err == nil {
		t.Error("a file was replaced")
	}
	if _, err := Create(filepath.Join(full, "thesis.tex", "x")); err == nil {
		t.Error("created below a file")
	}
	if left, err := filepath.Glob(filepath.Join(full, "*")); err != nil || len(left) != 1 {
		t.Errorf("left over: %v, %v", left, err)
	}
	empty := t.TempDir()
	s, err := Create(empty)
	if err != nil {
		t.Fatalf("an empty directory: %v", err)
	}
	s.Close()
	if os.Getuid() != 0 {
		locked := t.TempDir()
		if err := os.Chmod(locked, 0o555); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(filepath.Join(locked, "x")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("an unwritable directory: error %v", err)
		}
	}
}

// The process ends at each step that changes the disk, in turn. What is there
// then loads, and holds all runs that were saved and no other.
func TestKilledAtEveryStep(t *testing.T) {
	const runs = 3
	for kill := 0; ; kill++ {
		dir := filepath.Join(t.TempDir(), "x.scaleprof")
		steps, saved, at := 0, -1, ""
		step := func(what string) error {
			if steps++; steps > kill {
				at = what
				return errKilled
			}
			return nil
		}
		s, err := createWith(dir, step)
		if err == nil {
			saved = 0
			m := testManifest()
			for len(m.Runs) < runs && err == nil {
				if err = addRun(s, m); err == nil {
					if err = s.Save(m); err == nil {
						saved++
					}
				}
			}
			s.Close()
		}
		if err == nil {
			if kill < 20 {
				t.Errorf("only %d steps: the test does not see them all", kill)
			}
			return
		}
		if saved < 0 {
			if _, err := os.Stat(dir); err == nil {
				mustLoad(t, dir) // it appeared in the very step
			}
			continue
		}
		got := mustLoad(t, dir)
		if n := len(got.Runs); n != saved && (n != saved+1 || !strings.HasPrefix(at, "renamed")) {
			t.Errorf("killed at %q: %d runs, saved %d", at, n, saved)
		}
		resumeAfterKill(t, dir, len(got.Runs), runs)
	}
}

// resumeAfterKill finishes a capture and checks that nothing is left of the kill.
func resumeAfterKill(t *testing.T, dir string, have, runs int) {
	t.Helper()
	s, m, warnings, err := OpenStore(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	defer s.Close()
	dirs, err := os.ReadDir(filepath.Join(dir, runsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if len(dirs) != have {
		t.Errorf("%d directories for %d runs after cleaning", len(dirs), have)
	}
	if temps, _ := filepath.Glob(filepath.Join(dir, ".*"+tempMark+"*")); len(temps) > 0 {
		t.Errorf("left over: %v", temps)
	}
	if len(m.Cells) == 0 {
		m = testManifest()
	}
	for len(m.Runs) < runs {
		if err := addRun(s, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(m); err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, dir); len(got.Runs) != runs {
		t.Errorf("%d runs after resuming", len(got.Runs))
	}
}

// A real process, really killed, again and again on the same capture.
func TestKilledAtRandomInstants(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "x.scaleprof")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	last := 0
	for i := range 12 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), writerEnv+"="+dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(120_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if stderr.Len() > 0 {
			t.Fatalf("round %d: the writer failed: %s", i, stderr.String())
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		m := mustLoad(t, dir)
		if len(m.Runs) < last {
			t.Errorf("round %d: %d runs, there were %d before", i, len(m.Runs), last)
		}
		last = len(m.Runs)
	}
}

// A disk that takes no more: one clear error, and all that was saved is kept.
func TestSaveFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x.scaleprof")
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := testManifest()
	if err := addRun(s, m); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(m); err != nil {
		t.Fatal(err)
	}
	if err := addRun(s, m); err != nil {
		t.Fatal(err)
	}
	noSpace := &fs.PathError{Op: "write", Path: "/somewhere", Err: errors.New("no space left on device")}
	for _, at := range []string{"create", "written", "rename"} {
		s.step = func(what string) error {
			if strings.HasPrefix(what, at+" ") {
				return noSpace
			}
			return nil
		}
		err := s.Save(m)
		if err == nil || !strings.Contains(err.Error(), "no space left on device; all that was complete before is kept") {
			t.Errorf("at %s: error %v", at, err)
		}
		if got := mustLoad(t, dir); len(got.Runs) != 1 {
			t.Errorf("at %s: %d runs, want the one saved", at, len(got.Runs))
		}
		if temps, _ := filepath.Glob(filepath.Join(dir, ".*"+tempMark+"*")); len(temps) > 0 {
			t.Errorf("at %s: left over: %v", at, temps)
		}
	}
	s.step = func(string) error { return nil }
	if err := s.Save(m); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if got := mustLoad(t, dir); len(got.Runs) != 2 {
		t.Errorf("%d runs", len(got.Runs))
	}
	// A file that a run names must be there before the manifest names it.
	m.Runs = append(m.Runs, Run{ID: 9, Files: []File{{Path: "runs/0009-x/none"}}})
	if err := s.Save(m); err == nil {
		t.Error("a run whose file is missing was saved")
	}
	if _, _, err := s.NewRun(3, "../x"); err == nil {
		t.Error("a cell's name led out of the directory")
	}
}

// Whoever can change the directory cannot make the writer leave it.
func TestStoreStaysInside(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(t.TempDir(), "x.scaleprof")
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	precious := filepath.Join(outside, "0001-c")
	if err := os.Mkdir(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, runsDir)); err != nil {
		t.Skip(err)
	}
	if _, abs, err := s.NewRun(1, "c"); err == nil {
		t.Errorf("made %s through a symbolic link", abs)
	}
	s.Close()
	if s2, _, _, err := OpenStore(dir); err == nil {
		s2.Close()
		t.Error("cleaned through a symbolic link")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
