package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Bounds on what is read. A manifest of 64 processes in each of 300 runs has
// about 30 MB and 300,000 objects.
const (
	maxManifest = 96 << 20
	maxObjects  = 2 << 20
	// MaxThreads bounds T, and with it the processes of a run.
	MaxThreads = 1 << 16
)

// ErrSchema is the error of a capture that another version of scaleprof wrote.
var ErrSchema = errors.New("unknown schema")

// ErrNotCapture is the error of a directory without a manifest.
var ErrNotCapture = errors.New("not a capture")

// Capture is a capture directory that is read. What it contains may come from
// anywhere: everything in Manifest has been checked, and what had to be left
// out for that is in Warnings.
type Capture struct {
	Dir      string // as it was given
	Manifest *Manifest
	Warnings []Warning
	root     *os.Root
}

// Load reads a capture. A damaged part costs a warning; only a missing or
// unreadable manifest, or one of another schema, is an error.
func Load(dir string) (*Capture, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading capture %s: %w", dir, cause(err))
	}
	m, warnings, err := load(root, dir)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Capture{Dir: dir, Manifest: m, Warnings: warnings, root: root}, nil
}

// Close lets go of the directory.
func (c *Capture) Close() error { return c.root.Close() }

// Open opens a file of the capture for reading, of at most limit bytes (0 for any size).
func (c *Capture) Open(f File, limit int64) (*os.File, error) { return openIn(c.root, f.Path, limit) }

// openIn opens a regular file below root; no name and no symbolic link leads out.
func openIn(root *os.Root, name string, limit int64) (*os.File, error) {
	if !localPath(name) {
		return nil, fmt.Errorf("reading %q: no path inside the capture", name)
	}
	// Opening a named pipe would wait for its writer.
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil && limit > 0 && info.Size() > limit {
		err = fmt.Errorf("its %d MB are more than the %d MB that are read", info.Size()>>20, limit>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, cause(err))
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, cause(err))
	}
	return f, nil
}

func load(root *os.Root, dir string) (*Manifest, []Warning, error) {
	f, err := openIn(root, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is %w: there is no %s in it", dir, ErrNotCapture, ManifestName)
	} else if err != nil {
		return nil, nil, fmt.Errorf("capture %s: %w", dir, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	err = errors.Join(err, f.Close())
	if err != nil {
		return nil, nil, fmt.Errorf("capture %s: reading %s: %w", dir, ManifestName, cause(err))
	}
	m, warnings, err := parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("capture %s: %w", dir, err)
	}
	return m, append(warnings, checkFiles(root, m)...), nil
}

// parse reads a manifest and checks all that can be checked without the disk.
func parse(data []byte) (*Manifest, []Warning, error) {
	if len(data) > maxManifest {
		return nil, nil, fmt.Errorf("%s is larger than the %d MB that are read", ManifestName, maxManifest>>20)
	}
	if n := objects(data); n > maxObjects {
		return nil, nil, fmt.Errorf("%s has more than the %d objects that are read", ManifestName, maxObjects)
	}
	var version struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	if version.Schema != Schema {
		return nil, nil, fmt.Errorf("%w %q: this scaleprof reads %s", ErrSchema, clean(version.Schema, 60), Schema)
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	return m, check(m), nil
}

// objects counts what can become a struct: its few bytes of text are hundreds in memory.
func objects(data []byte) (n int) {
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', 'n': // null makes an empty element too
			n++
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// checkFiles drops files that are not there, and names those whose size is not
// what was written: they are read as far as that goes.
func checkFiles(root *os.Root, m *Manifest) (warnings []Warning) {
	for i := range m.Runs {
		r := &m.Runs[i]
		kept := r.Files[:0]
		for _, f := range r.Files {
			info, err := root.Stat(f.Path)
			switch {
			case err != nil:
				warnings = append(warnings, damaged(r.ID, "%s: %v; left out", f.Path, cause(err)))
				continue
			case !info.Mode().IsRegular():
				warnings = append(warnings, damaged(r.ID, "%s is not a regular file; left out", f.Path))
				continue
			case f.Bytes > 0 && info.Size() != f.Bytes:
				warnings = append(warnings, damaged(r.ID, "%s has %d bytes where %d were written", f.Path, info.Size(), f.Bytes))
			}
			kept = append(kept, f)
		}
		r.Files = kept
	}
	return warnings
}

// Find returns the files of a kind of one run.
func (r *Run) Find(kind string) []File {
	var out []File
	for _, f := range r.Files {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

// FindNewest finds the capture below dir whose manifest changed last: dir
// itself, its subdirectories, and theirs.
func FindNewest(dir string) (string, error) {
	const (
		depth   = 2
		entries = 10_000 // looked at in all
	)
	best, left := "", entries
	var when time.Time
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		if info, err := os.Stat(filepath.Join(dir, ManifestName)); err == nil && info.Mode().IsRegular() && hasSchema(dir) {
			if best == "" || info.ModTime().After(when) {
				best, when = dir, info.ModTime()
			}
			return
		}
		if depth == 0 {
			return
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			return // what cannot be read holds no capture of ours
		}
		for _, e := range list {
			if left--; left < 0 {
				return
			}
			if e.IsDir() && e.Name()[0] != '.' {
				look(filepath.Join(dir, e.Name()), depth-1)
			}
		}
	}
	look(dir, depth)
	if best == "" {
		return "", fmt.Errorf("no capture in %s: make one with `scaleprof capture`", path.Clean(dir))
	}
	return best, nil
}

// hasSchema looks at the beginning of a manifest for a schema of scaleprof's, of any version.
func hasSchema(dir string) bool {
	f, err := os.Open(filepath.Join(dir, ManifestName))
	if err != nil {
		return false
	}
	defer f.Close()
	dec := json.NewDecoder(io.LimitReader(f, 4096))
	for {
		t, err := dec.Token()
		if err != nil {
			return false
		}
		if t == "schema" {
			t, err = dec.Token()
			s, ok := t.(string)
			const family = "scaleprof.capture/"
			return err == nil && ok && len(s) > len(family) && s[:len(family)] == family
		}
	}
}
