package gobench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// binary is a built test binary.
type binary struct {
	pkg    string // import path
	dir    string // where it runs, as go test has it
	path   string // absolute
	sum    string // SHA-256 of its contents
	goVer  string
	module string // its module and version, "" for the standard library
	modVer string
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Module                    *struct{ Path, Version string }
	Error                     *struct{ Err string }
}

// toolchain is what go env says where the user stands.
type toolchain struct {
	GOROOT, GOVERSION, GOMODCACHE string
}

// goCommand runs the user's go command and returns what it prints.
func goCommand(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.WaitDelay = 2 * time.Second
	if len(env) > 0 {
		cmd.Env = append(os.Environ(), env...)
	}
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("benchmarks are built by the go command, and there is none in PATH")
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %s", args[0], firstLines(fault.String()+out.String(), err))
	}
	return out.Bytes(), nil
}

// firstLines is a tool's complaint as one line.
func firstLines(text string, err error) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	if len(lines) > 3 {
		lines = append(lines[:3], fmt.Sprintf("and %d lines more", len(lines)-3))
	}
	return strings.Join(lines, "; ")
}

// list finds the packages of a pattern that have tests.
func list(ctx context.Context, pattern string, flags []string) ([]listed, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Module,Error"}, listFlags(flags)...)
	out, err := goCommand(ctx, nil, append(args, "--", pattern)...)
	if err != nil {
		return nil, err
	}
	var all []listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s: %s", pattern, firstLines(p.Error.Err, errors.New("no such package")))
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no package with test files", pattern)
	}
	return all, nil
}

// listFlags are those build flags that go list needs to see the same files.
func listFlags(flags []string) (out []string) {
	for i := 0; i < len(flags); i++ {
		name := "-" + strings.TrimLeft(flags[i], "-")
		for _, known := range []string{"-tags", "-mod", "-modfile"} {
			if name == known && i+1 < len(flags) {
				out = append(out, name, flags[i+1])
				i++
				break
			}
			if strings.HasPrefix(name, known+"=") {
				out = append(out, name)
			}
		}
		if name == "-race" {
			out = append(out, name)
		}
	}
	return out
}

// checkFlags refuses build flags that would undo the driver's.
func checkFlags(flags []string) error {
	for _, f := range flags {
		name, _, _ := strings.Cut("-"+strings.TrimLeft(f, "-"), "=")
		if slices.Contains([]string{"-overlay", "-c", "-o", "-exec", "-json", "-n", "-x", "-C", "-args"}, name) {
			return fmt.Errorf("%s after --: scaleprof uses this flag itself; only build flags such as -tags can be passed on", f)
		}
		if strings.HasPrefix(name, "-test.") || slices.Contains([]string{"-bench", "-run", "-cpu", "-benchtime", "-count"}, name) {
			return fmt.Errorf("%s after --: this is not a build flag; scaleprof chooses what runs and for how long", f)
		}
	}
	return nil
}

// builder builds test binaries with the driver in them.
type builder struct {
	flags   []string
	tools   toolchain
	overlay string   // path of the overlay, "" where the toolchain was copied
	env     []string // for the go command
	temp    string
}

func newBuilder(ctx context.Context, flags []string) (*builder, error) {
	out, err := goCommand(ctx, nil, "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	b := &builder{flags: flags}
	if err := json.Unmarshal(out, &b.tools); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files, err := injection(b.tools.GOROOT, b.tools.GOVERSION)
	if err != nil {
		return nil, err
	}
	if b.temp, err = os.MkdirTemp("", "scaleprof-bench-"); err != nil {
		return nil, fmt.Errorf("making a directory to build in: %w", err)
	}
	if rel, err := filepath.Rel(b.tools.GOMODCACHE, b.tools.GOROOT); err == nil && filepath.IsLocal(rel) {
		// The go command refuses an overlay of what is in the module cache, and
		// toolchains that it fetched by itself are: they get a copy of links.
		root := filepath.Join(b.temp, "goroot")
		b.env = []string{"GOROOT=" + root, "GOTOOLCHAIN=local", "PATH=" + filepath.Join(b.tools.GOROOT, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")}
		err = linkToolchain(b.tools.GOROOT, root, files)
		if err != nil {
			b.close()
		}
		return b, err
	}
	if b.overlay, err = writeOverlay(b.temp, b.tools.GOROOT, files); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *builder) close() { _ = os.RemoveAll(b.temp) }

// linkToolchain makes root a toolchain of links to another, with files in it.
func linkToolchain(from, root string, files map[string][]byte) error {
	own := make(map[string]bool) // directories that hold a file of ours
	for rel := range files {
		for dir := filepath.Dir(filepath.Join("src", filepath.FromSlash(rel))); dir != "."; dir = filepath.Dir(dir) {
			own[dir] = true
		}
	}
	own["."] = true
	for dir := range own {
		target := filepath.Join(root, dir)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("copying the toolchain: %w", err)
		}
		entries, err := os.ReadDir(filepath.Join(from, dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("copying the toolchain: %w", err)
		}
		for _, e := range entries {
			rel := filepath.Join(dir, e.Name())
			below, err := filepath.Rel("src", rel)
			if own[rel] || err == nil && files[filepath.ToSlash(below)] != nil {
				continue
			}
			if err := os.Symlink(filepath.Join(from, rel), filepath.Join(root, rel)); err != nil {
				return fmt.Errorf("copying the toolchain: %w", err)
			}
		}
	}
	for rel, data := range files {
		if err := os.WriteFile(filepath.Join(root, "src", filepath.FromSlash(rel)), data, 0o644); err != nil {
			return fmt.Errorf("copying the toolchain: %w", err)
		}
	}
	return nil
}

// build makes the test binary of a package. It is kept in the user's cache, by
// its contents: the report looks at its instructions, perhaps much later.
func (b *builder) build(ctx context.Context, p listed) (*binary, error) {
	out := filepath.Join(b.temp, "package.test")
	_ = os.Remove(out)
	args := []string{"test", "-c", "-vet=off", "-o", out}
	if b.overlay != "" {
		args = append(args, "-overlay", b.overlay)
	}
	args = append(args, b.flags...)
	if _, err := goCommand(ctx, b.env, append(args, p.ImportPath)...); err != nil {
		return nil, fmt.Errorf("building the tests of %s: %w", p.ImportPath, err)
	}
	data, err := os.ReadFile(out)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no tests with these build flags", p.ImportPath)
	}
	if err != nil {
		return nil, fmt.Errorf("building the tests of %s: %w", p.ImportPath, err)
	}
	sum := sha256.Sum256(data)
	bin := &binary{pkg: p.ImportPath, dir: p.Dir, sum: hex.EncodeToString(sum[:16]), goVer: b.tools.GOVERSION}
	if p.Module != nil {
		bin.module, bin.modVer = p.Module.Path, p.Module.Version
	}
	if bin.path, err = keep(bin.sum, data); err != nil {
		return nil, err
	}
	return bin, nil
}

// unused is how long a kept binary is kept after its last use.
const unused = 14 * 24 * time.Hour

// keep puts a binary into the user's cache and clears out old ones.
func keep(sum string, data []byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "scaleprof", "bench")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keeping the test binary: %w", err)
	}
	path := filepath.Join(dir, sum+".test")
	temp, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return "", fmt.Errorf("keeping the test binary: %w", err)
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o700), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keeping the test binary: %w", err), os.Remove(temp.Name()))
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range old {
		if info, err := os.Lstat(name); err == nil && name != path && time.Since(info.ModTime()) > unused {
			_ = os.Remove(name)
		}
	}
	return path, nil
}
