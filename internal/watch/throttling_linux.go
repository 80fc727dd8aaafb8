package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// throttling is the CPU quota of a control group and what came of it.
type throttling struct {
	// cores is the quota in processors.
	cores float64
	// all periods, those in which the group was held back, and for how long.
	all, held int64
	heldFor   time.Duration
	known     bool
}

// throttlingOf reads it for the group of processes that pid is in; it is not known
// where there is no quota.
func throttlingOf(pid int) throttling {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return throttling{}
	}
	return throttlingIn("/sys/fs/cgroup", string(groups))
}

// throttlingIn finds the tightest quota among the groups that /proc/PID/cgroup names
// and those above them, in both versions of control groups.
func throttlingIn(root, groups string) (tightest throttling) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		top, read := root, readV2
		if fields[1] != "" {
			if !strings.Contains(","+fields[1]+",", ",cpu,") {
				continue
			}
			top, read = filepath.Join(root, "cpu"), readV1
		}
		for dir := filepath.Clean("/" + fields[2]); ; dir = filepath.Dir(dir) {
			if t := read(filepath.Join(top, dir)); t.known && (!tightest.known || t.cores < tightest.cores) {
				tightest = t
			}
			if dir == "/" {
				break
			}
		}
	}
	return tightest
}

func readV2(dir string) throttling {
	data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	f := strings.Fields(string(data))
	if err != nil || len(f) != 2 {
		return throttling{}
	}
	quota, err := strconv.ParseFloat(f[0], 64)
	period, err2 := strconv.ParseFloat(f[1], 64)
	if err != nil || err2 != nil || period <= 0 { // "max": no quota
		return throttling{}
	}
	return withStat(dir, quota/period)
}

func readV1(dir string) throttling {
	number := func(name string) float64 {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0
		}
		v, _ := strconv.ParseFloat(strings.TrimSpace(string(data)), 64) // 0: no quota is known
		return v
	}
	quota, period := number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")
	if quota <= 0 || period <= 0 { // -1: no quota
		return throttling{}
	}
	return withStat(dir, quota/period)
}

// withStat adds what became of a quota.
func withStat(dir string, cores float64) throttling {
	t := throttling{cores: cores, known: true}
	data, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return t
	}
	for line := range strings.Lines(string(data)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
		case name == "nr_periods":
			t.all = n
		case name == "nr_throttled":
			t.held = n
		case name == "throttled_usec":
			t.heldFor = time.Duration(n) * time.Microsecond
		case name == "throttled_time":
			t.heldFor = time.Duration(n)
		}
	}
	return t
}
