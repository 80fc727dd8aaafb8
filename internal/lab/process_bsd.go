//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package lab

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// tie does nothing: these systems do not support it.
func tie(*syscall.SysProcAttr) {}

// look returns when the process was started, as reported by ps, and whether it has
// ended but has not been reaped. "" means that there is no such process.
func look(pid int) (born string, ended bool) {
	cmd := exec.Command("ps", "-o", "lstart=", "-o", "stat=", "-p", strconv.Itoa(pid)) //nolint:noctx // takes milliseconds
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 {
		return "", false
	}
	last := len(fields) - 1
	return strings.Join(fields[:last], " "), strings.HasPrefix(fields[last], "Z")
}

// children returns the living processes that pid has started.
func children(pid int) []int {
	cmd := exec.Command("ps", "-axo", "pid=,ppid=") //nolint:noctx // takes milliseconds
	cmd.Env = []string{"LC_ALL=C", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var all []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if n, err := strconv.Atoi(fields[0]); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// isStopped reports whether a process has been stopped.
func isStopped(pid int) bool {
	cmd := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)) //nolint:noctx // takes milliseconds
	cmd.Env = []string{"LC_ALL=C", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}
