//go:build !linux

package counters

import "fmt"

func events() []event { return []event{{name: Instructions, hardware: true}} }

type none struct{}

func newSystem() system { return none{} }

func (none) threads(int) ([]int, error)      { return []int{0}, nil }
func (none) open(event, int) (handle, error) { return nil, Probe() }

// Probe reports why hardware counters cannot be opened.
func Probe() error { return fmt.Errorf("%w: read on Linux only", ErrUnsupported) }
