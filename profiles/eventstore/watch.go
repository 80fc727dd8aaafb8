package eventstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// storePorts are the default ports of stores.
var storePorts = map[string]int{"cassandra": 9042, "redis": 6379, "mysql": 3306, "postgres": 5432}

// readWatch parses "cassandra=123,rabbitmq=456".
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

// watcher keeps the samples of the processes listed in the facts. Its methods may be called from
// any goroutine.
type watcher struct {
	driver string // of the store
	clock  *runClock
	// earlier are the processes as another process has sampled them, which this one takes the
	// place of.
	earlier []report.Process

	mu      sync.Mutex
	machine report.Machine
	list    []*watched
}

func newWatcher(driver string, clock *runClock) *watcher {
	return &watcher{driver: driver, clock: clock}
}

// watched is one process with its samples.
type watched struct {
	role   string         // in the set of the run
	facts  report.Process // without points; guarded by the watcher's mu, like them
	points measure.Downsampled[report.ResourcePoint]
}

func newWatched(role string) *watched {
	return &watched{role: role, points: measure.Downsampled[report.ResourcePoint]{
		Most: maxPoints, At: func(x report.ResourcePoint) int64 { return x.AtNs }, Join: joined,
	}}
}

// begin takes part in the sampling of a run: it adds the broker, if there is one, and the processes
// named by the parameter watch, and keeps the samples.
func (w *watcher) begin(ctx context.Context, set *watch.Set, s *spec, broker *transport.AMQP) {
	list := []*watched{newWatched(report.RoleOwn)}
	add := func(role string) { list = append(list, newWatched(role)) }
	pids, _ := readWatch(s.watch.processes) // Design has checked it
	if broker != nil {
		addr := broker.Hosts()[0]
		p := watch.Find(ctx, pids[report.RoleBroker], addr)
		if !p.CountSockets(addr) {
			p.CountTraffic(broker.Traffic())
		}
		set.Put(report.RoleBroker, p)
		set.Counts(report.RoleBroker, broker.Counts)
		add(report.RoleBroker)
	}
	if own := s.watchStore(ctx, set, pids[w.driver]); own != "" {
		add(own)
	}
	for role, pid := range pids {
		if role != report.RoleBroker && role != w.driver && role != report.RoleOwn {
			set.Put(role, watch.FindServer(ctx, pid, ""))
			add(role)
		}
	}
	processor, memory := watch.Machine(ctx)
	w.mu.Lock()
	w.machine, w.list = report.Machine{Processor: processor, Memory: memory}, list
	w.mu.Unlock()
	set.Each(func(m *watch.Member) { w.of(m.Role, func(p *watched) { p.learn(m, w.driver) }) })
	w.mu.Lock()
	for _, p := range w.list {
		p.recall(w.earlier)
	}
	w.mu.Unlock()
	set.OnSample(w.keep)
}

// watchStore makes sure that the store's process is watched, and returns its role in
// the set, empty if there is none.
func (s *spec) watchStore(ctx context.Context, set *watch.Set, pid int) (role string) {
	if pid > 0 {
		addr := ""
		if len(s.watch.hosts) > 0 {
			addr = store.HostPort(s.watch.hosts[0], storePorts[s.driver])
		}
		set.Put(s.driver, watch.FindServer(ctx, pid, addr))
	}
	set.Each(func(m *watch.Member) {
		if role == "" && (m.Role == s.driver || strings.HasPrefix(m.Role, s.driver+watch.At)) {
			role = m.Role
			if s.driver == "cassandra" {
				m.AskJVM(cmp.Or(s.watch.nodetool, s.watch.agent))
			}
		}
	})
	return role
}

// learn updates what may change; the store's process is named after its driver.
func (p *watched) learn(m *watch.Member, driver string) {
	p.facts.Role, _, _ = strings.Cut(m.Role, driver+watch.At)
	p.facts.Role = cmp.Or(p.facts.Role, driver)
	p.facts.PID, p.facts.Name, p.facts.Note = m.PID(), m.Name(), m.Note
	p.facts.JavaArgs, p.facts.JVMNote = m.JavaArgs, m.JVMNote
}

// recall begins with what another process had sampled of the store.
func (p *watched) recall(earlier []report.Process) {
	for _, e := range earlier {
		if e.Role == p.facts.Role && e.Role != report.RoleOwn {
			for _, x := range e.Points {
				p.points.Add(x)
			}
		}
	}
}

// of calls f with the process of a role in the set, if it is one of those in the facts.
func (w *watcher) of(role string, f func(*watched)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.list {
		if p.role == role {
			f(p)
		}
	}
}

// keep keeps a sample.
func (w *watcher) keep(m *watch.Member, x watch.Point) {
	if !w.clock.entered.Load() {
		return
	}
	w.of(m.Role, func(p *watched) {
		p.learn(m, w.driver)
		point := p.point(x)
		point.AtNs = w.clock.since(w.clock.now())
		p.points.Add(point)
	})
}

