package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

const (
	// StopLimit is how long a process may take from SIGTERM to SIGKILL.
	StopLimit = 10 * time.Second
	pollEvery = 20 * time.Millisecond  // between two checks for something awaited
	lockEvery = 100 * time.Millisecond // between attempts to get a lock that another process holds
)

// Process is one server process.
type Process struct {
	Name    string   `json:"name"`             // "redis", "node-1", "sentinel-3"
	PID     int      `json:"pid"`              // the system's process id
	Birth   string   `json:"birth"`            // when it was started, in a form specific to the system, which differs for a recycled pid
	Addr    string   `json:"addr"`             // 127.0.0.1:port that clients use
	Command []string `json:"command"`          // what Restart runs again
	Dir     string   `json:"dir"`              // its configuration, data and log
	User    string   `json:"user,omitempty"`   // the user it runs as; empty: the user who started it
	Stop    string   `json:"stop,omitempty"`   // the signal that ends it: "INT", "KILL"; empty is TERM
	Alive   bool     `json:"alive"`            // as of now
	Paused  bool     `json:"paused,omitempty"` // as of now
	// Role is Primary or Replica, and Behind how far a replica is behind its primary, in words such as
	// "nothing" or "16 KB"; both as of now, and only from Look.
	Role string `json:"role,omitempty"`
	// Of is the primary that a replica follows, where there are several; from Look, too.
	Of     string `json:"of,omitempty"`
	Behind string `json:"behind,omitempty"`
}

// Ending returns the signal that ends p: in good order, unless its data will not be
// needed.
func (p Process) Ending() syscall.Signal {
	switch p.Stop {
	case "INT":
		return syscall.SIGINT
	case "KILL":
		return syscall.SIGKILL
	}
	return syscall.SIGTERM
}

// WaitGone waits until the processes are gone, limit is over or ctx ends, and
// returns those that are not.
func WaitGone(ctx context.Context, ps []Process, limit time.Duration) []Process {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	left := slices.Clone(ps)
	_ = Poll(ctx, func() error { // what is left says enough
		if left = slices.DeleteFunc(left, func(p Process) bool { return !IsAlive(p) }); len(left) > 0 {
			return errors.New("still there")
		}
		return nil
	})
	return left
}

// Permanent is an error that waiting will not cure.
type Permanent struct{ Err error }

// Error returns the text of Err.
func (p Permanent) Error() string { return p.Err.Error() }

// Unwrap returns Err.
func (p Permanent) Unwrap() error { return p.Err }

// Poll calls try until it returns nil or a Permanent error, or ctx ends; in that case
// the error contains the cause and the last error of try.
func Poll(ctx context.Context, try func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if p, ok := errors.AsType[Permanent](err); ok {
			return p.Err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}
