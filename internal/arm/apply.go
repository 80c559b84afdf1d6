package arm

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Setting is what an arm makes of a cell's run.
type Setting struct {
	Mode      record.Mode
	ProcsRule string           // "cpus", "threads" or a number
	Env       []string         // added to every process
	Pin       bool             // worker w of the run on CoreFirst[w]
	DelayNS   map[string]int64 // by cause
}

// DelayNS is the cost that delay=CAUSE adds to each visit of the suspect:
// well above what a visit costs by itself (tens of ns), so that the slope
// shows, and well below a scheduling quantum.
const DelayNS = 1000

// Room is what the machine and the plan leave for an arm.
type Room struct {
	Peak       int      // largest T that the arm would run at
	Mode       string   // of the baseline cell: "thread" or "process"
	ProcsRule  string   // of the baseline
	OS         string   // runtime.GOOS of the machine
	CoreFirst  []int    // first CPU of each physical core, nil if unknown
	FreeMemory int64    // bytes that may be used now, 0 if unknown
	Delays     []string // causes for which the target has a hook
	NoMode     bool     // the target cannot be run as T processes
	External   bool     // T is GOMAXPROCS of a program whose workers are its own
}

// A process of its own needs this much before GOGC=off says anything: less is
// collected all the time by the limit.
const minLimit = 256 << 20

// Share of the free memory that gc-off may fill. The rest is for the system
// and for what GOMEMLIMIT does not count.
const memoryShare = 0.6

// Possible says in one line why the arm cannot be run in this room, nil if it can.
func (a Arm) Possible(r Room) error {
	for _, p := range a.Parts {
		if err := p.possible(r); err != nil {
			return fmt.Errorf("arm %s: %w", a.Name, err)
		}
	}
	return nil
}

func (p Part) possible(r Room) error {
	switch p.Kind {
	case GCOff:
		if r.FreeMemory == 0 {
			return fmt.Errorf("free memory is not known here, so no memory limit can be set; use gogc=800")
		}
		if limit := memoryLimit(r, r.Mode); limit < minLimit {
			return fmt.Errorf("%d MB of free memory leave %d MB for each process, too little to run without a collector; use gogc=800",
				r.FreeMemory>>20, limit>>20)
		}
	case Mode:
		if r.NoMode {
			return fmt.Errorf("this target cannot be run as several processes")
		}
		if r.Mode == string(record.Process) && r.ProcsRule == "1" {
			return fmt.Errorf("the baseline already runs one process per worker with one P each")
		}
	case Procs:
		if r.External {
			return fmt.Errorf("this target's T is its GOMAXPROCS, which is varied already")
		}
		if p.Value == r.ProcsRule {
			return fmt.Errorf("the baseline already has procs=%s", p.Value)
		}
	case Pin:
		switch {
		case r.External:
			return fmt.Errorf("this target's workers are its own, so they cannot be pinned; use taskset in its command")
		case r.OS != "linux":
			return fmt.Errorf("threads can be pinned on Linux only")
		case len(r.CoreFirst) == 0:
			return fmt.Errorf("the physical cores of this machine are not known")
		case r.Peak > len(r.CoreFirst):
			return fmt.Errorf("%d workers cannot each have a physical core: there are %d", r.Peak, len(r.CoreFirst))
		}
	case Delay:
		if !slices.Contains(r.Delays, p.Value) {
			if len(r.Delays) == 0 {
				return fmt.Errorf("this target has no place where a delay can be added")
			}
			return fmt.Errorf("this target can delay only %v", r.Delays)
		}
	}
	return nil
}

// memoryLimit is GOMEMLIMIT of one process, in bytes.
func memoryLimit(r Room, mode string) int64 {
	limit := int64(float64(r.FreeMemory) * memoryShare)
	if mode == string(record.Process) && r.Peak > 1 {
		limit /= int64(r.Peak)
	}
	return limit
}

// Apply changes a baseline's setting. The arm must be Possible in the room.
func (a Arm) Apply(s Setting, r Room) Setting {
	for _, p := range a.Parts {
		switch p.Kind {
		case GOGC:
			s.Env = append(slices.Clone(s.Env), "GOGC="+p.Value)
		case Mode:
			s.Mode, s.ProcsRule = record.Process, "1"
		case Procs:
			s.ProcsRule = p.Value
		case Pin:
			s.Pin = true
		case Delay:
			delays := map[string]int64{p.Value: DelayNS}
			for cause, ns := range s.DelayNS {
				delays[cause] = ns
			}
			s.DelayNS = delays
		}
	}
	// The limit depends on the number of processes, which another part may set.
	for _, p := range a.Parts {
		if p.Kind == GCOff {
			s.Env = append(slices.Clone(s.Env), "GOGC=off", "GOMEMLIMIT="+strconv.FormatInt(memoryLimit(r, string(s.Mode)), 10))
		}
	}
	return s
}
