package workload

import "runtime/debug"

// Versions maps each module path to the version built into this binary, for
// the manifest. A module that is not in the binary is left out; one that was
// replaced shows what it was replaced by.
func Versions(paths ...string) map[string]string {
	versions := make(map[string]string, len(paths))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p] = true
	}
	for _, dep := range info.Deps {
		if !wanted[dep.Path] {
			continue
		}
		version := dep.Version
		if r := dep.Replace; r != nil {
			version += " => " + r.Path
			if r.Version != "" {
				version += " " + r.Version
			}
		}
		versions[dep.Path] = version
	}
	return versions
}

// Libraries is Versions of the libraries of all workloads in the registry.
func (r *Registry) Libraries() map[string]string {
	var paths []string
	for _, w := range r.All() {
		if lib := w.Info().Library; lib != "" {
			paths = append(paths, lib)
		}
	}
	return Versions(paths...)
}
