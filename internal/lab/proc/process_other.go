//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"github.com/perfbench/perfbench/internal/fault"
)

var errSystem = fault.Store(errors.New("the lab does not work on this system"),
	"it needs Linux or macOS; --target embedded: needs no server")

// Detach refuses.
func Detach(*exec.Cmd, bool) error { return errSystem }

// ActAs refuses.
func ActAs(*exec.Cmd, string) error { return errSystem }

// Family is the process alone.
func Family(p Process) []Process { return []Process{p} }

// IsAlive knows of no process.
func IsAlive(Process) bool { return false }

// Birth knows of no process.
func Birth(int) string { return "" }

// Send refuses.
func Send(Process, syscall.Signal) error { return errSystem }

// Freeze refuses.
func Freeze(Process) error { return errSystem }

// WakeUp refuses.
func WakeUp(Process) error { return errSystem }

func tryLock(*os.File) error { return errSystem }
