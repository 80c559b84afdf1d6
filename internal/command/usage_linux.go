package command

import (
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/scaleprof/scaleprof/internal/host"
)

// tick is the kernel's unit of CPU time in /proc, the same on all systems that
// Go runs on.
const tick = 10 * time.Millisecond

// readGroup reads what the processes of a group have used, nil where /proc does
// not tell.
func readGroup(pgid int) *reading {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	all, err := fs.AllProcs()
	if err != nil {
		return nil
	}
	var r reading
	found := false
	for _, p := range all {
		s, err := p.Stat()
		if err != nil || s.PGRP != pgid {
			continue
		}
		own, ok := host.ProcessCPU(p.PID)
		if !ok {
			continue
		}
		found = true
		r.cpuNS += own + ticks(s.CUTime+s.CSTime)
		r.userNS += ticks(int(s.UTime) + s.CUTime)
		r.sysNS += ticks(int(s.STime) + s.CSTime)
		r.minFlt += int64(s.MinFlt + s.CMinFlt)
		r.majFlt += int64(s.MajFlt + s.CMajFlt)
		if status, err := p.NewStatus(); err == nil {
			r.maxRSS += int64(status.VmHWM)
		}
		r.readThreads(fs, p.PID)
	}
	if !found {
		return nil
	}
	return &r
}

func ticks(n int) int64 { return int64(n) * int64(tick) }

// readThreads adds the threads of a process. One that has ended is no error.
func (r *reading) readThreads(fs procfs.FS, pid int) {
	all, err := fs.AllThreads(pid)
	if err != nil {
		return
	}
	if r.threads == nil {
		r.threads = make(map[int]thread, len(all))
	}
	for _, t := range all {
		sched, err := t.Schedstat()
		if err != nil {
			continue
		}
		x := thread{runNS: int64(sched.RunningNanoseconds), waitNS: int64(sched.WaitingNanoseconds), slices: int64(sched.RunTimeslices)}
		if status, err := t.NewStatus(); err == nil {
			x.voluntary, x.forced = int64(status.VoluntaryCtxtSwitches), int64(status.NonVoluntaryCtxtSwitches)
		}
		r.threads[t.PID] = x
	}
}

// monotonic is CLOCK_MONOTONIC, ns: the clock of execution traces.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
