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

func detach(*exec.Cmd, bool) error       { return errSystem }
func actAs(*exec.Cmd, string) error      { return errSystem }
func family(p Process) []Process         { return []Process{p} }
func isAlive(Process) bool               { return false }
func birth(int) string                   { return "" }
func send(Process, syscall.Signal) error { return errSystem }
func freeze(Process) error               { return errSystem }
func wakeUp(Process) error               { return errSystem }
func tryLock(*os.File) error             { return errSystem }
