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
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
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

// watcher keeps the samples of the processes listed in the facts.
type watcher struct {
	mu   sync.Mutex
	list []*watched
}

// watched is one process with its samples.
type watched struct {
	role   string        // in the set of the run
	facts  facts.Process // without points; guarded by the watcher's mu, like them
	points measure.Downsampled[facts.ResourcePoint]
}

func newWatched(role string) *watched {
	return &watched{role: role, points: measure.Downsampled[facts.ResourcePoint]{
		Most: maxPoints, At: func(x facts.ResourcePoint) int64 { return x.AtNs }, Join: joined,
	}}
}

// watch takes part in the sampling of the run: it adds the broker and the processes
// named by the parameter watch, and keeps the samples.
func (b *binding) watch(ctx context.Context, set *watch.Set) {
	b.machine.Processor, b.machine.Memory = watch.Machine(ctx)
	w := &watcher{list: []*watched{newWatched(facts.RoleOwn)}}
	add := func(role string) { w.list = append(w.list, newWatched(role)) }
	pids, _ := readWatch(b.s.watch) // Design has checked it
	if t, ok := b.via.(*transport.AMQP); ok {
		addr := t.Hosts()[0]
		p := watch.Find(ctx, pids[facts.RoleBroker], addr)
		if !p.CountSockets(addr) {
			p.CountTraffic(t.Traffic())
		}
		set.Put(facts.RoleBroker, p)
		set.Counts(facts.RoleBroker, t.Counts)
		add(facts.RoleBroker)
	}
	if own := b.watchStore(ctx, set, pids[b.s.driver]); own != "" {
		add(own)
	}
	for role, pid := range pids {
		if role != facts.RoleBroker && role != b.s.driver && role != facts.RoleOwn {
			set.Put(role, watch.FindServer(ctx, pid, ""))
			add(role)
		}
	}
	set.Each(func(m *watch.Member) { w.of(m.Role, func(p *watched) { p.learn(m, b.s.driver) }) })
	for _, p := range w.list {
		p.recall(b.watched)
	}
	b.mu.Lock()
	b.watcher = w
	b.mu.Unlock()
	set.OnSample(func(m *watch.Member, x watch.Point) { w.keep(b, m, x) })
	set.After(b.series.sample)
}

// watchStore makes sure that the store's process is watched, and returns its role in
// the set, empty if there is none.
func (b *binding) watchStore(ctx context.Context, set *watch.Set, pid int) (role string) {
	if pid > 0 {
		addr := ""
		if len(b.s.hosts) > 0 {
			addr = store.HostPort(b.s.hosts[0], storePorts[b.s.driver])
		}
		set.Put(b.s.driver, watch.FindServer(ctx, pid, addr))
	}
	set.Each(func(m *watch.Member) {
		if role == "" && (m.Role == b.s.driver || strings.HasPrefix(m.Role, b.s.driver+watch.At)) {
			role = m.Role
			if b.s.driver == "cassandra" {
				m.AskJVM(cmp.Or(b.s.nodetool, b.s.agent))
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
func (p *watched) recall(earlier []facts.Process) {
	for _, e := range earlier {
		if e.Role == p.facts.Role && e.Role != facts.RoleOwn {
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
func (w *watcher) keep(b *binding, m *watch.Member, x watch.Point) {
	if !b.meter.Entered.Load() {
		return
	}
	w.of(m.Role, func(p *watched) {
		p.learn(m, b.s.driver)
		point := p.point(x)
		point.AtNs = b.clock() - b.zero.Load()
		p.points.Add(point)
	})
}

// point converts a sample to the form in which it is recorded.
func (p *watched) point(s watch.Point) facts.ResourcePoint {
	x := facts.ResourcePoint{
		CPU: s.CPU, Throttled: s.Throttled, RSS: s.RSS, NetIn: s.NetIn, NetOut: s.NetOut,
		Heap: s.HeapUsed, HeapMax: s.HeapMax, Old: s.Old, Young: s.Young, OldGCs: s.OldGCs, YoungGCs: s.YoungGCs, GCTimeNs: (*int64)(s.GCTime),
	}
	if p.facts.Role != facts.RoleOwn {
		x.LoadPerCPU, x.Load5PerCPU, x.Load15PerCPU, x.MachineUsed = s.Load, s.Load5, s.Load15, s.MachineUsed
	}
	return x
}

// joined merges two samples into one: the mean of rates, the sum of counts, the higher
// of states.
func joined(a, b facts.ResourcePoint) facts.ResourcePoint {
	return facts.ResourcePoint{
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

// addWatched adds the samples so far.
func (b *binding) addWatched(f *facts.Facts) {
	b.mu.Lock()
	w, workers := b.watcher, len(b.others.Told())
	b.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.list {
		one := p.facts
		one.Points = p.points.Samples()
		if workers > 0 && one.Role == facts.RoleOwn { // this process has neither generated nor stored
			one.PID, one.Points = 0, b.series.workers()
			one.Note = fmt.Sprintf("%s together; throttling and collection time are those of the worker with the most", units.Plural(workers, "worker"))
		}
		f.Processes = append(f.Processes, one)
	}
}

// own is a sample of a worker's process, which the worker reports to the coordinator.
// It is encoded as JSON, because gob does not distinguish 0 from unknown.
type own facts.ResourcePoint

// GobEncode implements gob.GobEncoder.
func (o *own) GobEncode() ([]byte, error) { return json.Marshal((*facts.ResourcePoint)(o)) }

// GobDecode implements gob.GobDecoder.
func (o *own) GobDecode(data []byte) error { return json.Unmarshal(data, (*facts.ResourcePoint)(o)) }

// sampleOwn samples this process, once a second, on the goroutine that reports it.
func (b *binding) sampleOwn(ctx context.Context) *own {
	if b.self == nil {
		b.self = watch.Self(ctx)
	}
	p := watched{facts: facts.Process{Role: facts.RoleOwn}}
	return (*own)(new(p.point(b.self.Sample(ctx))))
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
	return (*own)(new(joined(facts.ResourcePoint(*earlier), facts.ResourcePoint(*o))))
}

// workers returns what the processes of all workers used together, second by second.
func (x *series) workers() []facts.ResourcePoint {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := []facts.ResourcePoint{}
	for _, l := range x.looks.Samples() {
		if l.Own != nil {
			p := facts.ResourcePoint(*l.Own)
			p.AtNs = l.AtNs
			out = append(out, p)
		}
	}
	return out
}
