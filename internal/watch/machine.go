package watch

import (
	"context"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
)

// MachineUse is what the whole machine used over an interval. Unknown values are nil.
type MachineUse struct {
	// CPU is the number of busy processors, InDisk that of processors idle only because
	// of a disk.
	CPU, InDisk *float64
	// DiskBusy is the fraction of the time in which the busiest disk was active;
	// DiskRead and DiskWritten are bytes per second over all disks.
	DiskBusy, DiskRead, DiskWritten *float64
	// Link is the network device that was closest to its capacity.
	Link *Link
}

// machineSums are the machine's counters.
type machineSums struct {
	cpu, disks    bool
	busy, inDisk  float64           // seconds of all processors
	worked        map[string]uint64 // milliseconds of each disk
	read, written uint64
	links         map[string]linkSums
}

func machineSoFar(ctx context.Context) (s machineSums) {
	if all, err := cpu.TimesWithContext(ctx, false); err == nil && len(all) == 1 {
		t := all[0]
		s.cpu, s.busy, s.inDisk = true, t.User+t.System+t.Nice+t.Irq+t.Softirq, t.Iowait
	}
	s.links = linksSoFar(ctx)
	disks, err := disk.IOCountersWithContext(ctx)
	if err != nil || len(disks) == 0 {
		return s
	}
	s.disks, s.worked = true, make(map[string]uint64, len(disks))
	for name, d := range disks {
		if part(name, disks) {
			continue
		}
		s.worked[name] = d.IoTime
		s.read, s.written = s.read+d.ReadBytes, s.written+d.WriteBytes
	}
	return s
}

// part reports whether a device is a part of another or composed of others, and so is
// counted with those.
func part(name string, all map[string]disk.IOCountersStat) bool {
	for _, made := range []string{"loop", "ram", "dm-", "md", "zram"} {
		if strings.HasPrefix(name, made) {
			return true
		}
	}
	whole := strings.TrimRight(name, "0123456789")
	_, known := all[whole]
	if !known && strings.HasSuffix(whole, "p") {
		_, known = all[strings.TrimSuffix(whole, "p")]
	}
	return known && whole != name
}

// since returns what was used in the given number of seconds since before.
func (s machineSums) since(before machineSums, seconds float64) *MachineUse {
	u := &MachineUse{Link: busiest(before.links, s.links, seconds)}
	if s.cpu && before.cpu {
		u.CPU, u.InDisk = new(within(s.busy-before.busy, seconds)), new(max(s.inDisk-before.inDisk, 0)/seconds)
	}
	if s.disks && before.disks && s.read >= before.read && s.written >= before.written {
		most := uint64(0)
		for name, ms := range s.worked {
			if b, ok := before.worked[name]; ok && ms > b {
				most = max(most, ms-b)
			}
		}
		u.DiskBusy = new(min(float64(most)/1000/seconds, 1))
		u.DiskRead, u.DiskWritten = new(float64(s.read-before.read)/seconds), new(float64(s.written-before.written)/seconds)
	}
	return u
}

// atLeast returns the use with no less processor time than that of one of its processes: the machine's is counted in
// coarser ticks.
func (u *MachineUse) atLeast(cpu *float64) *MachineUse {
	if u.CPU != nil && cpu != nil {
		u.CPU = new(max(*u.CPU, *cpu))
	}
	return u
}

// within returns how many processors a time of their work is over some seconds. The counters
// are read one after the other, so it may come to slightly more than there are.
func within(used, seconds float64) float64 {
	return min(max(used, 0)/seconds, float64(runtime.NumCPU()))
}
