package session

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

// wholeSecond is how long a sample must span to count for the busiest second.
const wholeSecond = 500 * time.Millisecond

// process is a process with the sums of its samples: CPU, queue and bytes, multiplied by the
// seconds of each sample.
type process struct {
	verdict.Process // without the sums
	last            time.Time

	cpu, cpuFor, cpuMost float64
	queue, queueFor      float64
	in, out, netFor      float64
	rss                  int64
}

// company adds up what all processes but those that are watched used of this machine, second by second.
// The system counts the time of a machine by the ticks of its clock, and that of a process as it is: a
// second may have less of the whole than of its parts. That makes up for nothing in another second.
type company struct {
	rest    float64 // processors that are left of the current second
	seconds float64 // that perfbench's own sample of it spans
	unknown bool    // means that somebody's share of it is not known

	used, usedFor, most float64
}

// add takes the share that a process has of the current second.
func (c *company) add(m *watch.Member, x watch.Point, seconds float64) {
	if m.Elsewhere {
		return
	}
	whole := new(0.0)
	if m.Role == rundir.OfClient {
		c.seconds, whole = seconds, nil
		if x.Machine != nil {
			whole = x.Machine.CPU
		}
	}
	if whole == nil || x.CPU == nil {
		c.unknown = true
		return
	}
	c.rest += *whole - *x.CPU
}

// close ends the current second. One that is too short would be little but ticks.
func (c *company) close() {
	if !c.unknown && c.seconds >= wholeSecond.Seconds() {
		rest := max(c.rest, 0)
		c.used, c.usedFor, c.most = c.used+rest*c.seconds, c.usedFor+c.seconds, max(c.most, rest)
	}
	c.rest, c.seconds, c.unknown = 0, 0, false
}

// report returns how many processors that was on average, and at most; nil if no second is known.
func (c *company) report() (mean, most *float64) {
	if c.usedFor == 0 {
		return nil, nil
	}
	return new(c.used / c.usedFor), new(c.most)
}

// learn updates what may change.
func (p *process) learn(m *watch.Member) {
	p.Role, p.PID, p.Name, p.Note = m.Role, m.PID(), m.Name(), m.Note
	p.Elsewhere = m.Elsewhere
}

// add takes a sample, and returns how many seconds it spans: 0 if an interval begins.
func (p *process) add(x watch.Point) (seconds float64) {
	passed, first := x.At.Sub(p.last), p.last.IsZero()
	p.last = x.At
	if first || passed <= 0 {
		return 0
	}
	seconds = passed.Seconds()
	if x.CPU != nil {
		p.cpu, p.cpuFor = p.cpu+*x.CPU*seconds, p.cpuFor+seconds
		if passed >= wholeSecond {
			p.cpuMost = max(p.cpuMost, *x.CPU)
		}
	}
	if x.Queue != nil {
		p.queue, p.queueFor = p.queue+*x.Queue*seconds, p.queueFor+seconds
	}
	if x.NetIn != nil {
		p.in, p.out, p.netFor = p.in+*x.NetIn*seconds, p.out+*x.NetOut*seconds, p.netFor+seconds
	}
	if x.RSS != nil {
		p.rss = max(p.rss, *x.RSS)
	}
	return seconds
}

// report returns what was observed of a process.
func (p *process) report() verdict.Process {
	f := p.Process
	if p.cpuFor > 0 {
		f.CPU = new(p.cpu / p.cpuFor)
	}
	if p.cpuMost > 0 {
		f.CPUMost = new(p.cpuMost)
	}
	if p.queueFor > 0 {
		f.Queue = new(p.queue / p.queueFor)
	}
	if p.rss > 0 {
		f.RSSMost = new(p.rss)
	}
	if p.netFor > 0 {
		f.NetIn, f.NetOut = new(p.in/p.netFor), new(p.out/p.netFor)
	}
	return f
}

// samplesOf returns the numbers of a sample that spans that many seconds, omitting those
// that are unknown. A rate over a mere moment would be meaningless.
func samplesOf(second int, source, node string, x watch.Point, seconds float64) (out []rundir.Sample) {
	add := func(name string, v *float64) {
		if v != nil {
			out = append(out, rundir.Sample{T: second, Source: source, Node: node, Name: name, Value: *v})
		}
	}
	whole := func(name string, v *int64) {
		if v != nil {
			add(name, new(float64(*v)))
		}
	}
	if seconds >= measure.ShortestRate {
		add("cpu_cores", x.CPU)
		add("throttled_share", x.Throttled)
		add("run_queue_cores", x.Queue)
		add("main_thread_run_queue_cores", x.FirstQueue)
		add("disk_read_bytes_per_s", x.DiskRead)
		add("disk_written_bytes_per_s", x.DiskWritten)
		add("net_in_bytes_per_s", x.NetIn)
		add("net_out_bytes_per_s", x.NetOut)
	}
	add("main_thread_in_disk", x.InDisk)
	whole("memory_bytes", x.RSS)
	whole("heap_bytes", x.HeapUsed)
	whole("heap_old_bytes", x.Old)
	whole("heap_young_bytes", x.Young)
	whole("old_collections", x.OldGCs)
	whole("young_collections", x.YoungGCs)
	if x.GCTime != nil {
		add("collecting_ms", new(x.GCTime.Seconds()*1000))
	}
	if source == rundir.OfClient { // once per machine
		source = rundir.OfMachine
		add("load_per_core", x.Load)
		whole("memory_bytes", x.MachineUsed)
		if m := x.Machine; m != nil && seconds >= measure.ShortestRate {
			add("cpu_cores", m.CPU)
			add("waiting_for_disk_cores", m.InDisk)
			add("disk_busy_share", m.DiskBusy)
			add("disk_read_bytes_per_s", m.DiskRead)
			add("disk_written_bytes_per_s", m.DiskWritten)
			if l := m.Link; l != nil {
				add("link_in_bytes_per_s", &l.In)
				add("link_out_bytes_per_s", &l.Out)
				add("link_bytes_per_s", &l.Carries)
			}
		}
	}
	return out
}
