package capture

import (
	"os"
	"path/filepath"

	"github.com/scaleprof/scaleprof/internal/record"
)

// Where recording everything at once stops being cheap (RUNTIME 5): at these
// rates a channel ping-pong ran three times as long.
const (
	heavyEvents    = 200_000  // contentions and blocks per second
	heavyTrace     = 10 << 20 // bytes of trace per second
	heavyBlockRate = 10_000   // ns: the block profile samples waits shorter than this
	// A window is made shorter when its trace would be larger than this, but
	// never so short that thread placement dominates it.
	maxTrace  = 64 << 20
	minWindow = 200e6 // ns
)

// load is what the recorders of a target's profiled runs had to write.
type load struct {
	events float64 // per second, the most that any run showed
	trace  float64 // bytes per second
}

func (l load) heavy() bool { return l.events > heavyEvents || l.trace > heavyTrace }

// ops cuts the operations of a profiled run so that its trace stays readable.
// wall is what a timed run of the cell takes. 0 leaves them as they are.
func (l load) ops(total, wall int64, threads int) int64 {
	if l.trace == 0 || wall <= 0 {
		return 0
	}
	share := min(1, maxTrace/(l.trace*float64(wall)/1e9))
	share = max(share, minWindow/float64(wall))
	if share >= 1 {
		return 0
	}
	return max(int64(float64(total)*share), int64(threads))
}

// observe raises a load by what a run's files show.
func (l load) observe(dir string, run *record.Run) load {
	if run.Error != "" || run.WallNS <= 0 || run.Kind == record.Timed {
		return l
	}
	seconds := float64(run.WallNS) / 1e9
	var events, trace float64
	for _, f := range run.Files {
		switch f.Kind {
		case "trace":
			trace += float64(f.Bytes)
		case "mutex", "block":
			if run.Profiles != nil && (f.Kind == "mutex" && run.Profiles.Mutex == 1 || f.Kind == "block" && run.Profiles.Block == 1) {
				events += contentions(filepath.Join(dir, filepath.FromSlash(f.Path)))
			}
		}
	}
	l.events, l.trace = max(l.events, events/seconds), max(l.trace, trace/seconds)
	return l
}

// contentions sums the event counts of a mutex or block profile that our own
// child has just written. A file that cannot be read counts nothing: the
// analysis will say so.
func contentions(path string) float64 {
	const most = 64 << 20
	if info, err := os.Stat(path); err != nil || info.Size() > most {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	p, err := record.ReadProfile(f)
	if err != nil {
		return 0
	}
	var n int64
	for _, s := range p.Sample {
		if len(s.Value) > 0 {
			n += s.Value[0]
		}
	}
	return float64(n)
}
