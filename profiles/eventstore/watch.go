package eventstore

import (
	"cmp"
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

// watched is one process with what was sampled of it; take alone uses the former.
type watched struct {
	*watch.Watched
	facts facts.Process // guarded by the watcher's mu
}

func (w *watcher) add(role string, one *watch.Watched) {
	w.list = append(w.list, &watched{one, facts.Process{Role: role, Name: one.Name(), JavaArgs: one.JavaArgs}})
	w.list[len(w.list)-1].learn()
}

// learn takes over what may change.
func (p *watched) learn() {
	p.facts.PID, p.facts.Note, p.facts.JVMNote = p.PID(), p.Note, p.JVMNote
}

// watch begins to watch processes of this machine; it ends with the run.
func (b *binding) watch(ctx context.Context) {
	w := &watcher{}
	pids, _ := readWatch(b.s.watch) // Design has judged it
	b.machine.Processor, b.machine.Memory = watch.Machine(ctx)
	w.add(facts.RoleOwn, watch.Self(ctx))
	if t, ok := b.via.(*transport.AMQP); ok {
		addr := t.Hosts()[0]
		p := watch.Find(ctx, pids[facts.RoleBroker], addr)
		if !p.CountSockets(addr) {
			p.CountTraffic(t.Traffic())
		}
		w.add(facts.RoleBroker, p)
	}
	if len(b.s.hosts) > 0 { // else the store is within our process
		w.add(b.s.driver, b.watchStore(ctx, pids[b.s.driver]))
	}
	for role, pid := range pids {
		if !slices.ContainsFunc(w.list, func(p *watched) bool { return p.facts.Role == role }) {
			p := watch.Find(ctx, pid, "")
			p.CountSockets("")
			w.add(role, p)
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

// watchStore is the store's process.
func (b *binding) watchStore(ctx context.Context, pid int) *watch.Watched {
	addr := store.HostPort(b.s.hosts[0], storePorts[b.s.driver])
	p := watch.Find(ctx, pid, addr)
	if p.PID() > 0 && !p.CountSockets(addr) {
		p.CountDevice(ctx, b.s.hosts[0])
	}
	if b.s.driver == "cassandra" {
		p.AskJVM(cmp.Or(b.s.nodetool, b.s.agent))
	}
	return p
}

// take samples every process.
func (w *watcher) take(b *binding) {
	ctx, cancel := context.WithTimeout(b.stopped, 5*time.Second)
	defer cancel()
	for _, p := range w.list {
		if !p.Found() {
			continue
		}
		point := p.point(p.Take(ctx))
		point.AtNs = b.clock() - b.zero.Load()
		if !b.meter.Entered.Load() || ctx.Err() != nil {
			continue // it was the beginning of an interval
		}
		w.mu.Lock()
		p.learn()
		p.facts.Points = append(p.facts.Points, point)
		if len(p.facts.Points) >= maxPoints {
			p.facts.Points = thinned(p.facts.Points)
		}
		w.mu.Unlock()
	}
}

// point is a sample as it is written down.
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
