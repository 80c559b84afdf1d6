package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// output is a file that keeps its first error: the writers of profiles do not look.
type output struct {
	*os.File
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// create makes a file of this process in the run's directory.
func (r *Recorder) create(name, ext string) (*output, error) {
	f, err := os.OpenFile(filepath.Join(r.opt.Dir, name+r.opt.Suffix+"."+ext), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, fault(err))
	}
	return &output{File: f}, nil
}

// fault is an error without the operation and the path that package os puts
// before it: the message has them.
func fault(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// close closes a finished file and counts it among the process's files.
func (r *Recorder) close(o *output, kind string) error {
	err := o.err
	if e := o.File.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(o.Name()), fault(err))
	}
	r.files = append(r.files, File{Kind: kind, Name: filepath.Base(o.Name())})
	return nil
}

func (r *Recorder) save(kind, name, ext string, data []byte) error {
	f, err := r.create(name, ext)
	if err != nil {
		return err
	}
	_, _ = f.Write(data) // the file keeps the error
	return r.close(f, kind)
}

// write writes one of the runtime's cumulative profiles as it now is.
func (r *Recorder) write(profile, kind string) error {
	f, err := r.create(kind, "pb.gz")
	if err != nil {
		return err
	}
	if err := pprof.Lookup(profile).WriteTo(f, 0); err != nil && f.err == nil {
		f.err = err
	}
	return r.close(f, kind)
}
