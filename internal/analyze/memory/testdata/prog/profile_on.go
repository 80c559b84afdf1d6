//go:build profile

package main

import (
	"os"
	"runtime/pprof"
)

// profile writes a CPU profile to standard output until stopped.
func profile() (stop func()) {
	if err := pprof.StartCPUProfile(os.Stdout); err != nil {
		panic(err)
	}
	return pprof.StopCPUProfile
}
