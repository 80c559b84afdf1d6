package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// quotaPeriod is the length of a cgroup's accounting period: the kernel's own default.
const quotaPeriod = 100 * time.Millisecond

// quota is a cgroup of our own with a limit on CPU time, for workloads that
// lose to exactly that.
type quota struct {
	dir string
	v2  bool
}

// newQuota makes a group below (v1, v2) or beside (v2) our own. It fails where
// cgroups are not ours to make: in most containers, and for most users.
func newQuota(cpus float64) (*quota, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("reading this process's cgroup: %w", err)
	}
	const mount = "/sys/fs/cgroup"
	name := fmt.Sprintf("scaleprof-%d", os.Getpid())
	var firstErr error
	for _, c := range quotaPlaces(string(groups), mount) {
		q := &quota{dir: filepath.Join(c.dir, name), v2: c.v2}
		err := q.make(cpus)
		if err == nil {
			return q, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if firstErr == nil {
		firstErr = errors.New("no cpu controller is mounted")
	}
	return nil, fmt.Errorf("a CPU quota needs a cgroup, which cannot be made here: %w", firstErr)
}

type quotaPlace struct {
	dir string
	v2  bool
}

// quotaPlaces lists directories in which a group with the cpu controller may be
// made: lines are "hierarchy:controllers:path" (cgroups(7)).
func quotaPlaces(groups, mount string) []quotaPlace {
	var places []quotaPlace
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !filepath.IsAbs(parts[2]) {
			continue
		}
		path := filepath.Clean(parts[2])
		if parts[1] == "" {
			// Our own group may be full of processes, and then cannot have
			// children with controllers; its parent can.
			places = append(places, quotaPlace{filepath.Join(mount, path), true}, quotaPlace{filepath.Join(mount, filepath.Dir(path)), true})
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "cpu" {
				places = append(places,
					quotaPlace{filepath.Join(mount, parts[1], path), false}, quotaPlace{filepath.Join(mount, "cpu", path), false},
					quotaPlace{filepath.Join(mount, "cpu"), false})
			}
		}
	}
	return places
}

func (q *quota) make(cpus float64) error {
	if err := os.Mkdir(q.dir, 0o755); err != nil {
		return err
	}
	period := quotaPeriod.Microseconds()
	limit := int64(cpus * float64(period))
	var err error
	if q.v2 {
		err = q.write("cpu.max", fmt.Sprintf("%d %d", limit, period))
	} else if err = q.write("cpu.cfs_period_us", strconv.FormatInt(period, 10)); err == nil {
		err = q.write("cpu.cfs_quota_us", strconv.FormatInt(limit, 10))
	}
	if err != nil {
		return errors.Join(err, q.close())
	}
	return nil
}

// write sets an existing control file.
func (q *quota) write(name, text string) error {
	f, err := os.OpenFile(filepath.Join(q.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// join moves a process with all its threads into the group.
func (q *quota) join(pid int) error {
	if err := q.write("cgroup.procs", strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("moving process %d under the CPU quota: %w", pid, err)
	}
	return nil
}

// throttled is how long, and how often, the group was stopped so far.
func (q *quota) throttled() (ns, times int64, ok bool) {
	text, err := os.ReadFile(filepath.Join(q.dir, "cpu.stat"))
	if err != nil {
		return 0, 0, false
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		v, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			continue
		}
		switch f[0] {
		case "throttled_usec":
			ns, ok = v*int64(time.Microsecond), true
		case "throttled_time":
			ns, ok = v, true
		case "nr_throttled":
			times = v
		}
	}
	return ns, times, ok
}

// close removes the group once its processes have ended.
func (q *quota) close() error {
	var err error
	for range 50 {
		if err = os.Remove(q.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond) // a process that was killed is still leaving
	}
	return fmt.Errorf("removing the cgroup of the CPU quota: %w", err)
}
