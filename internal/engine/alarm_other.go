//go:build !linux

package engine

import (
	"errors"
	"time"
)

// alarm would wake a goroutine more precisely than the runtime's timers; this system
// has none.
type alarm struct{}

func newAlarm() (*alarm, error) { return nil, errors.ErrUnsupported }

func (*alarm) sleep(time.Duration) bool { return false }

func (*alarm) close() {}

func virtualTime() bool { return false }
