package ownership

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// machine identifies this boot of the system together with the PID namespace that
// we see, since containers number processes on their own; "" if it cannot be
// determined.
func machine() string {
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + pids
}

// born returns when a process was started, in clock ticks since boot; "" if there
// is no process with that number, or it has ended.
func born(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// "pid (name) state …": the name may contain anything. According to proc(5),
	// field 3 is the state and 22 the start time.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}
