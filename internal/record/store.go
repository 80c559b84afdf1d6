package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names inside a capture directory.
const (
	ManifestName = "manifest.json"
	runsDir      = "runs"
	OutDir       = "out" // what explain writes
	tempMark     = ".tmp-"
)

// ErrLocked is the error of opening a capture that another process is writing.
var ErrLocked = errors.New("another scaleprof is writing it")

// Store writes one capture directory, alone: it holds the directory's lock.
// It is not safe for concurrent use.
//
// Whatever instant the process is killed at, the directory holds a complete
// manifest, and every file that the manifest names is complete on disk.
type Store struct {
	dir    string // absolute
	root   *os.Root
	lock   *os.File
	synced map[int]bool // runs whose files are known to be on disk

	// step is called before each change to the disk; tests end the world there.
	step func(what string) error
}

// Create makes a new capture directory that already loads, with no runs. A
// directory that exists is refused unless it is empty.
func Create(dir string) (*Store, error) {
	return createWith(dir, func(string) error { return nil })
}

func createWith(dir string, step func(string) error) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("creating capture %s: %w", dir, err)
	}
	if err := vacant(abs, dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o777); err != nil {
		return nil, fmt.Errorf("creating capture %s: %w", dir, cause(err))
	}
	removeStale(filepath.Dir(abs), "."+filepath.Base(abs)+tempMark)
	// It appears under its name with its manifest in it, in one step.
	temp, err := os.MkdirTemp(filepath.Dir(abs), "."+filepath.Base(abs)+tempMark)
	if err != nil {
		return nil, fmt.Errorf("creating capture %s: %w", dir, cause(err))
	}
	s, err := create(temp, abs, step)
	if errors.Is(err, errKilled) {
		return nil, err
	} else if err != nil {
		return nil, errors.Join(fmt.Errorf("creating capture %s: %w", dir, cause(err)), os.RemoveAll(temp))
	}
	return s, nil
}

// removeStale removes what a process left that was killed inside Create. A
// directory that somebody may still be creating is younger than a minute.
func removeStale(parent, prefix string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.RemoveAll(filepath.Join(parent, e.Name())) // it is only rubbish
		}
	}
}

