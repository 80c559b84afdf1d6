//go:build !unix

package recorder

import "errors"

func monotonic() int64 { return 0 }

func usage() *Usage { return nil }

func pinThread(int) error { return errors.New("pinning: this system cannot bind a thread to a CPU") }

func readThreads() map[int]Threads { return nil }

func inherited(int) bool { return true }

func shareWords(string, int) ([]uint32, error) {
	return nil, errors.New("sharing memory: not on this system")
}

func withoutLine(_ string, f func() error) error { return f() }
