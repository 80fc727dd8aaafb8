package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Of reads the quota of the control group that pid is in.
func Of(pid int) Quota {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return Quota{}
	}
	return in("/sys/fs/cgroup", string(groups))
}

// in finds the tightest quota among the groups that /proc/PID/cgroup names and their
// ancestors, in both versions of control groups.
func in(root, groups string) (tightest Quota) {
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
			if t := read(filepath.Join(top, dir)); t.Known && (!tightest.Known || t.Cores < tightest.Cores) {
				tightest = t
			}
			if dir == "/" {
				break
			}
		}
	}
	return tightest
}

func readV2(dir string) Quota {
	data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	f := strings.Fields(string(data))
	if err != nil || len(f) != 2 {
		return Quota{}
	}
	quota, err := strconv.ParseFloat(f[0], 64)
	period, err2 := strconv.ParseFloat(f[1], 64)
	if err != nil || err2 != nil || period <= 0 { // "max": no quota
		return Quota{}
	}
	return withStat(dir, quota/period)
}

func readV1(dir string) Quota {
	number := func(name string) float64 {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0
		}
		v, _ := strconv.ParseFloat(strings.TrimSpace(string(data)), 64) // 0: no quota
		return v
	}
	quota, period := number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")
	if quota <= 0 || period <= 0 { // -1: no quota
		return Quota{}
	}
	return withStat(dir, quota/period)
}

// withStat adds the effects of a quota.
func withStat(dir string, cores float64) Quota {
	t := Quota{Cores: cores, Known: true}
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
			t.Periods = n
		case name == "nr_throttled":
			t.Held = n
		case name == "throttled_usec":
			t.HeldFor = time.Duration(n) * time.Microsecond
		case name == "throttled_time":
			t.HeldFor = time.Duration(n)
		}
	}
	return t
}
