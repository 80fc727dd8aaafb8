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
