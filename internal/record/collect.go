package record

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// Raw is a file that a process of a run left in the run's directory.
type Raw struct {
	Kind    string // as recorder.File has it
	Name    string // base name
	Process int
}

// beforeMark ends the kind of a profile that is to be subtracted.
const beforeMark = ".before"

// ProcessLabel is the numeric label of samples of a run with several
// processes. It counts from 1: pprof's format has no numeric label of 0.
const ProcessLabel = "process"

// Collect turns what the processes of a run left in its directory (abs; rel
// below the capture) into the run's files. Of each kind of profile there is one
// file for all processes, as <kind>.pb.gz, its samples labelled with their
// process where there are several; what was counted before the window is
// subtracted, and waits of the harness are left out. Traces and all else stay
// as they are.
//
// A profile that cannot be read costs a warning. An error means that the disk
// cannot be written.
func Collect(abs, rel string, raw []Raw, window time.Duration) (files []File, warnings []string, err error) {
	processes := 1
	groups := make(map[string][]Raw)
	for _, r := range raw {
		if !safeName(r.Name) {
			return nil, nil, fmt.Errorf("collecting files: %q is no name for a file", r.Name)
		}
		processes = max(processes, r.Process+1)
		if kind := strings.TrimSuffix(r.Kind, beforeMark); mergeable(kind) {
			groups[kind] = append(groups[kind], r)
			continue
		}
		f, warning := keep(abs, rel, r)
		if warning != "" {
			warnings = append(warnings, warning)
			continue
		}
		files = append(files, f)
	}
	for _, kind := range []string{"cpu", "mutex", "block", "wall", "allocs"} {
		if len(groups[kind]) == 0 {
			continue
		}
		name, warning, err := merge(abs, kind, groups[kind], processes, window)
		if err != nil {
			return nil, nil, fmt.Errorf("collecting files: %w", err)
		}
		if warning != "" {
			warnings = append(warnings, warning)
			continue
		}
		f, warning := keep(abs, rel, Raw{Kind: kind, Name: name})
		if warning != "" {
			warnings = append(warnings, warning)
			continue
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, warnings, nil
}

func mergeable(kind string) bool {
	switch kind {
	case "cpu", "mutex", "block", "wall", "allocs":
		return true
	}
	return false
}

func keep(abs, rel string, r Raw) (File, string) {
	info, err := os.Lstat(filepath.Join(abs, r.Name))
	switch {
	case err != nil:
		return File{}, fmt.Sprintf("%s was not written: %v", r.Name, cause(err))
	case !info.Mode().IsRegular():
		return File{}, fmt.Sprintf("%s is not a regular file", r.Name)
	}
	return File{Kind: r.Kind, Path: path.Join(rel, r.Name), Process: r.Process, Bytes: info.Size()}, ""
}

// merge makes one profile of those of all processes and removes them.
func merge(abs, kind string, raw []Raw, processes int, window time.Duration) (name, warning string, err error) {
	var parts []*profile.Profile
	left := int64(0)
	for _, r := range raw {
		p, err := readRaw(filepath.Join(abs, r.Name))
		if err != nil {
			// Totals without one of the processes would be wrong, and not look it.
			return "", fmt.Sprintf("the %s profile is left out: reading %s: %v", kind, r.Name, err), nil
		}
		if strings.HasSuffix(r.Kind, beforeMark) {
			p.Scale(-1)
		}
		if kind != "allocs" {
			left += dropHarness(p, kind)
		}
		if processes > 1 {
			for _, s := range p.Sample {
				if s.NumLabel == nil {
					s.NumLabel = make(map[string][]int64, 1)
				}
				s.NumLabel[ProcessLabel] = []int64{int64(r.Process) + 1}
			}
		}
		parts = append(parts, p)
	}
	all, err := profile.Merge(parts)
	if err != nil {
		return "", fmt.Sprintf("the %s profile is left out: merging processes: %v", kind, err), nil
	}
	// Recorders run from before the barrier; what they count is the window's.
	all.DurationNanos = int64(window)
	if left > 0 {
		all.Comments = append(all.Comments, fmt.Sprintf("scaleprof: %s of the harness itself are left out", time.Duration(left)))
	}
	name = kind + ".pb.gz"
	if err := writeProfile(filepath.Join(abs, name), all); err != nil {
		return "", "", err
	}
	for _, r := range raw {
		if r.Name != name {
			if err := os.Remove(filepath.Join(abs, r.Name)); err != nil {
				return "", "", err
			}
		}
	}
	return name, "", nil
}

// dropHarness removes the measurement's own samples and returns their sum, ns.
// In a profile before the window, which is negative here, nothing of it counts.
func dropHarness(p *profile.Profile, kind string) (ns int64) {
	last := len(p.SampleType) - 1 // time, in each of these kinds
	p.Sample = slices.DeleteFunc(p.Sample, func(s *profile.Sample) bool {
		if !harness(s, kind) {
			return false
		}
		ns += max(s.Value[last], 0)
		return true
	})
	return ns
}

func readRaw(name string) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	return ReadProfile(f)
}

// writeProfile writes to a temporary name first: the merged file may replace its only part.
func writeProfile(name string, p *profile.Profile) error {
	temp := name + tempMark + "merge"
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = p.Write(w)
	if err == nil {
		err = w.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
