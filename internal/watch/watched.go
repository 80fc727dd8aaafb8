package watch

import (
	"context"
	"strings"
	"time"
)

// Watched is one process of which everything is sampled that can be had: what Process
// tells, bytes into and out of it, and the heap of its JVM. One goroutine at a time
// may use it.
type Watched struct {
	// Note says what could not be had and why, JVMNote that of heap and collections.
	Note, JVMNote string
	// JavaArgs are the options of its JVM; see Process.JavaArgs.
	JavaArgs []string

	process *Process
	jvm     JVM
	asked   time.Time // when the JVM was asked last
	heap    *Heap     // what it said then
	// flow tells bytes into and out of the process so far; nil when nobody counts.
	flow    func(ctx context.Context) (in, out int64, known bool)
	in, out int64
	at      time.Time
}

// Point is a sample of a process over the interval before it. What is not known is
// nil.
type Point struct {
	// Sample is without the heap and its collections so far, which are Heap and the
	// collections since the sample before.
	Sample
	// NetIn and NetOut are bytes a second; the note of the process says of what.
	NetIn, NetOut     *float64
	OldGCs, YoungGCs  *int64
	GCTime            *time.Duration
	HeapUsed, HeapMax *int64
	Old, Young        *int64
}

// Self watches this process, with its connections.
func Self(ctx context.Context) *Watched {
	w := watched(Own(ctx))
	w.open(ctx)
	if !w.CountSockets("") {
		w.note("network: this system does not report that of a process")
	}
	return w
}

// Find watches the process with an id or, when that is 0, the one that listens at
// addr. What is not found has a note that says why.
func Find(ctx context.Context, pid int, addr string) *Watched {
	var w *Watched
	if pid > 0 {
		w = watched(ByPID(ctx, pid))
	} else {
		w = watched(ByAddr(ctx, addr))
	}
	w.open(ctx)
	return w
}

// FindServer is Find with bytes into and out of the process, counted as well as this
// system can.
func FindServer(ctx context.Context, pid int, addr string) *Watched {
	w := Find(ctx, pid, addr)
	if w.PID() > 0 && !w.CountSockets(addr) && addr != "" {
		w.CountDevice(ctx, addr)
	}
	return w
}

func watched(p *Process, err error) *Watched {
	if err != nil {
		return &Watched{Note: err.Error()}
	}
	return &Watched{process: p}
}

func (w *Watched) open(ctx context.Context) {
	if w.process != nil {
		w.JavaArgs = w.process.JavaArgs(ctx)
	}
}

// Found says whether there is anything to sample.
func (w *Watched) Found() bool { return w.process != nil || w.jvm != nil }

// PID is the id of the process, 0 when it was not found, and Name how it calls itself.
func (w *Watched) PID() int {
	if w.process == nil {
		return 0
	}
	return w.process.PID()
}

// Name is how the process calls itself.
func (w *Watched) Name() string {
	if w.process == nil {
		return ""
	}
	return w.process.Name()
}

// CountSockets has the network of the process measured by its connections; addr is
// where it listens, when that is known. It returns false when they are not told.
func (w *Watched) CountSockets(addr string) bool {
	if w.process == nil {
		return false
	}
	s := &Sockets{}
	if _, _, err := s.Add(w.process.PID(), addr); err != nil {
		return false
	}
	w.flow = func(context.Context) (int64, int64, bool) {
		in, out, err := s.Add(w.process.PID(), addr)
		return in, out, err == nil
	}
	w.note("network is the content of its TCP connections, as the kernel counts it")
	return true
}

// CountDevice has its network measured by that of the device that leads to a host,
// where nothing better is told.
func (w *Watched) CountDevice(ctx context.Context, host string) {
	host, _, _ = strings.Cut(host, ":")
	device, _, _ := Device(ctx, host)
	if device == "" {
		w.note("network: it is not reached over the loopback device, whose bytes are all that can be told")
		return
	}
	w.flow = func(ctx context.Context) (int64, int64, bool) {
		name, in, out := Device(ctx, host)
		return in, out, name != ""
	}
	w.note("network is that of the device " + device + ", of all processes and in both directions")
}

// CountTraffic has its network measured by our own connections to it.
func (w *Watched) CountTraffic(t *Traffic) {
	w.flow = func(context.Context) (int64, int64, bool) { return t.Out(), t.In(), true }
	w.note("network is the bytes of our connections to it")
}

// AskJVM has its heap asked for; see NewJVM. where may be empty: then nobody tells.
func (w *Watched) AskJVM(where string) {
	if where == "" {
		w.noteJVM("neither a Jolokia agent nor nodetool is known; say --set nodetool=URL or command")
		return
	}
	w.jvm = NewJVM(where)
}

// note adds to what is to be said of the process, once.
func (w *Watched) note(text string) { noteTo(&w.Note, text) }

// noteJVM is note of the heap and its collections.
func (w *Watched) noteJVM(text string) { noteTo(&w.JVMNote, text) }

func noteTo(note *string, text string) {
	if text == "" || strings.Contains(*note, text) {
		return
	}
	if *note != "" {
		*note += "; "
	}
	*note += text
}

// Take samples the process; what is not known goes to its notes.
func (w *Watched) Take(ctx context.Context) (x Point) {
	var heap *Heap
	if w.process != nil {
		var err error
		if x.Sample, err = w.process.Take(ctx); err != nil && ctx.Err() == nil {
			w.note("for a while: " + err.Error())
		}
		heap, x.Heap = x.Heap, nil
	}
	if w.flow != nil {
		now := time.Now()
		in, out, known := w.flow(ctx)
		if seconds := now.Sub(w.at).Seconds(); known && !w.at.IsZero() && seconds > 0 {
			i, o := float64(in-w.in)/seconds, float64(out-w.out)/seconds
			x.NetIn, x.NetOut = &i, &o
		}
		w.in, w.out, w.at = in, out, now
	}
	if w.jvm != nil && time.Since(w.asked) >= w.jvm.Every()-100*time.Millisecond {
		w.asked = time.Now()
		var err error
		if heap, err = w.jvm.Heap(ctx); err != nil && ctx.Err() == nil {
			w.noteJVM(err.Error())
		}
		w.noteJVM(w.jvm.Note())
	}
	if heap != nil {
		w.collected(&x, heap)
	}
	return x
}

// collected adds what a JVM, or Go, has told.
func (w *Watched) collected(x *Point, heap *Heap) {
	x.HeapUsed, x.HeapMax, x.Old, x.Young = heap.Used, heap.Limit, heap.Old, heap.Young
	if last := w.heap; last != nil {
		x.OldGCs, x.YoungGCs = since(heap.OldGCs, last.OldGCs), since(heap.YoungGCs, last.YoungGCs)
		if heap.GCTime != nil && last.GCTime != nil {
			x.GCTime = new(max(*heap.GCTime-*last.GCTime, 0))
		}
	}
	w.heap = heap
}

// since is how much a count has grown; of a server that was started again it is what
// it has now.
func since(now, before *int64) *int64 {
	if now == nil || before == nil {
		return nil
	}
	n := *now - *before
	if n < 0 {
		n = *now
	}
	return &n
}
