package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Machine is what was observed of this machine.
type Machine struct {
	// System is the operating system, CPUs how many processors it has.
	System string
	CPUs   int
	// Files is how many files this process may have open; 0 if unknown.
	Files int64
	// Seen is what a run would observe.
	Seen verdict.Observed
	// Kernel returns the content of a file in which Linux reports about itself, "" if
	// there is none.
	Kernel func(path string) string
}

// beats is how often timers are tested: as often as their percentiles need.
const beats = 21

// LookAround observes this machine for about a second; root is its file system.
func LookAround(ctx context.Context, root fs.FS) Machine {
	w := self.Watch(ctx)
	timer := time.NewTimer(self.Beat)
	defer timer.Stop()
	for range beats {
		set := time.Now()
		timer.Reset(self.Beat)
		select {
		case <-timer.C:
			w.Beaten(time.Since(set))
		case <-ctx.Done():
		}
	}
	return Machine{
		System: runtime.GOOS, CPUs: runtime.NumCPU(), Files: self.FileLimit(), Seen: w.Observed(ctx),
		Kernel: func(path string) string {
			data, _ := fs.ReadFile(root, path) // what cannot be read is unknown
			return strings.TrimSpace(string(data))
		},
	}
}

const (
	// fewFiles is how many files the connections of a larger run may need; fewPorts is
	// the same for ports.
	fewFiles, fewPorts = 4096, 10_000
	// lateTimer is the lateness of our timers that becomes visible in response times;
	// dearClock is the cost of reading the clock that does.
	lateTimer, dearClock = time.Millisecond, 200 * time.Nanosecond
	// busy is the fraction of the machine that others may use, stolen the fraction that
	// a hypervisor may withhold.
	busy, stolen = 0.25, 0.02
)

// Section says what on this machine would spoil a run.
func (m Machine) Section() Section {
	var l list
	m.processors(&l)
	m.clocks(&l)
	if m.Files == 0 {
		l.unknown("open files", "the limit is not known")
	} else {
		l.either(m.Files >= fewFiles, "open files", fmt.Sprintf("this process may have %s open, and each connection is one", units.Plural(int(m.Files), "file")), "ulimit -n 65536 raises it in a shell, LimitNOFILE= in a unit of systemd")
	}
	m.ports(&l)
	return Section{"this machine", l}
}

func (m Machine) processors(l *list) {
	o := m.Seen
	found := units.Plural(m.CPUs, "processor") + " for perfbench and whatever else runs here"
	l.either(m.CPUs > 1, "processors", found, "perfbench shares the only processor with the store: run perfbench on a separate machine")
	switch {
	case o.Quota == 0:
		l.good("CPU quota", "none")
	case o.Throttled > 0:
		l.doubt("CPU quota", fmt.Sprintf("%s of %s, and it held perfbench back just now", number(o.Quota), units.Plural(m.CPUs, "processor")), "raise the quota of the container: perfbench's own stalls look like those of the store")
	default:
		l.either(o.Quota >= float64(m.CPUs) || o.Quota >= 2, "CPU quota", fmt.Sprintf("%s of %s", number(o.Quota), units.Plural(m.CPUs, "processor")), "give the container two processors or more; GOMAXPROCS should not be above the quota")
	}
	if o.Machine > 0 {
		others := max(o.Machine-o.CPU, 0) / float64(m.CPUs)
		l.either(others < busy, "other work", fmt.Sprintf("%.0f %% of the machine is in use by others", 100*others), "stop them while you measure, or measure from another machine")
	}
	if o.Stolen >= stolen {
		l.doubt("hypervisor", fmt.Sprintf("%.0f %% of the time goes to other guests", 100*o.Stolen), "measure on a machine with processors of its own")
	}
	if g := m.Kernel("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); g != "" {
		l.either(g != "powersave" || has(m.Kernel("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"), "pstate"), "frequency", "the governor is "+g, "cpupower frequency-set -g performance: processors that clock down make the first calls after a pause slow")
	}
}

