package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostThreads is how many threads of a process are looked at.
const mostThreads = 64

// queued is for how many seconds the threads of a process have waited for a processor so
// far, and its first thread; false where that is not told, or of too many.
func queued(pid int) (all, first float64, ok bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if first, ok = waited(filepath.Join(dir, "schedstat")); !ok {
		return 0, 0, false
	}
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*", "schedstat"))
	if err != nil || len(tasks) > mostThreads {
		return 0, first, false
	}
	for _, t := range tasks {
		if v, ok := waited(t); ok { // one that has ended meanwhile waits no more
			all += v
		}
	}
	return all, first, true
}

// waited reads what a thread has waited for a processor, in seconds.
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

// inDisk says whether the first thread of a process waits for a disk at this moment.
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
