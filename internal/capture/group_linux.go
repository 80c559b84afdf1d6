package capture

import "syscall"

// groupAttr puts a child into a process group of its own, so that Ctrl-C on the
// terminal reaches only scaleprof and so that its descendants can be ended with
// it. It dies with the thread that started it: Execute keeps that thread.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends a child and all that it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
