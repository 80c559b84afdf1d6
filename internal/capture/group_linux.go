package capture

import "syscall"

// GroupAttr puts a child into a process group of its own, so that Ctrl-C on the
// terminal reaches only scaleprof and so that its descendants can be ended with
// it. It dies with the thread that started it: an Executor keeps that thread for the run.
func GroupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// KillGroup ends a child and all that it started.
func KillGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
