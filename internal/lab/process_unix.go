//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// Detach puts the command into its own session, detached from our terminal and its
// Ctrl-C.
func Detach(cmd *exec.Cmd, tied bool) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if tied {
		tie(cmd.SysProcAttr)
	}
	return nil
}

// IsAlive reports whether p is the process that was started, and is running. If it is a
// child of ours that has ended, it is reaped.
func IsAlive(p Process) bool {
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
		return err == nil && pid == 0 // our child, still alive; an error means it is not our child
	}
	return true
}

// Birth returns when the process was started, "" if there is none.
func Birth(pid int) string {
	born, _ := look(pid)
	return born
}

// Send signals p, unless it is gone. The handle is taken before the start times are
// compared, so on systems that have such handles the signal cannot hit another process.
func Send(p Process, sig syscall.Signal) error {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer func() { _ = handle.Release() }() // nothing depends on it
	if !IsAlive(p) {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// ActAs makes the command run as another user of the system; "" means ourselves.
func ActAs(cmd *exec.Cmd, name string) error {
	if name == "" {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("user %s: %w", name, err)
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return nil
}

// Family stops p and returns it with the processes that it has started, which in some
// servers serve its clients. p comes first.
func Family(p Process) []Process {
	_ = Send(p, syscall.SIGSTOP) // what cannot be stopped now cannot be killed later, and says so then
	all := []Process{p}
	for _, pid := range children(p.PID) {
		all = append(all, Process{Name: p.Name, PID: pid, Birth: Birth(pid)})
	}
	return all
}

// Freeze stops p and the processes that it has started, and returns when they have
// stopped.
func Freeze(p Process) error {
	var errs []error
	all := Family(p)
	for _, p := range all {
		errs = append(errs, Send(p, syscall.SIGSTOP))
	}
	// The system stops one thread after the other, so requests may still be answered in
	// the meantime.
	ctx, cancel := context.WithTimeout(context.Background(), StopLimit)
	defer cancel()
	errs = append(errs, Poll(ctx, func() error {
		for _, p := range all {
			if IsAlive(p) && !isStopped(p.PID) {
				return fmt.Errorf("process %d does not stop", p.PID)
			}
		}
		return nil
	}))
	return errors.Join(errs...)
}

// WakeUp lets p and the processes that it has started continue.
func WakeUp(p Process) error {
	var errs []error
	for _, pid := range children(p.PID) {
		errs = append(errs, Send(Process{PID: pid, Birth: Birth(pid)}, syscall.SIGCONT))
	}
	return errors.Join(append(errs, Send(p, syscall.SIGCONT))...)
}

func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return errLocked
	}
	return err
}

// Stopped reports whether p is alive and has been stopped in its tracks.
func Stopped(p Process) bool { return IsAlive(p) && isStopped(p.PID) }
