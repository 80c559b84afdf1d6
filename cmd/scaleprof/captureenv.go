package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"

	"github.com/scaleprof/scaleprof/internal/host"
)

// usableCPUs is how many CPUs this process may use.
func usableCPUs() int {
	info, _ := host.Read("/")
	return info.CPUs
}

// seed reads --seed, or draws one that fits in a JSON number.
func seed(text string) (uint64, error) {
	if text == "" {
		return rand.Uint64() >> 11, nil
	}
	n, err := strconv.ParseUint(text, 10, 53)
	if err != nil {
		return 0, fmt.Errorf("seed: want a whole number from 0 to %d, not %q", uint64(1)<<53-1, text)
	}
	return n, nil
}

// version is scaleprof's own, as the toolchain recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value
		}
	}
	if v == "" {
		return "unknown"
	}
	return v
}
