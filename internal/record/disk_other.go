//go:build !unix

package record

import "os"

// lockDir takes no lock: there is none here that ends with the process.
func lockDir(string) (*os.File, error) { return nil, nil }

// syncFile brings a file to disk. A directory cannot be.
func syncFile(f *os.File) error {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil
	}
	return f.Sync()
}

func syncDir(string) error { return nil }