// point converts a sample to the form in which it is recorded.
func (p *watched) point(s watch.Point) report.ResourcePoint {
	x := report.ResourcePoint{
		CPU: s.CPU, Throttled: s.Throttled, RSS: s.RSS, NetIn: s.NetIn, NetOut: s.NetOut,
		Heap: s.HeapUsed, HeapMax: s.HeapMax, Old: s.Old, Young: s.Young, OldGCs: s.OldGCs, YoungGCs: s.YoungGCs, GCTimeNs: (*int64)(s.GCTime),
	}
	if p.facts.Role != report.RoleOwn {
		x.LoadPerCPU, x.Load5PerCPU, x.Load15PerCPU, x.MachineUsed = s.Load, s.Load5, s.Load15, s.MachineUsed
	}
	return x
}

// joined merges two samples into one: the mean of rates, the sum of counts, the higher
// of states.
func joined(a, b report.ResourcePoint) report.ResourcePoint {
	return report.ResourcePoint{
		AtNs: b.AtNs, CPU: mean(a.CPU, b.CPU), Throttled: mean(a.Throttled, b.Throttled), NetIn: mean(a.NetIn, b.NetIn), NetOut: mean(a.NetOut, b.NetOut),
		LoadPerCPU: mean(a.LoadPerCPU, b.LoadPerCPU), Load5PerCPU: mean(a.Load5PerCPU, b.Load5PerCPU), Load15PerCPU: mean(a.Load15PerCPU, b.Load15PerCPU),
		MachineUsed: higher(a.MachineUsed, b.MachineUsed), RSS: higher(a.RSS, b.RSS), Heap: higher(a.Heap, b.Heap), HeapMax: higher(a.HeapMax, b.HeapMax),
		Old: higher(a.Old, b.Old), Young: higher(a.Young, b.Young), OldGCs: sum(a.OldGCs, b.OldGCs), YoungGCs: sum(a.YoungGCs, b.YoungGCs), GCTimeNs: sum(a.GCTimeNs, b.GCTimeNs),
	}
}

// either applies f to two numbers, either of which may be unknown.
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

func higher[T int64 | float64](a, b *T) *T {
	return either(a, b, func(a, b T) T { return max(a, b) })
}

func sum[T int64 | float64](a, b *T) *T {
	return either(a, b, func(a, b T) T { return a + b })
}

// report returns the samples so far. If so many workers do the work, own are those of their
// processes together.
func (w *watcher) report(workers int, own func() []report.ResourcePoint) (report.Machine, []report.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []report.Process{}
	for _, p := range w.list {
		one := p.facts
		one.Points = p.points.Samples()
		if workers > 0 && one.Role == report.RoleOwn { // this process has neither generated nor stored
			one.PID, one.Points = 0, own()
			one.Note = fmt.Sprintf("%s together; throttling and collection time are those of the worker with the most", units.Plural(workers, "worker"))
		}
		out = append(out, one)
	}
	return w.machine, out
}

// own is a sample of a worker's process, which the worker reports to the coordinator.
// It is encoded as JSON, because gob does not distinguish 0 from unknown.
type own report.ResourcePoint

// GobEncode implements gob.GobEncoder.
func (o *own) GobEncode() ([]byte, error) { return json.Marshal((*report.ResourcePoint)(o)) }

// GobDecode implements gob.GobDecoder.
func (o *own) GobDecode(data []byte) error { return json.Unmarshal(data, (*report.ResourcePoint)(o)) }

// usage is what this process uses, if it is a worker's. One goroutine may use it: the one that
// tells.
type usage struct{ self *watch.Watched }

// sample samples this process.
func (u *usage) sample(ctx context.Context) *own {
	if u.self == nil {
		u.self = watch.Self(ctx)
	}
	p := watched{facts: report.Process{Role: report.RoleOwn}}
	return (*own)(new(p.point(u.self.Sample(ctx))))
}

// plus adds the sample of another process at the same moment; nil is none.
func (o *own) plus(p *own) *own {
	if o == nil || p == nil {
		if o == nil {
			return p
		}
		return o
	}
	return &own{
		CPU: sum(o.CPU, p.CPU), Throttled: higher(o.Throttled, p.Throttled), NetIn: sum(o.NetIn, p.NetIn), NetOut: sum(o.NetOut, p.NetOut),
		RSS: sum(o.RSS, p.RSS), Heap: sum(o.Heap, p.Heap), HeapMax: sum(o.HeapMax, p.HeapMax), Old: sum(o.Old, p.Old), Young: sum(o.Young, p.Young),
		OldGCs: sum(o.OldGCs, p.OldGCs), YoungGCs: sum(o.YoungGCs, p.YoungGCs), GCTimeNs: higher(o.GCTimeNs, p.GCTimeNs),
	}
}

// after combines this sample with the one before it.
func (o *own) after(earlier *own) *own {
	if o == nil || earlier == nil {
		return o.plus(earlier)
	}
	return (*own)(new(joined(report.ResourcePoint(*earlier), report.ResourcePoint(*o))))
}
