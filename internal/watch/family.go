package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat is what /proc tells of a process.
type Stat struct {
	Name   string
	Parent int
	// CPU is seconds of processor time, those of children which have ended included.
	CPU float64
}

// StatOf reads /proc/PID/stat; false where there is no /proc, or no such process.
func StatOf(pid int) (s Stat, ok bool) {
	const ticks = 100 // a second; the kernel says so to all programs
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

// FamilyCPU is the processor time of a process and its children in seconds, as a
// server uses that has a process for each connection; -1 when it is not told.
func FamilyCPU(pid int) float64 {
	p, ok := StatOf(pid)
	if !ok {
		return -1
	}
	sum := p.CPU
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return -1
	}
	for _, n := range names {
		child, err := strconv.Atoi(filepath.Base(n))
		if err != nil {
			continue
		}
		if c, ok := StatOf(child); ok && c.Parent == pid {
			sum += c.CPU
		}
	}
	return sum
}
