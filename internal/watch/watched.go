package watch

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Watched is one process of which everything available is sampled: what Process
// provides, bytes into and out of it, and the heap of its JVM. One goroutine at a time
// may use it.
type Watched struct {
	// Note says what is not available and why; JVMNote does so for heap and
	// collections.
	Note, JVMNote string
	// Elsewhere means that it runs on another machine.
	Elsewhere bool
	// JavaArgs are the options of its JVM; see Process.JavaArgs.
	JavaArgs []string

	process *Process
	jvm     JVM
	asked   time.Time // when the JVM was last queried
	heap    *Heap     // the answer to that query
	// flow returns bytes into and out of the process so far; nil if they are not
	// counted.
	flow    func(ctx context.Context, c *census) (in, out int64, known bool)
	in, out int64
	at      time.Time
}

// Point is a sample of a process since the previous one. Unknown values are nil.
type Point struct {
	// Sample does not contain the heap and the total collections; Heap and the
	// collections since the previous sample are separate.
	Usage
	// NetIn and NetOut are bytes per second; the note of the process says what they
	// cover.
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
		w.note("network: this system does not report it for single processes")
	}
	return w
}

// Find watches the process with the id pid or, if that is 0, the one that listens at
// addr. If it is not found, a note says why.
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

// FindServer is Find, plus bytes into and out of the process, counted as well as this
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
		return &Watched{Note: err.Error(), Elsewhere: errors.Is(err, ErrElsewhere)}
	}
	return &Watched{process: p}
}

func (w *Watched) open(ctx context.Context) {
	if w.process != nil {
		w.JavaArgs = w.process.JavaArgs(ctx)
		w.note(w.process.memoryNote())
	}
}

// Found reports whether there is anything to sample.
func (w *Watched) Found() bool { return w.process != nil || w.jvm != nil }

// PID returns the id of the process, 0 if it was not found.
func (w *Watched) PID() int {
	if w.process == nil {
		return 0
	}
	return w.process.PID()
}

// Name returns what the process calls itself.
func (w *Watched) Name() string {
	if w.process == nil {
		return ""
	}
	return w.process.Name()
}

// CountSockets measures the network traffic of the process by its connections; addr is
// where it listens, if known. It returns false if the system does not report them.
func (w *Watched) CountSockets(addr string) bool {
	if w.process == nil {
		return false
	}
	s := &Sockets{family: w.process.family}
	if _, _, err := s.Add(w.process.PID(), addr); err != nil {
		return false
	}
	w.flow = func(_ context.Context, c *census) (int64, int64, bool) {
		in, out, err := s.add(c, w.process.PID(), addr)
		return in, out, err == nil
	}
	w.note("network is the content of its TCP connections, as the kernel counts it")
	return true
}

// CountDevice measures the network traffic of the process by that of the device that
// leads to a host, unless something better is available.
func (w *Watched) CountDevice(ctx context.Context, host string) {
	host, _, _ = strings.Cut(host, ":")
	device, _, _ := Device(ctx, host)
	if device == "" {
		w.note("network: it is reached over a device other than loopback, whose bytes cannot be told apart")
		return
	}
	w.flow = func(ctx context.Context, _ *census) (int64, int64, bool) {
		name, in, out := Device(ctx, host)
		return in, out, name != ""
	}
	w.note("network is that of the device " + device + ", of all processes and in both directions")
}

// CountTraffic measures the network traffic of the process by our own connections to
// it.
func (w *Watched) CountTraffic(t *Traffic) {
	w.flow = func(context.Context, *census) (int64, int64, bool) { return t.Out(), t.In(), true }
	w.note("network is the bytes of our connections to it")
}

// AskJVM makes the heap be queried; see NewJVM. If where is empty, it is not.
func (w *Watched) AskJVM(where string) {
	if where == "" {
		w.noteJVM("neither a Jolokia agent nor nodetool is known; give --set nodetool=URL or command")
		return
	}
	w.jvm = NewJVM(where)
}

// note adds to the process's notes, unless they contain the text already.
func (w *Watched) note(text string) { noteTo(&w.Note, text) }

// noteJVM is note for the heap and its collections.
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

// Sample samples the process; what is unavailable goes to its notes.
func (w *Watched) Sample(ctx context.Context) (x Point) { return w.sample(ctx, &census{}) }

func (w *Watched) sample(ctx context.Context, c *census) (x Point) {
	var heap *Heap
	if w.process != nil {
		var err error
		if x.Usage, err = w.process.Sample(ctx); err != nil && ctx.Err() == nil {
			w.note("for a while: " + err.Error())
		}
		heap, x.Heap = x.Heap, nil
	}
	if w.flow != nil {
		now := time.Now()
		in, out, known := w.flow(ctx, c)
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

// collected adds what a JVM, or Go, has reported.
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

// since returns how much a counter has grown; for a server that was restarted it is the
// current value.
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
