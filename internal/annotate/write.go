package annotate

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/profile"
)

// FileName is the name of a cell's file of a kind: cpu.json-sonic.thread.t16.pb.gz.
func FileName(kind string, c Cell) string {
	return fileName(kind, c, fmt.Sprintf("t%d", c.Threads))
}

// LossName is the name of the loss profile from base to the cell's T:
// loss.json-sonic.thread.t8-t16.pb.gz.
func LossName(c Cell, base int) string {
	return fileName("loss", c, fmt.Sprintf("t%d-t%d", base, c.Threads))
}

func fileName(kind string, c Cell, t string) string {
	name := kind + "." + safe(c.Target) + "." + safe(c.Mode) + "." + t
	if c.Arm != "" && c.Arm != baseline {
		name += "." + safe(c.Arm)
	}
	return name + ".pb.gz"
}

// maxPart bounds a part of a file name, in bytes.
const maxPart = 80

// safe writes a name with what any file system takes; names that lose something
// by that are kept apart by a hash.
func safe(s string) string {
	lossy := s == ""
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r == '/' || r == '=':
			return '-'
		}
		lossy = true
		return '-'
	}, s)
	if len(out) > maxPart {
		out, lossy = out[:maxPart], true
	}
	if lossy {
		h := fnv.New32a()
		_, _ = h.Write([]byte(s)) // never fails
		out = fmt.Sprintf("%s-%08x", strings.Trim(out, "-"), h.Sum32())
	}
	return strings.TrimLeft(out, "-")
}

// Write writes a profile below dir under a temporary name, synced, and renames
// it, so that no half a file is ever seen. It returns the path.
func Write(dir, name string, p *profile.Profile) (path string, err error) {
	if name != filepath.Base(name) || name == "." || name == ".." {
		return "", fmt.Errorf("writing profile: %q is no file name", name)
	}
	if err := p.CheckValid(); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	f, err := os.CreateTemp(dir, ".profile-*")
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	path = filepath.Join(dir, name)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", name, err), os.Remove(f.Name()))
	}
	return path, nil
}
