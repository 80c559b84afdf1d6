package capture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DefaultThreads is the default of --threads: enough points for a curve, both
// sides of the usual knees, and the "one CPU left free" that users try first.
const DefaultThreads = "1,1/4,1/2,3/4,full,full-1"

// MaxThreads bounds T: above it a typing error is likelier than a machine.
const MaxThreads = 4096

// ParseThreads reads a list of levels of parallelism for a machine with the
// given number of usable CPUs: whole numbers, fractions of the CPUs ("3/4",
// rounded down, at least 1), "full" and "full-N". The result is sorted and has
// no repeats: on a small machine several words mean the same.
func ParseThreads(list string, cpus int) ([]int, error) {
	if cpus < 1 {
		return nil, fmt.Errorf("threads: the number of CPUs is not known")
	}
	var threads []int
	for field := range strings.SplitSeq(list, ",") {
		field = strings.ToLower(strings.TrimSpace(field))
		if field == "" {
			continue
		}
		t, err := parseLevel(field, cpus)
		if err != nil {
			return nil, err
		}
		threads = append(threads, t)
	}
	if len(threads) == 0 {
		return nil, fmt.Errorf("threads: the list %q is empty; want for instance 8,16 or %s", list, DefaultThreads)
	}
	slices.Sort(threads)
	return slices.Compact(threads), nil
}

func parseLevel(s string, cpus int) (int, error) {
	if rest, ok := strings.CutPrefix(s, "full"); ok {
		if rest == "" {
			return cpus, nil
		}
		less, err := strconv.Atoi(rest)
		if err != nil || less > 0 || rest[0] != '-' {
			return 0, notALevel(s)
		}
		// "full-1" on a machine with one CPU is that one CPU.
		return max(1, cpus+less), nil
	}
	if num, den, ok := strings.Cut(s, "/"); ok {
		a, errA := strconv.Atoi(num)
		b, errB := strconv.Atoi(den)
		if errA != nil || errB != nil {
			return 0, notALevel(s)
		}
		if a < 1 || b < 1 || a > MaxThreads || b > MaxThreads {
			return 0, fmt.Errorf("threads: %q is not a positive fraction of the CPUs", s)
		}
		t := max(1, cpus*a/b)
		if t > MaxThreads {
			return 0, tooMany(s)
		}
		return t, nil
	}
	t, err := strconv.Atoi(s)
	if err != nil {
		return 0, notALevel(s)
	}
	if t < 1 {
		return 0, fmt.Errorf("threads: %d is too few: T must be at least 1", t)
	}
	if t > MaxThreads {
		return 0, tooMany(s)
	}
	return t, nil
}

func notALevel(s string) error {
	return fmt.Errorf("threads: %q is not a number; want a number, a fraction of the CPUs like 3/4, full or full-1", s)
}

func tooMany(s string) error {
	return fmt.Errorf("threads: %s is more than %d", s, MaxThreads)
}
