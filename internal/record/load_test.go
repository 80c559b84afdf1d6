package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// writeCapture makes a capture of two runs and lets change damage it.
func writeCapture(t *testing.T, change func(dir string, m *Manifest)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x.scaleprof")
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := testManifest()
	for range 2 {
		if err := addRun(s, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(m); err != nil {
		t.Fatal(err)
	}
	change(dir, m)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDamage(t *testing.T) {
	tests := []struct {
		name    string
		change  func(dir string, m *Manifest)
		warning string
		files   int    // left in run 0
		runs    int    // left
		fault   string // of run 0
	}{
		{"none", func(string, *Manifest) {}, "", 1, 2, ""},
		{"file gone", func(dir string, m *Manifest) { os.Remove(filepath.Join(dir, m.Runs[0].Files[0].Path)) }, "no such file or directory; left out", 0, 2, ""},
		{"file cut", func(dir string, m *Manifest) { os.Truncate(filepath.Join(dir, m.Runs[0].Files[0].Path), 10) }, "has 10 bytes where 1000 were written", 1, 2, ""},
		{"parent", func(_ string, m *Manifest) { m.Runs[0].Files[0].Path = "runs/../../secret" }, "no file inside the capture", 0, 2, ""},
		{"absolute", func(_ string, m *Manifest) { m.Runs[0].Files[0].Path = "/etc/passwd" }, "no file inside the capture", 0, 2, ""},
		{"backslash", func(_ string, m *Manifest) { m.Runs[0].Files[0].Path = `..\secret` }, "no file inside the capture", 0, 2, ""},
		{"link out", func(dir string, m *Manifest) {
			name := filepath.Join(dir, m.Runs[0].Files[0].Path)
			os.Remove(name)
			os.Symlink("/etc/hostname", name)
		}, "path escapes from parent; left out", 0, 2, ""},
		{"directory", func(dir string, m *Manifest) { m.Runs[0].Files[0].Path = "runs" }, "not a regular file", 0, 2, ""},
		{"pipe", func(dir string, m *Manifest) {
			name := filepath.Join(dir, m.Runs[0].Files[0].Path)
			os.Remove(name)
			syscall.Mkfifo(name, 0o644)
		}, "not a regular file", 0, 2, ""},
		{"no cell", func(_ string, m *Manifest) { m.Runs[0].Cell = "other" }, `its cell "other" is unknown`, 1, 1, ""},
		{"same run", func(_ string, m *Manifest) { m.Runs[1].ID = 0 }, "is there twice", 1, 1, ""},
		{"same cell", func(_ string, m *Manifest) { m.Cells[1].ID = m.Cells[0].ID }, "it is there twice; left out", 1, 1, ""},
		{"cell's name", func(_ string, m *Manifest) { m.Cells[1].ID = "../x" }, "no name for a file", 1, 1, ""},
		{"threads", func(_ string, m *Manifest) { m.Cells[1].Threads = -1 }, "-1 threads", 1, 1, ""},
		{"wall", func(_ string, m *Manifest) { m.Runs[0].WallNS = -5 }, "a wall time of -5 ns", 1, 2, "damaged: a wall time"},
		{"overflow", func(_ string, m *Manifest) { m.Runs[0].Ops = 1 << 62 }, "operations", 1, 2, "damaged: "},
		{"backwards", func(_ string, m *Manifest) { m.Runs[0].Processes[0].EndNS = 5 }, "a window of", 1, 2, "damaged: process 0"},
		{"lane", func(_ string, m *Manifest) { m.Runs[0].Processes[0].Lanes[0].EndNS = 1 << 60 }, "lane 0", 1, 2, "damaged: process 0"},
		{"lanes", func(_ string, m *Manifest) {
			m.Runs[0].Processes[0].Lanes = make([]recorder.Lane, 5)
		}, "5 lanes for 1 workers", 1, 2, "damaged: "},
		{"schedule", func(_ string, m *Manifest) { m.Schedule = []Planned{{Cell: "x"}} }, "a scheduled run", 1, 2, ""},
		{"kernel", func(_ string, m *Manifest) { m.Ceiling = []KernelRun{{Kernel: "alu", Threads: 1, WallNS: -1, Ops: 1}} }, "a run of kernel", 1, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(writeCapture(t, tt.change))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var texts []string
			for _, w := range c.Warnings {
				texts = append(texts, w.Text)
			}
			all := strings.Join(texts, "\n")
			if (tt.warning == "") != (all == "") || !strings.Contains(all, tt.warning) {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
			m := c.Manifest
			if len(m.Runs) != tt.runs {
				t.Fatalf("%d runs, want %d", len(m.Runs), tt.runs)
			}
			if len(m.Runs[0].Files) != tt.files {
				t.Errorf("files %v, want %d", m.Runs[0].Files, tt.files)
			}
			if !strings.HasPrefix(m.Runs[0].Error, tt.fault) || (tt.fault == "") != (m.Runs[0].Error == "") {
				t.Errorf("error %q, want %q", m.Runs[0].Error, tt.fault)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	manifest := func(data string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(link, ManifestName)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir, want string
		is              error
	}{
		{"nothing", t.TempDir(), "there is no manifest.json in it", ErrNotCapture},
		{"no directory", "/nonexistent", "no such file or directory", nil},
		{"other schema", manifest(`{"schema":"scaleprof.capture/9"}`), `unknown schema "scaleprof.capture/9": this scaleprof reads scaleprof.capture/1`, ErrSchema},
		{"no schema", manifest(`{}`), `unknown schema ""`, ErrSchema},
		{"hostile schema", manifest(`{"schema":"\u001b[2Jx` + strings.Repeat("y", 500) + `"}`), "unknown schema", ErrSchema},
		{"not JSON", manifest("garbage"), "reading manifest.json: invalid character", nil},
		{"cut", manifest(`{"schema":"scaleprof.capture/1","runs":[{"id":1`), "reading manifest.json", nil},
		{"wrong type", manifest(`{"schema":"scaleprof.capture/1","runs":{}}`), "reading manifest.json", nil},
		{"link out", link, "path escapes from parent", nil},
		{"deep", manifest(strings.Repeat("[", 100_000)), "exceeded max depth", nil},
		{"bomb", manifest(`{"schema":"scaleprof.capture/1","runs":[` + strings.Repeat("{},", maxObjects) + `{}]}`), "objects that are read", nil},
		{"null bomb", manifest(`{"schema":"scaleprof.capture/1","runs":[` + strings.Repeat("null,", maxObjects) + `null]}`), "objects that are read", nil},
	}
	for _, tt := range tests {
		c, err := Load(tt.dir)
		if err == nil {
			c.Close()
			t.Errorf("%s: loaded", tt.name)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 400 {
			t.Errorf("%s: error %q, want one line with %q", tt.name, err, tt.want)
		}
		if tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: error %v is not %v", tt.name, err, tt.is)
		}
	}
}

func TestManifestTooLarge(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ManifestName)
	if err := os.WriteFile(name, []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, maxManifest+1); err != nil { // sparse
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "MB that are read") {
		t.Errorf("error %v", err)
	}
}

// Text from a manifest cannot steer the terminal.
func TestHostileText(t *testing.T) {
	dir := writeCapture(t, func(_ string, m *Manifest) {
		m.Runs[0].Error = "a\x1b[31mred\u202eabc\r"
		m.Host.CPU = "\x07bell"
		m.Command = []string{"x", "\u0085y"}
		m.Toolchain.Libraries = map[string]string{"lib\x1b": "v1\x00"}
		m.Runs[1].Processes[0].Warnings = []string{strings.Repeat("long ", 1<<15)}
		m.Plan.Targets[0].Params = map[string]string{"json": "\x1b]0;title\x07"}
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	data, err := json.Marshal(c.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`\u001b`, `\u0007`, "\u0085", `\u0000`, "\u202e", `\r`} {
		if bytes.Contains(data, []byte(bad)) {
			t.Errorf("%q is left", bad)
		}
	}
	if c.Manifest.Runs[0].Error != "a\uFFFD[31mred\uFFFDabc\uFFFD" {
		t.Errorf("error %q", c.Manifest.Runs[0].Error)
	}
	if n := len(c.Manifest.Runs[1].Processes[0].Warnings[0]); n > maxText+3 {
		t.Errorf("a text of %d bytes", n)
	}
}

func TestFindNewest(t *testing.T) {
	dir := t.TempDir()
	if _, err := FindNewest(dir); err == nil || !strings.Contains(err.Error(), "no capture in") {
		t.Errorf("error %v", err)
	}
	for i, name := range []string{"old.scaleprof", "sub/new", ".hidden", "sub/deep/deeper", "other"} {
		s, err := Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if name == "other" {
			if err := os.WriteFile(filepath.Join(dir, name, ManifestName), []byte(`{"schema":"chrome.extension"}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		when := time.Now().Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, name, ManifestName), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{".": "sub/new", "old.scaleprof": "old.scaleprof", "sub": "sub/deep/deeper"} {
		got, err := FindNewest(filepath.Join(dir, from))
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("from %s: %q, %v; want %q", from, got, err, want)
		}
	}
}

func TestCellID(t *testing.T) {
	long := "bench/example.com/" + strings.Repeat("very", 50)
	for _, tt := range []struct {
		target string
		mode   Mode
		arm    string
		want   string
	}{
		{"json/sonic", Thread, "", "json-sonic-thread-t8"},
		{"json/sonic", Process, Baseline, "json-sonic-process-t8"},
		{"json/sonic", Thread, "gogc=400", "json-sonic-thread-t8-gogc400"},
		{"json/sonic", Thread, "procs=threads", "json-sonic-thread-t8-procs-threads"},
		{"json/sonic", Thread, "gogc=400+pin", "json-sonic-thread-t8-gogc400-pin"},
		{"lab/mutex-long-holder", Thread, "gc-off", "lab-mutex-long-holder-thread-t8-gc-off"},
	} {
		if got := CellID(tt.target, tt.mode, 8, tt.arm); got != tt.want {
			t.Errorf("CellID(%q, %s, %q) = %q, want %q", tt.target, tt.mode, tt.arm, got, tt.want)
		}
	}
	if a, b := CellID(long+"a", Thread, 8, ""), CellID(long+"b", Thread, 8, ""); a == b || len(a) > maxName {
		t.Errorf("%q and %q", a, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		target, arm := rapid.String().Draw(t, "target"), rapid.String().Draw(t, "arm")
		id := CellID(target, Thread, rapid.IntRange(1, 1<<16).Draw(t, "threads"), arm)
		if !safeName(id) || !localPath("runs/0001-"+id) {
			t.Errorf("CellID(%q, %q) = %q, no safe name", target, arm, id)
		}
	})
}

func FuzzParse(f *testing.F) {
	m := testManifest()
	m.Runs = append(m.Runs, Run{ID: 1, Cell: m.Cells[0].ID, WallNS: 1e9, Processes: []recorder.Result{{
		EndNS: 1e9, Lanes: []recorder.Lane{{EndNS: 5}}, Metrics: map[string]float64{"/a:b": 1e300}, Hists: map[string]recorder.Hist{"/h": {Count: 1, Buckets: [][2]float64{{1, 2}}}},
	}}, Files: []File{{Kind: "cpu", Path: "runs/0001-x/cpu.pb.gz"}}})
	data, err := marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"scaleprof.capture/1","cells":[{"id":"a","target":"\u001b","mode":"thread","threads":1}],"runs":[{"cell":"a","files":[{"path":"../x"}]}],"schedule":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _, err := parse(data)
		if err != nil {
			return
		}
		cells := map[string]bool{}
		for _, c := range m.Cells {
			if cells[c.ID] || !safeName(c.ID) || c.Threads < 1 {
				t.Fatalf("bad cell %+v", c)
			}
			cells[c.ID] = true
		}
		for _, r := range m.Runs {
			if !cells[r.Cell] || r.WallNS < 0 || r.WallNS == 0 && r.Error == "" && !r.Kind.hasProfiles() || r.Ops < 0 {
				t.Fatalf("bad run %+v", r)
			}
			for _, file := range r.Files {
				if !localPath(file.Path) {
					t.Fatalf("bad path %q", file.Path)
				}
			}
		}
		// What was accepted can be written and read again, with nothing to complain about.
		again, err := marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, warnings, err := parse(again); err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
	})
}

func ExampleCellID() {
	fmt.Println(CellID("json/sonic", Thread, 8, "gogc=400"))
	// Output: json-sonic-thread-t8-gogc400
}
