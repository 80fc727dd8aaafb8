package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostThreads is how many threads of a process are inspected at most.
const mostThreads = 64

// Queued returns for how many seconds all threads of a process have waited for a processor so far; false
// if that is unknown, or there are too many threads. It takes some 10 µs for each.
func Queued(pid int) (float64, bool) {
	all, _, ok := queued(pid)
	return all, ok
}

// queued returns for how many seconds all threads of a process, and its first thread,
// have waited for a processor so far; false if that is unknown, or there are too many
// threads.
func queued(pid int) (all, first float64, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	if first, ok = waited(dir + "/schedstat"); !ok {
		return 0, 0, false
	}
	tasks, err := entries(dir + "/task")
	if err != nil || len(tasks) > mostThreads {
		return 0, first, false
	}
	for _, t := range tasks {
		if v, ok := waited(dir + "/task/" + t + "/schedstat"); ok { // one that has ended in the meantime is skipped
			all += v
		}
	}
	return all, first, true
}

// familyQueued is queued for a process that has another one for each connection: for how
// many seconds all of them have waited. Those that have ended are no longer in it.
func familyQueued(pid int) (all float64, ok bool) {
	if all, ok = waited("/proc/" + strconv.Itoa(pid) + "/schedstat"); !ok {
		return 0, false
	}
	for _, child := range children(pid) {
		if s, ok := StatOf(child); !ok || s.Parent != pid {
			continue
		}
		if v, ok := waited("/proc/" + strconv.Itoa(child) + "/schedstat"); ok {
			all += v
		}
	}
	return all, true
}

// waited reads for how many seconds a thread has waited for a processor.
func waited(path string) (float64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0, false
	}
	ns, err := strconv.ParseFloat(f[1], 64)
	return ns / 1e9, err == nil
}

// entries returns the names in a folder.
func entries(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read
	return d.Readdirnames(-1)
}

// inDisk reports whether the first thread of a process is waiting for a disk right now.
func inDisk(pid int) (waits, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false, false
	}
	at := bytes.LastIndexByte(text, ')')
	if at < 0 || at+2 >= len(text) {
		return false, false
	}
	return text[at+2] == 'D', true
}
