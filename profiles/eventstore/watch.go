package eventstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// storePorts are where stores listen when the target does not say.
var storePorts = map[string]int{"cassandra": 9042, "redis": 6379, "mysql": 3306, "postgres": 5432}

// readWatch reads "cassandra=123,rabbitmq=456".
func readWatch(text string) (map[string]int, error) {
	out := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		role, id, ok := strings.Cut(pair, "=")
		pid, err := strconv.Atoi(strings.TrimSpace(id))
		if role = strings.TrimSpace(role); !ok || err != nil || pid < 1 || role == "" {
			return nil, fault.Field("watch", fault.Input(fmt.Errorf("watch: %q is not ROLE=PID", pair), "for example watch=cassandra=1234,rabbitmq=5678"))
		}
		out[role] = pid
	}
	return out, nil
}

// watcher samples processes once a second.
type watcher struct {
	mu   sync.Mutex
	list []*watched
}

// watched is one process.
type watched struct {
	facts   facts.Process
	process *watch.Process
	jvm     watch.JVM
	asked   time.Time   // when the JVM was asked last
	heap    *watch.Heap // what it said then
	// flow tells bytes into and out of the process so far; nil when nobody counts.
	flow    func(ctx context.Context) (in, out int64, known bool)
	in, out int64
	at      time.Time
}

// watch begins to watch processes of this machine; it ends with the run.
func (b *binding) watch(ctx context.Context) {
	w := &watcher{}
	pids, _ := readWatch(b.s.watch) // Design has judged it
	b.machine.Processor, b.machine.Memory = watch.Machine(ctx)
	own := &watched{facts: facts.Process{Role: facts.RoleOwn}}
	own.open(watch.Own(ctx))
	if !own.sockets("") {
		own.note("network: this system does not tell that of a process")
	}
	w.list = append(w.list, own)
	if t, ok := b.via.(*transport.AMQP); ok {
		p := &watched{facts: facts.Process{Role: facts.RoleBroker}}
		p.find(ctx, pids, t.Hosts()[0])
		if !p.sockets(t.Hosts()[0]) {
			p.flow = func(context.Context) (int64, int64, bool) { return t.Traffic().Out(), t.Traffic().In(), true }
			p.note("network is the bytes of our connections to it")
		}
		w.list = append(w.list, p)
	}
	if p := b.watchStore(ctx, pids); p != nil {
		w.list = append(w.list, p)
	}
	for role := range pids {
		if !slices.ContainsFunc(w.list, func(p *watched) bool { return p.facts.Role == role }) {
			p := &watched{facts: facts.Process{Role: role}}
			p.find(ctx, pids, "")
			p.sockets("")
			w.list = append(w.list, p)
		}
	}
	for _, p := range w.list {
		if p.process != nil {
			p.facts.JavaArgs = p.process.JavaArgs(ctx)
		}
	}
	b.mu.Lock()
	b.watcher = w
	b.mu.Unlock()
	b.background.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-b.stopped.Done():
				return
			case <-tick.C:
				w.take(b)
			}
		}
	})
}

// watchStore is the store's process; nil of one that is within ours.
func (b *binding) watchStore(ctx context.Context, pids map[string]int) *watched {
	if len(b.s.hosts) == 0 {
		return nil
	}
	p := &watched{facts: facts.Process{Role: b.s.driver}}
	addr := store.HostPort(b.s.hosts[0], storePorts[b.s.driver])
	p.find(ctx, pids, addr)
	if p.process != nil && !p.sockets(addr) {
		p.device(ctx, b.s.hosts[0])
	}
	if b.s.driver != "cassandra" {
		return p
	}
	where := b.s.nodetool
	if where == "" {
		where = b.s.agent
	}
	if where == "" {
		p.noteJVM("neither a Jolokia agent nor nodetool is known; say --set nodetool=URL or command")
		return p
	}
	p.jvm = watch.NewJVM(where)
	return p
}

// sockets has the network of a process measured by its connections; addr is where it
// listens, when that is known. It returns false when they are not told.
func (p *watched) sockets(addr string) bool {
	if p.process == nil {
		return false
	}
	s := &watch.Sockets{}
	if _, _, err := s.Add(p.process.PID(), addr); err != nil {
		return false
	}
	p.flow = func(context.Context) (int64, int64, bool) {
		in, out, err := s.Add(p.process.PID(), addr)
		return in, out, err == nil
	}
	p.note("network is the content of its TCP connections, as the kernel counts it")
	return true
}

// device has the network of a process measured by that of the device that leads to
// it, where nothing better is told.
func (p *watched) device(ctx context.Context, host string) {
	host, _, _ = strings.Cut(host, ":")
	device, _, _ := watch.Device(ctx, host)
	if device == "" {
		p.note("network: it is not reached over the loopback device, whose bytes are all that can be told")
		return
	}
	p.flow = func(ctx context.Context) (int64, int64, bool) {
		name, in, out := watch.Device(ctx, host)
		return in, out, name != ""
	}
	p.note("network is that of the device " + device + ", of all processes and in both directions")
}

// find looks for the process by its id, or by where it listens.
func (p *watched) find(ctx context.Context, pids map[string]int, addr string) {
	if pid, ok := pids[p.facts.Role]; ok {
		p.open(watch.ByPID(ctx, pid))
		return
	}
	p.open(watch.ByAddr(ctx, addr))
}

func (p *watched) open(w *watch.Process, err error) {
	if err != nil {
		p.note(err.Error())
		return
	}
	p.process, p.facts.PID, p.facts.Name = w, w.PID(), w.Name()
}

