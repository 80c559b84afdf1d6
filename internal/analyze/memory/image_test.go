package memory

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// build compiles testdata/prog with extra flags and environment, once for each.
func build(t testing.TB, env string, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	key := env + " " + strings.Join(flags, " ")
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[key]; ok {
		return path
	}
	if built.dir == "" {
		t.Fatal("no directory to build in")
	}
	path := filepath.Join(built.dir, fmt.Sprintf("prog%d", len(built.paths)))
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), "./testdata/prog")...)
	cmd.Env = append(os.Environ(), strings.Fields(env)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	built.paths[key] = path
	return path
}

var built = struct {
	sync.Mutex
	dir   string
	paths map[string]string
}{paths: map[string]string{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// lineOf finds the line of the test program that a mark names.
func lineOf(t *testing.T, mark string) string {
	t.Helper()
	f, err := os.Open("testdata/prog/main.go")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		if strings.HasSuffix(s.Text(), "// LINE "+mark) {
			return fmt.Sprintf("main.go:%d", n)
		}
	}
	t.Fatalf("no line marked %s", mark)
	return ""
}

// all builds the test program for every target: go test ./internal/analyze/memory -args -all
var all = flag.Bool("all", false, "build for all targets, which takes a minute where none was built before")

func TestJudge(t *testing.T) {
	for _, target := range []struct {
		name, env string
		flags     []string
		arm       bool
		stripped  bool
		rare      bool // builds much of the standard library anew
	}{
		{name: "amd64", env: linuxAMD64},
		{name: "amd64 pie", env: linuxAMD64, flags: []string{"-buildmode=pie"}, rare: true},
		{name: "amd64 stripped", env: linuxAMD64, flags: []string{"-ldflags=-s -w"}, stripped: true},
		{name: "amd64 v3 stripped", env: linuxAMD64 + " GOAMD64=v3", flags: []string{"-ldflags=-s -w"}, stripped: true, rare: true},
		{name: "arm64", env: "GOOS=linux GOARCH=arm64 CGO_ENABLED=0", arm: true},
		{name: "darwin arm64", env: "GOOS=darwin GOARCH=arm64 CGO_ENABLED=0", arm: true},
		{name: "darwin amd64", env: "GOOS=darwin GOARCH=amd64 CGO_ENABLED=0", rare: true},
	} {
		t.Run(target.name, func(t *testing.T) {
			if target.rare && !*all {
				t.Skip("with -args -all only")
			}
			m, err := openImage(build(t, target.env, target.flags...))
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			for _, tt := range []struct {
				fn     string
				kind   Kind // that some instruction of the function has
				mark   string
				insn   string // part of the instruction's name on amd64
				absent []Kind // that no instruction may have
			}{
				{fn: "main.atomicAdd", kind: Atomic, mark: "atomicAdd", insn: "LOCK XADDQ", absent: []Kind{Spin, Shared, Stream}},
				{fn: "main.atomicCAS", kind: Atomic, mark: "atomicCAS", insn: "LOCK CMPXCHGQ", absent: []Kind{Spin, Stream}},
				{fn: "main.falseSharing", kind: Shared, mark: "falseSharing", absent: []Kind{Spin, Atomic, Stream}},
				{fn: "main.notShared", kind: Shared, absent: []Kind{Spin, Atomic, Stream}},
				{fn: "main.bumpOnce", kind: Access, mark: "bumpOnce", absent: []Kind{Spin, Atomic, Stream, Shared}},
				{fn: "main.spinLock", kind: Spin, mark: "spinLock", insn: "LOCK CMPXCHGL", absent: []Kind{Stream}},
				{fn: "main.spinYield", kind: Spin, mark: "spinYield", insn: "LOCK CMPXCHGL", absent: []Kind{Stream}},
				{fn: "main.spinLoad", kind: Spin, mark: "spinLoad", absent: []Kind{Stream, Atomic}},
				{fn: "main.stream", kind: Stream, mark: "stream", absent: []Kind{Spin, Atomic, Shared}},
				{fn: "main.chase", kind: Stream, mark: "chase", absent: []Kind{Spin, Atomic, Shared}},
				{fn: "main.arithmetic", kind: Other, absent: []Kind{Spin, Atomic, Shared, Stream, Access}},
				{fn: "main.generic[...]", kind: Atomic, mark: "generic", insn: "LOCK XADDL", absent: []Kind{Spin, Shared, Stream}},
			} {
				f, ok := find(m, tt.fn)
				if !ok {
					t.Errorf("%s is not in the binary", tt.fn)
					continue
				}
				c := m.code(f)
				if !c.whole {
					t.Errorf("%s: not decoded to its end", tt.fn)
				}
				seen := map[Kind]bool{}
				right := tt.mark == ""
				var got []string
				for at := range c.insns {
					kind, access := c.judge(at, m.nameAt)
					seen[kind] = true
					if kind == Other {
						continue
					}
					source := m.source(c.insns[access].pc)
					got = append(got, fmt.Sprintf("%s: %s %s at %s", c.insns[at].text, kind, c.insns[access].text, source))
					if kind == tt.kind && !right && (source == "" && target.stripped || source == lineOf(t, tt.mark) || kind == Stream && near(source, lineOf(t, tt.mark))) && (target.arm || strings.Contains(c.insns[access].text, tt.insn)) {
						right = true
					}
				}
				if !seen[tt.kind] || !right {
					t.Errorf("%s: no instruction is %s with %q at %s; got\n\t%s", tt.fn, tt.kind, tt.insn, tt.mark, strings.Join(got, "\n\t"))
				}
				for _, k := range tt.absent {
					// Arm's loops hold both forms of an atomic operation and a test
					// that chooses; what else is in them differs by compiler.
					if seen[k] && !target.arm {
						t.Errorf("%s: some instruction is %s; got\n\t%s", tt.fn, k, strings.Join(got, "\n\t"))
					}
				}
			}
		})
	}
}

// near says that a line is the wanted one or right above it, where a loop's
// head is: compilers differ in which of the two holds the access.
func near(got, want string) bool {
	var g, w int
	if _, err := fmt.Sscanf(got, "main.go:%d", &g); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(want, "main.go:%d", &w); err != nil {
		return false
	}
	return g == w || g == w-1
}

func find(m *image, name string) (function, bool) {
	for i := range m.table.Funcs {
		f := &m.table.Funcs[i]
		if f.Name == name || strings.HasSuffix(name, "[...]") && sameFunction(f.Name, name) {
			return function{f.Name, f.Entry, f.End}, true
		}
	}
	return function{}, false
}
