package command

import (
	"os"
	"runtime"
	"syscall"

	"github.com/scaleprof/scaleprof/internal/capture/recorder"
)

// reading is what a process group has used so far. Only differences count.
type reading struct {
	cpuNS          int64 // exact, of the processes that live and those they have waited for
	userNS, sysNS  int64 // the same in ticks, for their proportion
	minFlt, majFlt int64
	maxRSS         int64 // bytes, summed over the processes
	threads        map[int]thread
}

// thread is what one thread has used, by its id.
type thread struct {
	runNS, waitNS, slices int64
	voluntary, forced     int64 // switches
}

// since is what was used between two readings. Threads and processes that were
// born in between count from 0; threads that ended drop out. nil where a
// process was lost with what it had used.
func (r *reading) since(old *reading) (*recorder.Usage, *recorder.Threads) {
	if r == nil || old == nil || r.cpuNS < old.cpuNS {
		return nil, nil
	}
	u := &recorder.Usage{
		MinFlt: max(r.minFlt-old.minFlt, 0), MajFlt: max(r.majFlt-old.majFlt, 0), MaxRSS: r.maxRSS,
	}
	cpu := r.cpuNS - old.cpuNS
	user, sys := max(r.userNS-old.userNS, 0), max(r.sysNS-old.sysNS, 0)
	u.UserNS = cpu
	if user+sys > 0 {
		u.UserNS = int64(float64(cpu) * float64(user) / float64(user+sys))
	}
	u.SysNS = cpu - u.UserNS
	var t recorder.Threads
	for tid, now := range r.threads {
		then := old.threads[tid]
		if then.runNS > now.runNS || then.slices > now.slices {
			then = thread{} // another thread that got the same id
		}
		t.RunNS += now.runNS - then.runNS
		t.WaitNS += now.waitNS - then.waitNS
		t.Slices += now.slices - then.slices
		u.NVCSw += now.voluntary - then.voluntary
		u.NIVCSw += now.forced - then.forced
	}
	if len(r.threads) == 0 {
		return u, nil
	}
	return u, &t
}

// usageOf is all that an ended process has used, with those that it waited for.
func usageOf(state *os.ProcessState) *recorder.Usage {
	if state == nil {
		return nil
	}
	ru, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil
	}
	u := &recorder.Usage{
		UserNS: ru.Utime.Nano(), SysNS: ru.Stime.Nano(),
		MinFlt: int64(ru.Minflt), MajFlt: int64(ru.Majflt),
		NVCSw: int64(ru.Nvcsw), NIVCSw: int64(ru.Nivcsw), MaxRSS: int64(ru.Maxrss),
	}
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		u.MaxRSS <<= 10 // kilobytes elsewhere
	}
	return u
}

// less takes what was used before the window from what was used in all.
func less(all *recorder.Usage, before *reading) *recorder.Usage {
	if all == nil || before == nil {
		return nil
	}
	u := *all
	// Ticks say how the time before was divided, the exact clock how long it was.
	user := before.cpuNS
	if sum := before.userNS + before.sysNS; sum > 0 {
		user = int64(float64(before.cpuNS) * float64(before.userNS) / float64(sum))
	}
	u.UserNS, u.SysNS = max(u.UserNS-user, 0), max(u.SysNS-(before.cpuNS-user), 0)
	u.MinFlt, u.MajFlt = max(u.MinFlt-before.minFlt, 0), max(u.MajFlt-before.majFlt, 0)
	for _, t := range before.threads {
		u.NVCSw, u.NIVCSw = max(u.NVCSw-t.voluntary, 0), max(u.NIVCSw-t.forced, 0)
	}
	return &u
}

// cpuNS is the CPU time of a usage, nil if that is not known.
func cpuNS(u *recorder.Usage) *int64 {
	if u == nil {
		return nil
	}
	ns := u.UserNS + u.SysNS
	return &ns
}
