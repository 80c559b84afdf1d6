package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Checker is a workload that can say that its parameters are wrong before any
// process is started for it, and more cheaply than Prepare.
type Checker interface {
	Check(values map[string]string) error
}

// CheckParams refuses what w would refuse: a machine that cannot run it, a
// parameter that it does not know, a value that it cannot use.
func CheckParams(w Workload, values map[string]string) error {
	info := w.Info()
	if info.Unavailable != "" {
		return fmt.Errorf("%s cannot run here: %s", info.Name, info.Unavailable)
	}
	known := slices.Sorted(maps.Keys(info.Params))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := info.Params[name]; ok {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("%s takes no parameters, so not %q either", info.Name, name)
		}
		return fmt.Errorf("%s has no parameter %q; it takes %s", info.Name, name, strings.Join(known, ", "))
	}
	if c, ok := w.(Checker); ok {
		return c.Check(values)
	}
	return nil
}
