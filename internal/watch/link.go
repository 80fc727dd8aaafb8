package watch

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	gnet "github.com/shirou/gopsutil/v4/net"
)

// Link is a network device of this machine: what went through it in each direction, and
// its capacity, in bytes per second.
type Link struct{ In, Out, Carries float64 }

// linkSums are a device's counters.
type linkSums struct {
	in, out uint64
	carries float64
}

// linksSoFar returns the devices whose speed is known, by name: physical ones, not
// virtual ones. Systems other than Linux do not report the speed.
func linksSoFar(ctx context.Context) map[string]linkSums {
	all, err := gnet.IOCountersWithContext(ctx, true)
	if err != nil {
		return nil
	}
	out := map[string]linkSums{}
	for _, c := range all {
		if v := speed("/sys/class/net", c.Name); v > 0 {
			out[c.Name] = linkSums{c.BytesRecv, c.BytesSent, v}
		}
	}
	return out
}

// speed returns how many bytes per second a device can carry in one direction; 0 if
// unknown.
func speed(devices, name string) float64 {
	dir := filepath.Join(devices, name)
	if _, err := os.Stat(filepath.Join(dir, "device")); err != nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, "speed"))
	if err != nil {
		return 0
	}
	megabits, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil || megabits <= 0 {
		return 0
	}
	return megabits * 1e6 / 8
}

// busiest returns the device that came closest to its capacity over that many seconds,
// nil if there is none.
func busiest(before, now map[string]linkSums, seconds float64) (most *Link) {
	for name, n := range now {
		b, known := before[name]
		if !known || n.in < b.in || n.out < b.out {
			continue
		}
		l := Link{float64(n.in-b.in) / seconds, float64(n.out-b.out) / seconds, n.carries}
		if most == nil || max(l.In, l.Out)/l.Carries > max(most.In, most.Out)/most.Carries {
			most = &l
		}
	}
	return most
}
