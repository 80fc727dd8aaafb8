package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// throttling counts the periods of a CPU quota.
type throttling struct {
	all, held int64
	known     bool
}

// throttlingOf reads them for the group of processes that pid is in; they are not
// known where there is no quota.
func throttlingOf(pid int) throttling {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return throttling{}
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[1] == "":
			if t := readThrottling(filepath.Join("/sys/fs/cgroup", fields[2], "cpu.stat")); t.known {
				return t
			}
		case strings.Contains(","+fields[1]+",", ",cpu,"):
			if t := readThrottling(filepath.Join("/sys/fs/cgroup/cpu", fields[2], "cpu.stat")); t.known {
				return t
			}
		}
	}
	return throttling{}
}

func readThrottling(path string) (t throttling) {
	data, err := os.ReadFile(path)
	if err != nil {
		return t
	}
	for line := range strings.Lines(string(data)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
		case name == "nr_periods":
			t.all, t.known = n, n > 0
		case name == "nr_throttled":
			t.held = n
		}
	}
	return t
}
