package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// tie makes the child die with us.
func tie(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// bootID tells one run of the system from another, since births count from boot.
var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it births are less unique, no more
	return strings.TrimSpace(string(b))
})

// look returns the time at which the process was started, in clock ticks since
// a certain boot, and whether it has ended without having been collected. "" is
// no such process.
func look(pid int) (born string, ended bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// "pid (name) state …": the name may hold anything, brackets included.
	_, rest, ok := bytes.Cut(b[max(0, bytes.LastIndexByte(b, ')')):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 20 {
		return "", false
	}
	// Of proc(5): field 3 is the state, 20 the threads, 22 the start time. A dead
	// first thread is not the end while others of the process still hold its port.
	state, threads, start := fields[0], fields[17], fields[19]
	return bootID() + "/" + start, state == "X" || state == "Z" && (threads == "0" || threads == "1")
}

// children returns the processes that pid has started and that live.
func children(pid int) []int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children") // the pattern is right
	var all []int
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has just ended
		}
		for field := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(field); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// isStopped reports whether every thread of a process has been stopped.
func isStopped(pid int) bool {
	stats, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat") // the pattern is right
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue // it has just ended
		}
		if state := b[max(0, bytes.LastIndexByte(b, ')')):]; !bytes.HasPrefix(state, []byte(") T")) && !bytes.HasPrefix(state, []byte(") Z")) {
			return false
		}
	}
	return len(stats) > 0
}
