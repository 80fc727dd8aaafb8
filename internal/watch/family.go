package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat is what /proc reports about a process.
type Stat struct {
	Name   string
	Parent int
	// CPU is in seconds of processor time, including that of children that have ended.
	CPU float64
}

// StatOf reads /proc/PID/stat; false if there is no /proc, or no such process.
func StatOf(pid int) (s Stat, ok bool) {
	const ticks = 100 // per second; the kernel uses this unit for all programs
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, false
	}
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return s, false
	}
	s.Name = string(text[from+1 : to])
	f := strings.Fields(string(text[to+1:]))
	if len(f) < 15 {
		return s, false
	}
	if s.Parent, err = strconv.Atoi(f[1]); err != nil {
		return s, false
	}
	for _, v := range f[11:15] { // utime stime cutime cstime
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return s, false
		}
		s.CPU += float64(n) / ticks
	}
	return s, true
}

// FamilyCPU returns the processor time, in seconds, of a process and its children, for
// a server that has a process per connection; -1 if unknown.
func FamilyCPU(pid int) float64 {
	p, ok := StatOf(pid)
	if !ok {
		return -1
	}
	sum := p.CPU
	for _, child := range children(pid) {
		if c, ok := StatOf(child); ok && c.Parent == pid {
			sum += c.CPU
		}
	}
	return sum
}

// familyMemory returns the resident memory, in bytes, of a process and its children, for
// a server that has a process per connection: what each has for itself and, once, the
// most shared memory and the most of files that any of them has touched. A sum of the
// resident memory of all would count what they share once for each. It returns false if
// the system does not tell.
func familyMemory(pid int) (sum int64, ok bool) {
	own, ok := memoryOf(pid)
	if !ok {
		return 0, false
	}
	all := []resident{own}
	for _, child := range children(pid) {
		if s, ok := StatOf(child); ok && s.Parent == pid {
			theirs, _ := memoryOf(child) // one that has ended has none
			all = append(all, theirs)
		}
	}
	return together(all), true
}

// together returns the memory of processes that share some of it.
func together(all []resident) int64 {
	var sum resident
	for _, m := range all {
		sum.alone += m.alone
		sum.shared, sum.files = max(sum.shared, m.shared), max(sum.files, m.files)
	}
	return sum.alone + sum.shared + sum.files
}

// resident is the resident memory of a process by its kind, in bytes.
type resident struct{ alone, shared, files int64 }

// memoryOf reads /proc/PID/status; false if it is not there, or does not tell memory by
// its kind.
func memoryOf(pid int) (m resident, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return m, false
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var to *int64
		switch name {
		case "RssAnon":
			to = &m.alone
		case "RssShmem":
			to = &m.shared
		case "RssFile":
			to = &m.files
		default:
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return m, false
		}
		*to, ok = n<<10, true
	}
	return m, ok
}

// memoryNote says what the memory of a process is that has one for each connection;
// empty for another.
func (w *Process) memoryNote() string {
	if !w.family {
		return ""
	}
	if _, ok := familyMemory(w.PID()); ok {
		return "memory is what each of its processes has for itself and, once, the most shared memory that one of them has touched"
	}
	return "memory is that of its first process alone"
}

// children returns which processes a process with one thread has started: as the kernel
// lists them or, if it does not, all that may be.
func children(pid int) (pids []int) {
	self := strconv.Itoa(pid)
	text, err := os.ReadFile(filepath.Join("/proc", self, "task", self, "children"))
	names := strings.Fields(string(text))
	if err != nil {
		names, _ = entries("/proc") // it is there: the process was found in it
	}
	for _, n := range names {
		if child, err := strconv.Atoi(n); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}
