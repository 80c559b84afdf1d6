package command

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/scaleprof/scaleprof/internal/capture"
	"github.com/scaleprof/scaleprof/internal/record"
)

// Options are what the user says of a program. Commands are given to the shell.
type Options struct {
	Exec   string // the program
	Load   string // what loads it, to its end; "" for a batch command
	Warmup string // run to its end before the load, outside the clock
	Pprof  string // URL of its net/http/pprof, "" for none
	Ready  string // URL, or HOST:PORT, that answers when it is ready; "" for Pprof
	// Rate and Requests are expressions with a group around a number: operations
	// per second, and how many there were, in the load's output, or in the
	// program's without a load.
	Rate, Requests string
	// Begin and End match the lines of the program between which it is timed.
	Begin, End  string
	AllowRemote bool // addresses that are not loopback
	// OwnProfiles says that the program writes profiles by itself, into the
	// directory that ProfilesEnv names where it is set.
	OwnProfiles bool
}

// Environment of the commands.
const (
	// ProfilesEnv names the directory for profiles that a program writes by
	// itself: cpu.pprof, mutex.pprof, block.pprof and trace.out.
	ProfilesEnv = "SCALEPROF_PROFILES"
	// ThreadsEnv is T, for the program and the load.
	ThreadsEnv = "SCALEPROF_THREADS"
)

