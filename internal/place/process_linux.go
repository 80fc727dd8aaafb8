package place

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// machine names this run of this system together with the numbering of processes that
// we see, which containers have of their own; "" when it cannot be told.
func machine() string {
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + pids
}

// born is when a process was started, in clock ticks since the system was; "" when
// there is none of that number, or one that has ended.
func born(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// "pid (name) state …": the name may hold anything. Of proc(5) field 3 is the state,
	// 22 the start time.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}
