package host

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/automaxprocs/maxprocs"
)

// helperEnv makes the test binary report what it sees in the cgroup named there.
const helperEnv = "SCALEPROF_TEST_CGROUP"

type seen struct {
	Info  Info
	Go    int      // what this Go chose by itself
	Auto  int      // what automaxprocs set
	Quota *float64 // that automaxprocs saw
}

// TestQuotaHelper is no test: it is run in a cgroup by TestQuotaAgainstOthers.
func TestQuotaHelper(t *testing.T) {
	dir := os.Getenv(helperEnv)
	if dir == "" {
		t.Skip("run by TestQuotaAgainstOthers")
	}
	info, _ := Read("/")
	s := seen{Info: info, Go: runtime.GOMAXPROCS(0)}
	if _, err := maxprocs.Set(maxprocs.RoundQuotaFunc(func(q float64) int {
		s.Quota = &q
		return int(math.Floor(q)) // its own default, which it does not export; it applies its minimum of 1 itself
	})); err != nil {
		t.Fatal(err)
	}
	s.Auto = runtime.GOMAXPROCS(0)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("SEEN %s\n", text)
}

// What is read and computed agrees with what Go's runtime and automaxprocs find by themselves, in real groups.
func TestQuotaAgainstOthers(t *testing.T) {
	c, ok := findCgroup(tree{"/"}, "cpu")
	if !ok {
		t.Skip("no cpu controller")
	}
	base := c.dirs[0]
	for _, test := range []struct {
		name         string
		parent, leaf float64 // CPUs, 0 for none
	}{
		{"none", 0, 0},
		{"half", 0, 0.5},
		{"one", 0, 1},
		{"one and a half", 0, 1.5},
		{"many", 0, 7.25},
		{"parent binds", 0.75, 0},
		{"both", 1.25, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent := filepath.Join(base, fmt.Sprintf("scaleprof-test-%d", os.Getpid()))
			leaf := filepath.Join(parent, "leaf")
			if err := os.MkdirAll(leaf, 0o755); err != nil {
				t.Skipf("groups cannot be made here: %v", err)
			}
			defer os.Remove(parent)
			defer os.Remove(leaf)
			if c.version == 2 {
				for _, dir := range []string{base, parent} {
					if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu"), 0); err != nil {
						t.Skipf("the cpu controller cannot be passed on: %v", err)
					}
				}
			}
			setQuota(t, c.version, parent, test.parent)
			setQuota(t, c.version, leaf, test.leaf)

			got := runIn(t, leaf)
			least := math.Inf(1)
			for _, q := range []float64{test.parent, test.leaf} {
				if q > 0 {
					least = min(least, q)
				}
			}
			if q := got.Info.QuotaCPUs; (q == nil) != math.IsInf(least, 1) || q != nil && *q != least {
				t.Errorf("quota %v, want %v", deref(q), least)
			}
			if got.Info.GoProcs != got.Go {
				t.Errorf("Go chose %d, by rule %d", got.Go, got.Info.GoProcs)
			}
			if got.Info.AutoProcs != got.Auto {
				t.Errorf("automaxprocs set %d, by rule %d", got.Auto, got.Info.AutoProcs)
			}
			if q := got.Quota; (q == nil) != (got.Info.LeafQuotaCPUs == nil) || q != nil && *q != *got.Info.LeafQuotaCPUs {
				t.Errorf("automaxprocs saw %v, we read %v", deref(q), deref(got.Info.LeafQuotaCPUs))
			}
		})
	}
}

func deref(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}

func setQuota(t *testing.T, version int, dir string, cpus float64) {
	t.Helper()
	const period = 100_000
	name, text := "cpu.max", "max"
	if version == 1 {
		name, text = "cpu.cfs_quota_us", "-1"
	}
	if cpus > 0 {
		text = strconv.Itoa(int(cpus * period))
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
		t.Skipf("a quota cannot be set here: %v", err)
	}
}

// runIn starts the helper as a shell that enters the group first.
func runIn(t *testing.T, group string) seen {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `echo $$ > "$1/cgroup.procs" && exec "$2" -test.run '^TestQuotaHelper$'`, "sh", group, os.Args[0])
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GOMAXPROCS=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, helperEnv+"="+group)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "SEEN "); ok {
			var s seen
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("the helper said nothing:\n%s", out)
	return seen{}
}
