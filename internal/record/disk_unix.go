//go:build unix

package record

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockDir takes the directory's lock, which ends with the process at the
// latest. A file system without locks gives none: then nil.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrLocked, f.Close())
	default:
		return nil, f.Close()
	}
}

// syncFile brings a file or directory to disk. Some file systems cannot for
// directories, and say that the call is invalid; they have no more to offer.
func syncFile(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("bringing %s to disk: %w", dir, err)
	}
	return errors.Join(syncFile(f), f.Close())
}
