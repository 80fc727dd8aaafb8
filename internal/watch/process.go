package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	gnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// Process is one process of this machine that is being watched. One goroutine at a time
// may call its methods.
type Process struct {
	// addr, when set, is where it listens: if the process goes away, it is looked up
	// there again.
	addr string
	p    *process.Process
	name string
	own  bool
	// family means that it has a process for each connection.
	family bool
	// single means that one thread, the first, does its work.
	single bool

	queue, first  float64 // seconds so far
	queued        bool
	read, written uint64
	io            bool
	machine       machineSums
	cpu           float64 // seconds so far
	periods       Quota
	at            time.Time
	mem           runtime.MemStats
}

// Usage is what a process has used since the previous sample. Unknown values are nil.
type Usage struct {
	At time.Time
	// CPU is the number of processors in use. Throttled is the fraction of its quota's
	// periods in which it was held back, 0 to 1; nil without a quota.
	CPU, Throttled *float64
	// Queue is how many of its threads waited for a processor on average. For a process
	// in which one thread does the work, FirstQueue is the fraction of the time that
	// this thread waited, and InDisk is 1 if it is waiting for a disk right now,
	// otherwise 0.
	Queue, FirstQueue, InDisk *float64
	// DiskRead and DiskWritten are bytes per second.
	DiskRead, DiskWritten *float64
	// Machine is set for this process only.
	Machine *MachineUse
	// RSS is resident memory in bytes; for a process that has one for each connection,
	// see familyMemory.
	RSS *int64
	// Load is the load average of the machine over one minute (Load), five and fifteen,
	// per processor.
	Load, Load5, Load15 *float64
	// MachineUsed is the memory in use on the machine, in bytes.
	MachineUsed *int64
	// Heap is set for a JVM and for Go.
	Heap *Heap
}

// Heap is the memory of a garbage-collected runtime, in bytes, and its collections so
// far. What is not reported is nil.
type Heap struct {
	Used, Limit, Old, Young *int64
	// OldGCs and YoungGCs are collections so far, GCTime is the total time of both.
	OldGCs, YoungGCs *int64
	GCTime           *time.Duration
}

// ByPID watches the process with that id.
func ByPID(ctx context.Context, pid int) (*Process, error) {
	w := &Process{}
	if err := w.attach(ctx, int32(pid)); err != nil {
		return nil, err
	}
	return w, nil
}

// Own watches this process.
func Own(ctx context.Context) (*Process, error) {
	w, err := ByPID(ctx, os.Getpid())
	if err != nil {
		return nil, err
	}
	w.own = true
	return w, nil
}

// tellsDisk says whether the system tells what a process has read from disks and written to them.
const tellsDisk = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

// ErrElsewhere means that a server is not on this machine.
var ErrElsewhere = errors.New("it is on another machine")

// ByAddr watches the process of this machine that listens at host:port. The error is
// ErrElsewhere if the host is another machine; otherwise it says why no process was
// found: those of other users are not visible.
func ByAddr(ctx context.Context, addr string) (*Process, error) {
	w := &Process{addr: addr}
	return w, w.find(ctx)
}

// PID returns the id of the process.
func (w *Process) PID() int {
	if w.p == nil {
		return 0
	}
	return int(w.p.Pid)
}

// Name returns what the process calls itself.
func (w *Process) Name() string { return w.name }

// JavaArgs returns the options of a JVM that begin with -X, including those in a file
// of options (@FILE); nil for anything else.
func (w *Process) JavaArgs(ctx context.Context) []string {
	if w.p == nil || w.own {
		return nil
	}
	args, err := w.p.CmdlineSliceWithContext(ctx)
	if err != nil || len(args) == 0 || !strings.Contains(args[0], "java") {
		return nil
	}
	var out []string
	for _, a := range args[1:] {
		list := []string{a}
		if file, ok := strings.CutPrefix(a, "@"); ok && filepath.IsAbs(file) {
			data, _ := os.ReadFile(file) // an unreadable file contributes nothing
			list = strings.Fields(string(data))
		}
		for _, one := range list {
			if one = strings.Trim(one, `"`); strings.HasPrefix(one, "-X") {
				out = append(out, one)
			}
		}
	}
	return out
}

func (w *Process) attach(ctx context.Context, pid int32) error {
	p, err := process.NewProcessWithContext(ctx, pid)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	w.p, w.at = p, time.Time{}
	w.name, _ = p.NameWithContext(ctx) // a process without a name is still watched
	w.family = w.name == "postgres"
	w.single = strings.Contains(w.name, "redis") || strings.Contains(w.name, "valkey")
	return nil
}

// find looks for the process that listens.
func (w *Process) find(ctx context.Context) error {
	host, text, err := net.SplitHostPort(w.addr)
	if err != nil {
		return err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("port of %s: %w", w.addr, err)
	}
	if !isHere(ctx, host) {
		return ErrElsewhere
	}
	if pid, err := listener(uint16(port)); err == nil && pid > 0 {
		return w.attach(ctx, int32(pid))
	} else if err == nil {
		return fmt.Errorf("no process that we can see listens at %s", w.addr)
	}
	all, err := gnet.ConnectionsWithoutUidsWithContext(ctx, "tcp") // not the owner of each: it is not needed, and reads a file per connection
	if err != nil {
		return fmt.Errorf("look for who listens at %s: %w", w.addr, err)
	}
	for _, c := range all {
		if c.Status == "LISTEN" && c.Laddr.Port == uint32(port) && c.Pid > 0 {
			return w.attach(ctx, c.Pid)
		}
	}
	return fmt.Errorf("no process that we can see listens at %s", w.addr)
}

