package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
)

// Disk is the process that serves a file system whose power can be cut, and its folder.
type Disk struct {
	Process
	At string `json:"at"`
	// Slow is how much longer fsync takes, as of now.
	Slow time.Duration `json:"slow_ns,omitempty"`
}

// lostDisk is what is broken where nothing can be put right.
const lostDisk = "its file system has ended, and with it the data"

// lostDisk reports whether the file system of running servers has ended.
func (s State) lostDisk() bool { return s.Disk != nil && !s.Disk.Alive && s.Condition != Starting }

// checkDisk returns why a service cannot be started with a file system of that kind.
func (s Service) checkDisk(o Options) error {
	if o.Disk == nil {
		return nil
	}
	if !s.powered {
		var names []string
		for _, s := range Services() {
			if s.powered {
				names = append(names, s.Name)
			}
		}
		return fault.Input(fmt.Errorf("lab: the power of %s cannot be cut", s.Name), "it can be for "+strings.Join(names, ", ")+"; kill is for all")
	}
	if err := powercut.Available(); err != nil {
		return fault.Input(fmt.Errorf("lab: the power of %s cannot be cut: %w", s.Name, err), "it needs Linux with /dev/fuse and the right to mount; without --power-cut, kill shows a process crash")
	}
	return nil
}

// dataFolder makes the folder of a server's data, for a user of the system: one that loses in a
// power cut what was not synced, if such was asked for.
func (h *host) dataFolder(ctx context.Context, dir, as string) (string, error) {
	at, durable := filepath.Join(dir, "data"), filepath.Join(dir, "durable")
	if h.opts.Disk == nil {
		return at, nil
	}
	for _, folder := range []string{at, durable} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", err
		}
	}
	if err := own(at, as); err != nil {
		return "", err
	}
	h.step("mounting a file system whose power can be cut")
	logs := h.folder("disk")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return "", err
	}
	h.rec.Disk = &Disk{Process: Process{Name: "disk", Command: append(slices.Clone(h.opts.Disk), durable, at), Dir: logs}, At: at}
	p := &h.rec.Disk.Process
	if err := h.launch(p); err != nil {
		return "", err
	}
	return at, Poll(ctx, func() error {
		switch {
		case !IsAlive(*p):
			return Permanent{Err: h.died(*p)}
		case !powercut.Mounted(at):
			return errors.New("the file system is not mounted yet")
		}
		return nil
	})
}
