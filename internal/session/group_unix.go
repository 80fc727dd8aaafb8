//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package session

import (
	"os/exec"
	"syscall"
)

// own gives a command a process group of its own, all of which is killed when its context ends.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