// isHere reports whether a host is this machine.
func isHere(ctx context.Context, host string) bool {
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return false
	}
	ours, _ := net.InterfaceAddrs() // on failure only the loopback device is known
	for _, ip := range ips {
		if ip.IP.IsLoopback() {
			return true
		}
		for _, a := range ours {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip.IP) {
				return true
			}
		}
	}
	return false
}

// Sample samples the process. The first sample after it was found has no CPU, since there
// is no earlier one to compare with. The error means that the process has gone.
func (w *Process) Sample(ctx context.Context) (Usage, error) {
	s := Usage{At: time.Now()}
	running := false
	switch {
	case w.own:
		running = true
	case w.p != nil: // not by start time, which moves with the machine's clock
		running, _ = process.PidExistsWithContext(ctx, w.p.Pid)
	}
	if !running {
		if w.addr == "" {
			return s, errors.New("it has ended")
		}
		if err := w.find(ctx); err != nil {
			return s, err
		}
	}
	times, err := w.p.TimesWithContext(ctx)
	if err != nil {
		return s, fmt.Errorf("it cannot be measured: %w", err)
	}
	used, periods := times.User+times.System, Of(w.PID())
	if w.family {
		used = max(used, FamilyCPU(w.PID()))
	}
	if passed := s.At.Sub(w.at).Seconds(); !w.at.IsZero() && passed > 0 {
		cores := within(used-w.cpu, passed)
		s.CPU = &cores
		if n := periods.Periods - w.periods.Periods; periods.Known && w.periods.Known && n > 0 {
			part := float64(periods.Held-w.periods.Held) / float64(n)
			s.Throttled = &part
		}
	}
	w.waits(ctx, &s)
	w.cpu, w.periods, w.at = used, periods, s.At
	if m, err := w.p.MemoryInfoWithContext(ctx); err == nil {
		rss := int64(m.RSS)
		s.RSS = &rss
	}
	if w.family {
		if all, ok := familyMemory(w.PID()); ok {
			s.RSS = &all
		}
	}
	if l, err := load.AvgWithContext(ctx); err == nil {
		n := float64(runtime.NumCPU())
		one, five, fifteen := l.Load1/n, l.Load5/n, l.Load15/n
		s.Load, s.Load5, s.Load15 = &one, &five, &fifteen
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		used := int64(m.Used)
		s.MachineUsed = &used
	}
	if w.own {
		s.Heap = w.goHeap()
	}
	return s, nil
}

// waits adds what the process has waited for, and its disk traffic, since the previous
// sample.
func (w *Process) waits(ctx context.Context, s *Usage) {
	seconds := s.At.Sub(w.at).Seconds()
	known := !w.at.IsZero() && seconds > 0
	if w.family {
		queue, ok := familyQueued(w.PID())
		if known && ok && w.queued {
			s.Queue = new(max(queue-w.queue, 0) / seconds)
		}
		w.queue, w.queued = queue, ok
	} else {
		queue, first, ok := queued(w.PID())
		if known && ok && w.queued {
			s.Queue = new(max(queue-w.queue, 0) / seconds)
			if w.single {
				s.FirstQueue = new(max(first-w.first, 0) / seconds)
			}
		}
		w.queue, w.first, w.queued = queue, first, ok
		// Its other counters are of what it read and wrote anywhere, connections included.
		io, err := w.p.IOCountersWithContext(ctx)
		if known && err == nil && w.io && io.DiskReadBytes >= w.read && io.DiskWriteBytes >= w.written {
			s.DiskRead, s.DiskWritten = new(float64(io.DiskReadBytes-w.read)/seconds), new(float64(io.DiskWriteBytes-w.written)/seconds)
		}
		if w.io = err == nil && tellsDisk; w.io {
			w.read, w.written = io.DiskReadBytes, io.DiskWriteBytes
		}
	}
	if waits, ok := inDisk(w.PID()); ok && w.single {
		s.InDisk = new(0.0)
		if waits {
			*s.InDisk = 1
		}
	}
	if w.own {
		now := machineSoFar(ctx)
		if known {
			s.Machine = now.since(w.machine, seconds).atLeast(s.CPU)
		}
		w.machine = now
	}
}

// goHeap returns Go's own heap, whose single generation is reported as the old one.
func (w *Process) goHeap() *Heap {
	runtime.ReadMemStats(&w.mem)
	used, n, pause := int64(w.mem.HeapAlloc), int64(w.mem.NumGC), time.Duration(w.mem.PauseTotalNs)
	h := &Heap{Used: &used, OldGCs: &n, GCTime: &pause}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		h.Limit = &limit
	}
	return h
}

// Machine returns the name of this machine's processor, empty if unknown, and its
// memory in bytes, 0 if unknown.
func Machine(ctx context.Context) (processor string, memory int64) {
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		memory = int64(m.Total)
	}
	if all, err := cpu.InfoWithContext(ctx); err == nil && len(all) > 0 {
		processor = strings.Join(strings.Fields(all[0].ModelName), " ")
	}
	return processor, memory
}

// Device returns the byte counters of the network device that leads to a host, for all
// processes of this machine. The name is empty if there is none.
func Device(ctx context.Context, host string) (name string, in, out int64) {
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil || len(ips) == 0 || !ips[0].IP.IsLoopback() {
		return "", 0, 0
	}
	all, err := gnet.IOCountersWithContext(ctx, true)
	if err != nil {
		return "", 0, 0
	}
	for _, c := range all {
		if c.Name == "lo" || c.Name == "lo0" {
			return c.Name, int64(c.BytesRecv), int64(c.BytesSent)
		}
	}
	return "", 0, 0
}
