package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
)

// clear ends the processes of the record, the last started first, and deletes the
// service's folder. If a process does not end, the folder stays.
func (h *host) clear(ctx context.Context) error {
	var living []Process
	if h.rec != nil {
		living = slices.DeleteFunc(slices.Clone(h.rec.Processes), func(p Process) bool { return !IsAlive(p) })
	}
	if h.rec != nil && h.rec.Disk != nil && IsAlive(h.rec.Disk.Process) {
		living = slices.Insert(living, 0, h.rec.Disk.Process)
	}
	slices.Reverse(living) // replicas before masters: a master waits for its replicas
	for _, p := range living {
		h.step("stopping %s", p.Name)
		if err := errors.Join(Send(p, p.Ending()), WakeUp(p)); err != nil {
			return fmt.Errorf("stop %s: %w", p.Name, err)
		}
	}
	if left := WaitGone(ctx, living, StopLimit); len(left) > 0 {
		for _, p := range left {
			h.step("killing %s, which did not stop by itself", p.Name)
			if err := Send(p, syscall.SIGKILL); err != nil {
				return fmt.Errorf("kill %s: %w", p.Name, err)
			}
		}
		if left = WaitGone(context.WithoutCancel(ctx), left, StopLimit); len(left) > 0 {
			return fmt.Errorf("%s (process %d) is still there after being killed", left[0].Name, left[0].PID)
		}
	}
	if h.rec != nil && h.rec.Disk != nil {
		if err := powercut.Unmount(h.rec.Disk.At); err != nil { // its process may have been killed
			return err
		}
	}
	if h.rec != nil && h.rec.Away != "" {
		if err := os.RemoveAll(h.rec.Away); err != nil {
			return fmt.Errorf("delete the data: %w", err)
		}
	}
	if err := os.RemoveAll(h.Dir); err != nil {
		return fmt.Errorf("delete the data: %w", err)
	}
	return nil
}

// Kill ends one process of a service at once, as a crash would (SIGKILL), and returns
// when it is gone. The service's other processes and the data stay, and Restart brings
// the process back.
func Kill(ctx context.Context, dir, name, process string) error {
	p, err := running(dir, name, process)
	if err != nil {
		return err
	}
	all := Family(p) // all are stopped first, so that no more are started
	for _, p := range all {
		if err := Send(p, syscall.SIGKILL); err != nil {
			return fmt.Errorf("lab: kill %s: %w", process, err)
		}
	}
	if left := WaitGone(ctx, all, StopLimit); len(left) > 0 {
		return fmt.Errorf("lab: kill %s: process %d is still there", process, p.PID)
	}
	return nil
}

// Pause stops one process of a service in its tracks (SIGSTOP): its connections
// stay open and nothing answers, until Resume.
func Pause(dir, name, process string) error {
	p, err := running(dir, name, process)
	if err == nil {
		err = Freeze(p)
	}
	if err != nil {
		return fmt.Errorf("lab: pause %s: %w", process, err)
	}
	return nil
}

// Resume lets a paused process continue (SIGCONT).
func Resume(dir, name, process string) error {
	p, err := running(dir, name, process)
	if err == nil {
		err = WakeUp(p)
	}
	if err != nil {
		return fmt.Errorf("lab: resume %s: %w", process, err)
	}
	return nil
}

// Restart restarts a process of a service that has died or was killed, on the same port
// and in the same folder, and returns when it answers.
func Restart(ctx context.Context, dir, name, process string) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	unlock, err := Lock(ctx, dir, name, nil)
	if err != nil {
		return err
	}
	defer unlock()
	h, err := newHost(dir, s, Options{})
	if err != nil {
		return err
	}
	if h.rec, err = load(h.Dir); err != nil {
		return fault.Store(fmt.Errorf("lab: restart %s: %w", process, ErrNotRunning), "perfbench lab up "+name)
	}
	p := h.rec.process(process)
	if p == nil {
		return fault.Input(fmt.Errorf("lab: restart: %s has no process %q", name, process), "")
	}
	if IsAlive(*p) {
		return fault.Input(fmt.Errorf("lab: restart %s: it runs", process), "kill it first")
	}
	if s.lock != "" {
		if err := os.Remove(filepath.Join(p.Dir, s.lock)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("lab: restart %s: %w", process, err)
		}
	}
	limit := startLimit
	if s.limit > 0 { // it may take long: Java or RabbitMQ
		limit *= 2
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready within %v", limit))
	defer cancel()
	if s.takeover != nil {
		err = h.rejoin(ctx, p)
	} else {
		err = h.relaunch(ctx, p)
	}
	if err != nil {
		return fault.Store(fmt.Errorf("lab: restart %s: %w", process, err), "")
	}
	return nil
}

// running returns a process that is alive.
func running(dir, name, process string) (Process, error) {
	s, err := find(name)
	if err != nil {
		return Process{}, err
	}
	h, err := newHost(dir, s, Options{})
	if err != nil {
		return Process{}, err
	}
	r, err := load(h.Dir)
	if err != nil {
		return Process{}, fmt.Errorf("lab: %s is %w", name, ErrNotRunning)
	}
	if p := r.process(process); p != nil && IsAlive(*p) {
		return *p, nil
	}
	return Process{}, fmt.Errorf("lab: %s of %s is %w", process, name, ErrNotRunning)
}