func (m Machine) clocks(l *list) {
	if source := m.Kernel("sys/devices/system/clocksource/clocksource0/current_clocksource"); source != "" {
		slow := source == "hpet" || source == "acpi_pm" || source == "jiffies"
		l.either(!slow, "clock source", source, "each operation reads the clock several times, and this one is slow to read: boot with clocksource=tsc if the processor has a steady one")
	}
	cost := time.Duration(m.Seen.ClockCost)
	found := "reading it takes " + units.Duration(cost)
	if tick := time.Duration(m.Seen.ClockTick); tick > 0 {
		found += ", its finest step is " + units.Duration(tick)
	}
	l.either(cost < dearClock, "clock", found, "times below a few microseconds are not reliable here")
	if m.Seen.WakeP90 == 0 {
		l.unknown("timers", "too few fired to determine how late they are")
		return
	}
	p50, p90 := time.Duration(m.Seen.WakeP50), time.Duration(m.Seen.WakeP90)
	l.either(p90 < lateTimer, "timers", fmt.Sprintf("they fire %s late, one in ten %s or more", units.Duration(p50), units.Duration(p90)), "with a target rate that counts as perfbench's own lateness (p99.lateness shows it): leave the machine to perfbench alone")
}

func (m Machine) ports(l *list) {
	words := strings.Fields(m.Kernel("proc/sys/net/ipv4/ip_local_port_range"))
	if len(words) != 2 {
		return
	}
	low, err1 := strconv.Atoi(words[0])
	high, err2 := strconv.Atoi(words[1])
	if err1 != nil || err2 != nil || high < low {
		return
	}
	l.either(high-low >= fewPorts, "ports", fmt.Sprintf("%d are free to connect from (%d to %d)", high-low+1, low, high), "sysctl -w net.ipv4.ip_local_port_range='1024 65535': runs that connect for each call use them up")
}

// beside checks those kernel settings that matter for a kind of server, if it runs on
// this machine.
func (m Machine) beside(l *list, driver string) {
	in := func(drivers ...string) bool {
		for _, d := range drivers {
			if d == driver {
				return true
			}
		}
		return false
	}
	if huge := m.Kernel("sys/kernel/mm/transparent_hugepage/enabled"); huge != "" && in("redis", "mysql", "postgres", "cassandra") {
		l.either(!strings.Contains(huge, "[always]"), "huge pages", "transparent huge pages are "+chosen(huge), "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled on the server: with always, forks of Redis and its peers stall")
	}
	if v := m.Kernel("proc/sys/vm/overcommit_memory"); v != "" && in("redis") {
		l.either(v == "1", "overcommit", "vm.overcommit_memory is "+v, "sysctl -w vm.overcommit_memory=1 on the server: else it cannot fork to save when much of the memory is in use")
	}
	if v := m.Kernel("proc/sys/net/core/somaxconn"); v != "" && in("redis", "mysql", "postgres") {
		n, err := strconv.Atoi(v)
		l.either(err == nil && n >= 511, "backlog", "net.core.somaxconn is "+v, "sysctl -w net.core.somaxconn=1024 on the server: connections that are made at once may be refused")
	}
	if v := m.Kernel("proc/sys/vm/max_map_count"); v != "" && in("cassandra") {
		n, err := strconv.Atoi(v)
		l.either(err == nil && n >= 262_144, "memory maps", "vm.max_map_count is "+v, "sysctl -w vm.max_map_count=1048575 on the server: Cassandra maps its files into memory")
	}
	if lines := strings.Split(m.Kernel("proc/swaps"), "\n"); len(lines) > 1 && in("redis", "cassandra", "coherence") {
		l.doubt("swap", units.Plural(len(lines)-1, "swap area")+" in use", "swapoff -a on the server: a store whose memory is on a disk is slow without warning")
	}
}

// chosen returns the word in brackets of "always [madvise] never".
func chosen(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if word, _, found := strings.Cut(rest, "]"); ok && found {
		return word
	}
	return s
}

func has(s, part string) bool { return strings.Contains(s, part) }

func quoted(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