// flags names the fields as the command line does.
func (o *Options) flags() map[string]string {
	yes := func(b bool) string {
		if b {
			return "true"
		}
		return ""
	}
	all := map[string]string{
		"exec": o.Exec, "load": o.Load, "warmup": o.Warmup, "pprof": o.Pprof, "ready": o.Ready,
		"rate": o.Rate, "requests": o.Requests, "begin": o.Begin, "end": o.End,
		"allow-remote": yes(o.AllowRemote), "own-profiles": yes(o.OwnProfiles),
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

// Same says in one line how a target of a capture differs from what the user
// names now, nil if it does not. A capture comes from anywhere: it may not
// choose what is executed.
func (o *Options) Same(t record.Target) error {
	now := o.flags()
	if len(now) == 0 {
		return fmt.Errorf("%s is a program of yours: give --exec and its other flags again, as a capture may not choose what is run", clip(t.Name))
	}
	names := slices.Collect(maps.Keys(t.Params))
	names = append(names, slices.Collect(maps.Keys(now))...)
	slices.Sort(names)
	for _, name := range names {
		if now[name] != t.Params[name] {
			return fmt.Errorf("%s: %q is not the %q of this capture", name, clip(now[name]), clip(t.Params[name]))
		}
	}
	return nil
}

// New checks the options and makes a target of them. Nothing is run yet, but
// names are resolved.
func New(ctx context.Context, o Options) (capture.Target, error) {
	e := &Executor{opts: o}
	if err := e.check(ctx); err != nil {
		return capture.Target{}, err
	}
	t := capture.Target{
		Record: record.Target{
			Name: "exec/" + programName(o.Exec), Kind: "exec", Params: o.flags(), Unit: "run", Notes: e.notes(),
		},
		Exec: e, FixedOps: true, ThreadsOnly: true, External: true, Recorders: []string{},
	}
	switch {
	case o.Requests != "" || o.Rate != "":
		t.Record.Unit = "request"
	default:
		t.Record.Ops = 1
	}
	if o.Pprof != "" {
		t.Recorders = []string{"cpu", "mutex", "block", "trace", "allocs"}
	} else if o.OwnProfiles {
		t.Recorders = []string{"cpu", "mutex", "block", "trace"}
	}
	e.identify(&t)
	return t, nil
}

func (e *Executor) check(ctx context.Context) (err error) {
	o := &e.opts
	server := o.Load != ""
	switch {
	case strings.TrimSpace(o.Exec) == "":
		return fmt.Errorf("exec: the command is empty")
	case strings.ContainsRune(o.Exec+o.Load+o.Warmup, 0):
		return fmt.Errorf("exec: a command cannot hold a zero byte")
	case !server && o.Ready != "":
		return fmt.Errorf("ready: only a server is waited for; --load says what loads it")
	case !server && o.Warmup != "":
		return fmt.Errorf("warmup: only a server is warmed up; --load says what loads it, and --begin starts a batch command's clock late")
	case server && (o.Begin != "" || o.End != ""):
		return fmt.Errorf("begin, end: the load command is the clock of a server; both are for batch commands")
	case server && o.Ready == "" && o.Pprof == "":
		return fmt.Errorf("load: nothing says when the server is ready; give --ready URL (or HOST:PORT), or --pprof URL")
	case o.Pprof != "" && o.OwnProfiles:
		return fmt.Errorf("own-profiles: --pprof fetches the profiles already")
	case !server && o.Begin == "" && compiles(o.Exec):
		return fmt.Errorf("exec: `go run` compiles inside the clock; go build it first, or start the clock with --begin")
	}
	for _, f := range []struct {
		flag, expr string
		to         **figure
	}{{"rate", o.Rate, &e.rate}, {"requests", o.Requests, &e.requests}} {
		if *f.to, err = newFigure(f.flag, f.expr); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		flag, expr string
		to         **regexp.Regexp
	}{{"begin", o.Begin, &e.begin}, {"end", o.End, &e.end}} {
		if f.expr == "" {
			continue
		}
		if *f.to, err = regexp.Compile(f.expr); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return e.addresses(ctx)
}

func (e *Executor) addresses(ctx context.Context) error {
	o := &e.opts
	if o.Pprof != "" {
		a, err := parseAddress(ctx, "pprof", o.Pprof, o.AllowRemote)
		if err != nil {
			return err
		}
		if strings.Contains(a.path, "?") {
			return fmt.Errorf("pprof: %q has a query; want the address of the index, as in http://127.0.0.1:6060/debug/pprof/", clip(o.Pprof))
		}
		if a.path == "" || a.path == "/" {
			a.path = "/debug/pprof/"
		}
		a.path = strings.TrimSuffix(a.path, "/") + "/"
		e.pprof, e.ready = &a, &a
	}
	if o.Ready != "" {
		a, err := parseAddress(ctx, "ready", o.Ready, o.AllowRemote)
		if err != nil {
			return err
		}
		if a.path == "" && strings.Contains(o.Ready, "://") {
			a.path = "/"
		}
		e.ready = &a
	}
	return nil
}

// notes are what a reader of the report must know.
func (e *Executor) notes() []string {
	o := &e.opts
	var clock string
	switch {
	case o.Load != "":
		clock = "while the load command runs"
	case e.begin != nil && e.end != nil:
		clock = fmt.Sprintf("from its line that matches %q to the one that matches %q", e.begin, e.end)
	case e.begin != nil:
		clock = fmt.Sprintf("from its line that matches %q to its end", e.begin)
	case e.end != nil:
		clock = fmt.Sprintf("from its start to its line that matches %q", e.end)
	default:
		clock = "from its start to its end, start-up included"
	}
	out := []string{"each run starts the program afresh with GOMAXPROCS = T; it is timed " + clock}
	switch {
	case o.Rate != "" && o.Requests != "":
		out = append(out, "the wall time is the number of requests over the rate, both as printed")
	case o.Rate != "":
		out = append(out, "the wall time is that of one fixed number of requests at the rate that is printed; whether as many were made at every T is not known")
	}
	if o.Pprof == "" && !o.OwnProfiles {
		out = append(out, "the program was not profiled, so where its time goes is not known; --pprof URL fetches profiles from a program that imports net/http/pprof")
	}
	return out
}

// identify looks for a Go binary behind the command: its version, and the file
// whose instructions the analysis may look at. Where a shell is in between, it
// stays unknown.
func (e *Executor) identify(t *capture.Target) {
	fields := strings.Fields(e.opts.Exec)
	if strings.ContainsAny(e.opts.Exec, "|&;<>()$`\\\"'*?[#~%\n") || strings.Contains(fields[0], "=") {
		return
	}
	file, err := exec.LookPath(fields[0])
	if err != nil {
		return // the shell will say so
	}
	if file, err = filepath.Abs(file); err != nil {
		return
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return // no Go program
	}
	t.Record.Binary, e.goVersion = file, info.GoVersion
	if info.GoVersion != runtime.Version() {
		t.Record.Notes = append(t.Record.Notes, "the program was built with "+clip(info.GoVersion))
	}
	if info.Main.Path != "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		t.Libraries = map[string]string{info.Main.Path: info.Main.Version}
	}
}

// compiles recognises `go run`.
func compiles(command string) bool {
	f := strings.Fields(command)
	return len(f) > 1 && filepath.Base(f[0]) == "go" && f[1] == "run"
}

// programName is the base name of the program in a command: its first word
// that sets no variable.
func programName(command string) string {
	for _, f := range strings.Fields(command) {
		if f == "exec" || f == "env" || strings.Contains(f, "=") && !strings.HasPrefix(f, "/") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-+", r):
				return r
			}
			return -1
		}, filepath.Base(f))
		if name != "" {
			return name[:min(len(name), 60)]
		}
	}
	return "command"
}

func clip(s string) string { return capture.Clip(s) }
