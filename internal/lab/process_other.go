//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package lab

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"github.com/perfbench/perfbench/internal/fault"
)

var errSystem = fault.Store(errors.New("the lab does not work on this system"),
	"it needs Linux or macOS; --target embedded: needs no server")

// Detach is not supported.
func Detach(*exec.Cmd, bool) error { return errSystem }

// ActAs is not supported.
func ActAs(*exec.Cmd, string) error { return errSystem }

// Family returns the process alone.
func Family(p Process) []Process { return []Process{p} }

// IsAlive is not supported and returns false.
func IsAlive(Process) bool { return false }

// Birth is not supported and returns "".
func Birth(int) string { return "" }

// Send is not supported.
func Send(Process, syscall.Signal) error { return errSystem }

// Freeze is not supported.
func Freeze(Process) error { return errSystem }

// WakeUp is not supported.
func WakeUp(Process) error { return errSystem }

func tryLock(*os.File) error { return errSystem }

// Stopped returns false: nothing is started on this system.
func Stopped(Process) bool { return false }