func create(temp, abs string, step func(string) error) (*Store, error) {
	if err := os.Chmod(temp, 0o755); err != nil {
		return nil, err
	}
	s, err := open(temp)
	if err != nil {
		return nil, err
	}
	s.step = step
	err = s.Save(&Manifest{Schema: Schema, Created: time.Now().UTC()})
	if err == nil {
		err = step("appear")
	}
	if err == nil {
		// An empty directory of that name makes way; any other would have been refused.
		if err = os.Remove(abs); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(temp, abs)
	}
	if err == nil {
		err = syncDir(filepath.Dir(abs))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.dir = abs
	return s, nil
}

// vacant refuses a directory in which something is.
func vacant(abs, dir string) error {
	entries, err := os.ReadDir(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("creating capture %s: %w", dir, cause(err))
	}
	for _, e := range entries {
		if e.Name() == ManifestName {
			return fmt.Errorf("%s is a capture already; `scaleprof capture --resume %s` goes on with it", dir, dir)
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s exists and is not a capture", dir)
	}
	return nil
}

// OpenStore opens a capture to go on with it, and removes what an interrupted
// run or save has left. What is damaged in it is among the warnings.
func OpenStore(dir string) (*Store, *Manifest, []Warning, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("opening capture %s: %w", dir, err)
	}
	s, err := open(abs)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("opening capture %s: %w", dir, cause(err))
	}
	m, warnings, err := load(s.root, dir)
	if err == nil {
		err = s.clean(m)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	for i := range m.Runs {
		s.synced[m.Runs[i].ID] = true
	}
	return s, m, warnings, nil
}

func open(abs string) (*Store, error) {
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(abs)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Store{
		dir: abs, root: root, lock: lock, synced: make(map[int]bool),
		step: func(string) error { return nil },
	}, nil
}

// Close gives the lock back.
func (s *Store) Close() error {
	err := s.root.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// Dir is the capture directory, absolute.
func (s *Store) Dir() string { return s.dir }

// NewRun makes the empty directory of a run, replacing what an interrupted
// attempt at it left, and gives its path relative to the capture, with slashes,
// and absolute.
func (s *Store) NewRun(id int, cell string) (rel, abs string, err error) {
	if id < 0 || !safeName(cell) {
		return "", "", fmt.Errorf("making a directory for run %d: %q is no name for a cell", id, cell)
	}
	rel = path.Join(runsDir, fmt.Sprintf("%04d-%s", id, cell))
	if err := s.root.RemoveAll(rel); err != nil {
		return "", "", fmt.Errorf("making %s: %w", rel, cause(err))
	}
	if err := s.root.MkdirAll(rel, 0o755); err != nil {
		return "", "", fmt.Errorf("making %s: %w", rel, cause(err))
	}
	return rel, filepath.Join(s.dir, filepath.FromSlash(rel)), nil
}

// Save replaces the manifest, whole or not at all, after everything that it
// names is on disk.
func (s *Store) Save(m *Manifest) error {
	data, err := marshal(m)
	if err != nil {
		return fmt.Errorf("writing %s: %w", ManifestName, err)
	}
	if len(data) > maxManifest {
		return fmt.Errorf("writing %s: its %d MB are more than the %d MB that can be read again", ManifestName, len(data)>>20, maxManifest>>20)
	}
	for i := range m.Runs {
		if r := &m.Runs[i]; !s.synced[r.ID] {
			if err := s.syncRun(r); err != nil {
				return err
			}
			s.synced[r.ID] = true
		}
	}
	if err := s.write(ManifestName, data); err != nil {
		return fmt.Errorf("writing %s in %s: %w; all that was complete before is kept", ManifestName, s.dir, cause(err))
	}
	return nil
}

// syncRun brings a run's files to disk.
func (s *Store) syncRun(r *Run) error {
	if len(r.Files) == 0 {
		return nil
	}
	dirs := []string{".", runsDir}
	for _, f := range r.Files {
		if !localPath(f.Path) {
			return fmt.Errorf("run %d: %q is no path inside the capture", r.ID, f.Path)
		}
		if err := s.sync(f.Path); err != nil {
			return err
		}
		if d := path.Dir(f.Path); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	slices.Reverse(dirs)
	for _, d := range dirs {
		if err := s.sync(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) sync(name string) error {
	if err := s.step("sync " + name); err != nil {
		return err
	}
	f, err := s.root.Open(name)
	if err == nil {
		err = errors.Join(syncFile(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("bringing %s to disk: %w", name, cause(err))
	}
	return nil
}

// write replaces a file of the capture's top level, whole or not at all.
func (s *Store) write(name string, data []byte) error {
	temp := fmt.Sprintf(".%s%s%d", name, tempMark, os.Getpid())
	if err := s.step("create " + name); err != nil {
		return err
	}
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = s.step("written " + name)
	}
	if err == nil {
		err = syncFile(f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = s.step("rename " + name)
	}
	if err == nil {
		err = s.root.Rename(temp, name)
	}
	if err != nil {
		if !errors.Is(err, errKilled) {
			_ = s.root.Remove(temp) // what failed before it is the fault to tell
		}
		return err
	}
	if err := s.step("renamed " + name); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// errKilled is what a test's step returns to leave everything as a kill would.
var errKilled = errors.New("killed")

// clean removes temporary files and the directories of runs that never got
// into the manifest.
func (s *Store) clean(m *Manifest) error {
	top, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return fmt.Errorf("cleaning %s: %w", s.dir, cause(err))
	}
	for _, e := range top {
		if strings.HasPrefix(e.Name(), ".") && strings.Contains(e.Name(), tempMark) {
			if err := s.root.Remove(e.Name()); err != nil {
				return fmt.Errorf("cleaning %s: %w", s.dir, cause(err))
			}
		}
	}
	known := make(map[string]bool, len(m.Runs))
	for i := range m.Runs {
		known[m.Runs[i].Dir] = true
		for _, f := range m.Runs[i].Files {
			known[path.Dir(f.Path)] = true
		}
	}
	runs, err := fs.ReadDir(s.root.FS(), runsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("cleaning %s: %w", s.dir, cause(err))
	}
	for _, e := range runs {
		if rel := path.Join(runsDir, e.Name()); !known[rel] && runDirName(e.Name()) {
			if err := s.root.RemoveAll(rel); err != nil {
				return fmt.Errorf("cleaning %s: %w", s.dir, cause(err))
			}
		}
	}
	return nil
}

// runDirName tells a run's directory from what somebody else put there.
func runDirName(name string) bool {
	digits := strings.TrimLeft(name, "0123456789")
	return len(digits) < len(name) && strings.HasPrefix(digits, "-")
}

// cause strips the operation and the path that package os puts before the fault.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	var c *os.SyscallError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	case errors.As(err, &c):
		return c.Err
	}
	return err
}
