//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package lab

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach puts the command into a session of its own, away from our terminal and
// its Ctrl-C.
func detach(cmd *exec.Cmd, tied bool) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if tied {
		tie(cmd.SysProcAttr)
	}
	return nil
}

// isAlive reports whether p is the process that was started, and runs. A child
// of ours that has ended is collected on the way.
func isAlive(p Process) bool {
	if p.PID <= 0 || p.Birth == "" {
		return false
	}
	born, ended := look(p.PID)
	if born != p.Birth {
		return false
	}
	if ended {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(p.PID, &ws, syscall.WNOHANG, nil)
		return err == nil && pid == 0 // ours, and not quite at its end; an error is somebody else's child
	}
	return true
}

// birth tells when the process was started, "" when there is none.
func birth(pid int) string {
	born, _ := look(pid)
	return born
}

// send signals p, unless it is gone. The handle is taken before the birth is
// compared, so where the system has such handles the signal cannot go astray.
func send(p Process, sig syscall.Signal) error {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer func() { _ = handle.Release() }() // nothing depends on it
	if !isAlive(p) {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func freeze(p Process) error { return send(p, syscall.SIGSTOP) }
func wakeUp(p Process) error { return send(p, syscall.SIGCONT) }

func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return errLocked
	}
	return err
}
