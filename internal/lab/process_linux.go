package lab

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

// bootID identifies this boot of the system, since start times count from boot.
var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it start times are merely less unique
	return strings.TrimSpace(string(b))
})

// look returns when the process was started, in clock ticks since a certain boot, and
// whether it has ended but has not been reaped. "" means that there is no such process.
func look(pid int) (born string, ended bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// "pid (name) state …": the name may contain anything, including parentheses.
	_, rest, ok := bytes.Cut(b[max(0, bytes.LastIndexByte(b, ')')):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 20 {
		return "", false
	}
	// According to proc(5), field 3 is the state, 20 the number of threads, and 22 the
	// start time. If the first thread is dead, the process has not ended as long as
	// other threads still hold its port.
	state, threads, start := fields[0], fields[17], fields[19]
	return bootID() + "/" + start, state == "X" || state == "Z" && (threads == "0" || threads == "1")
}

// children returns the living processes that pid has started.
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
