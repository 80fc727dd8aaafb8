//go:build !linux

package engine

import (
	"errors"
	"time"
)

// alarm wakes a goroutine more precisely than the runtime's timers, but this
// system has nothing to build it on.
type alarm struct{}

func newAlarm() (*alarm, error) { return nil, errors.ErrUnsupported }

func (*alarm) sleep(time.Duration) bool { return false }

func (*alarm) close() {}

func virtualTime() bool { return false }