// note adds to what is to be said of the process, once.
func (p *watched) note(text string) { noteTo(&p.facts.Note, text) }

// noteJVM is note of the heap and its collections.
func (p *watched) noteJVM(text string) { noteTo(&p.facts.JVMNote, text) }

func noteTo(note *string, text string) {
	if text == "" || strings.Contains(*note, text) {
		return
	}
	if *note != "" {
		*note += "; "
	}
	*note += text
}

// take samples every process.
func (w *watcher) take(b *binding) {
	ctx, cancel := context.WithTimeout(b.stopped, 5*time.Second)
	defer cancel()
	for _, p := range w.list {
		if p.process == nil && p.jvm == nil {
			continue
		}
		point, problem, unheard := p.sample(ctx)
		point.AtNs = b.clock() - b.zero.Load()
		if !b.meter.entered.Load() || ctx.Err() != nil {
			continue // it was the beginning of an interval
		}
		w.mu.Lock()
		if problem != "" {
			p.note(problem)
		}
		p.noteJVM(unheard)
		if p.jvm != nil {
			p.noteJVM(p.jvm.Note())
		}
		if p.process != nil {
			p.facts.PID = p.process.PID()
		}
		p.facts.Points = append(p.facts.Points, point)
		if len(p.facts.Points) >= maxPoints {
			p.facts.Points = thinned(p.facts.Points)
		}
		w.mu.Unlock()
	}
}

// sample measures one process; problem says what is not known of it, unheard what is
// not of its JVM.
func (p *watched) sample(ctx context.Context) (x facts.ResourcePoint, problem, unheard string) {
	var heap *watch.Heap
	if p.process != nil {
		s, err := p.process.Take(ctx)
		if err != nil {
			problem = "for a while: " + err.Error()
		}
		x.CPU, x.Throttled, x.RSS, heap = s.CPU, s.Throttled, s.RSS, s.Heap
		if p.facts.Role != facts.RoleOwn {
			x.LoadPerCPU, x.Load5PerCPU, x.Load15PerCPU, x.MachineUsed = s.Load, s.Load5, s.Load15, s.MachineUsed
		}
	}
	if p.flow != nil {
		now := time.Now()
		in, out, known := p.flow(ctx)
		if seconds := now.Sub(p.at).Seconds(); known && !p.at.IsZero() && seconds > 0 {
			i, o := float64(in-p.in)/seconds, float64(out-p.out)/seconds
			x.NetIn, x.NetOut = &i, &o
		}
		p.in, p.out, p.at = in, out, now
	}
	if p.jvm != nil && time.Since(p.asked) >= p.jvm.Every()-100*time.Millisecond {
		p.asked = time.Now()
		var err error
		if heap, err = p.jvm.Heap(ctx); err != nil {
			unheard = err.Error()
		}
	}
	if heap == nil {
		return x, problem, unheard
	}
	x.Heap, x.HeapMax, x.Old, x.Young = heap.Used, heap.Limit, heap.Old, heap.Young
	if last := p.heap; last != nil {
		x.OldGCs, x.YoungGCs = since(heap.OldGCs, last.OldGCs), since(heap.YoungGCs, last.YoungGCs)
		if heap.GCTime != nil && last.GCTime != nil {
			ns := max(int64(*heap.GCTime-*last.GCTime), 0)
			x.GCTimeNs = &ns
		}
	}
	p.heap = heap
	return x, problem, unheard
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

// thinned makes one sample of every two: the mean of rates, the sum of counts, the
// higher of states.
func thinned(in []facts.ResourcePoint) []facts.ResourcePoint {
	out := in[:0]
	for i := 1; i < len(in); i += 2 {
		a, b := in[i-1], in[i]
		out = append(out, facts.ResourcePoint{
			AtNs: b.AtNs, CPU: mean(a.CPU, b.CPU), Throttled: mean(a.Throttled, b.Throttled), NetIn: mean(a.NetIn, b.NetIn), NetOut: mean(a.NetOut, b.NetOut),
			LoadPerCPU: mean(a.LoadPerCPU, b.LoadPerCPU), Load5PerCPU: mean(a.Load5PerCPU, b.Load5PerCPU), Load15PerCPU: mean(a.Load15PerCPU, b.Load15PerCPU),
			MachineUsed: higher(a.MachineUsed, b.MachineUsed), RSS: higher(a.RSS, b.RSS), Heap: higher(a.Heap, b.Heap), HeapMax: higher(a.HeapMax, b.HeapMax),
			Old: higher(a.Old, b.Old), Young: higher(a.Young, b.Young), OldGCs: sum(a.OldGCs, b.OldGCs), YoungGCs: sum(a.YoungGCs, b.YoungGCs), GCTimeNs: sum(a.GCTimeNs, b.GCTimeNs),
		})
	}
	return out
}

// either applies f to two numbers of which either may be unknown.
func either[T any](a, b *T, f func(a, b T) T) *T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	v := f(*a, *b)
	return &v
}

func mean(a, b *float64) *float64 {
	return either(a, b, func(a, b float64) float64 { return (a + b) / 2 })
}

func higher(a, b *int64) *int64 {
	return either(a, b, func(a, b int64) int64 { return max(a, b) })
}

func sum(a, b *int64) *int64 {
	return either(a, b, func(a, b int64) int64 { return a + b })
}

// addWatched adds what was watched so far.
func (b *binding) addWatched(f *facts.Facts) {
	b.mu.Lock()
	w := b.watcher
	b.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.list {
		facts := p.facts
		facts.Points = slices.Clone(facts.Points)
		f.Processes = append(f.Processes, facts)
	}
}
