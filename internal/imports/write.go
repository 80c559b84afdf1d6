package imports

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Store is a capture directory that is being written.
type Store interface {
	// NewRun makes the directory of a run: its path below the capture, with
	// slashes, and where it is.
	NewRun(id int, cell string) (rel, abs string, err error)
	Save(m *record.Manifest) error
}

// Write copies the profiles into the capture and saves its manifest, which
// from then on names where they are.
func (im *Import) Write(to Store) error {
	dirs := map[int]string{}
	for _, c := range im.Copies {
		run := &im.Manifest.Runs[c.Run]
		if dirs[c.Run] == "" {
			rel, abs, err := to.NewRun(run.ID, run.Cell)
			if err != nil {
				return err
			}
			dirs[c.Run], run.Dir = abs, rel
		}
		size, err := c.write(filepath.Join(dirs[c.Run], c.Name))
		if err != nil {
			return fmt.Errorf("importing %s: %w", c.Path, err)
		}
		run.Files = append(run.Files, record.File{Kind: c.Kind, Path: path.Join(run.Dir, c.Name), Bytes: size})
	}
	return to.Save(im.Manifest)
}

// write copies the bytes as they are, but for a profile that was not compressed.
func (c Copy) write(to string) (size int64, err error) {
	from, err := os.Open(c.Path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	var out io.Writer = file
	if c.Gzip {
		zw := gzip.NewWriter(file)
		defer func() {
			if closing := zw.Close(); err == nil {
				err = closing
			}
			if info, stat := file.Stat(); err == nil && stat == nil {
				size = info.Size()
			}
		}()
		out = zw
	}
	return io.Copy(out, from)
}
