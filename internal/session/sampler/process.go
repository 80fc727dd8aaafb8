package session

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

const (
	// mostNodes is how many processes of a store are watched.
	mostNodes = 8
	// usageTime is how long a store may take to tell what it has used.
	usageTime = time.Second
	// wholeSecond is how long a sample must span to tell the busiest second.
	wholeSecond = 500 * time.Millisecond
)

// processes are perfbench's own and, where it runs on this machine, the store's, as
// they are watched in every run. One goroutine looks; any may report.
type processes struct {
	mu   sync.Mutex
	list []*process
	// before is what the store had used when measurement began, used what it has
	// since; nil before the end, and when it does not tell.
	before store.Usage
	used   *verdict.Used
}

// process is one with the sums of what was sampled of it: CPU and bytes, times the
// seconds of each sample.
type process struct {
	*watch.Watched
	role string
	last time.Time

	cpu, cpuFor, cpuMost float64
	in, out, netFor      float64
	rss                  int64
}

// find finds the processes to watch.
func (l *Live) findProcesses(ctx context.Context) {
	list := []*process{{Watched: watch.Self(ctx), role: "perfbench"}}
	if port := l.Driver.Port; port > 0 && l.Info.NoFigure == "" && !strings.Contains(l.Target.Scheme, "sentinel") {
		for _, h := range l.Target.Hosts[:min(len(l.Target.Hosts), mostNodes)] {
			addr := store.HostPort(h, port)
			role := l.Driver.Name
			if len(l.Target.Hosts) > 1 {
				role += " at " + addr
			}
			w := watch.Find(ctx, 0, addr)
			w.CountSockets(addr)
			list = append(list, &process{Watched: w, role: role})
		}
	}
	l.processes.mu.Lock()
	defer l.processes.mu.Unlock()
	l.processes.list = list
}

// look samples every process.
func (p *processes) look(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.list {
		if one.Found() {
			one.add(one.Take(ctx))
		}
	}
}

func (p *process) add(x watch.Point) {
	passed, first := x.At.Sub(p.last), p.last.IsZero()
	p.last = x.At
	if first || passed <= 0 {
		return // an interval begins
	}
	seconds := passed.Seconds()
	if x.CPU != nil {
		p.cpu, p.cpuFor = p.cpu+*x.CPU*seconds, p.cpuFor+seconds
		if passed >= wholeSecond {
			p.cpuMost = max(p.cpuMost, *x.CPU)
		}
	}
	if x.NetIn != nil {
		p.in, p.out, p.netFor = p.in+*x.NetIn*seconds, p.out+*x.NetOut*seconds, p.netFor+seconds
	}
	if x.RSS != nil {
		p.rss = max(p.rss, *x.RSS)
	}
}

// restart forgets what was seen, as at the end of the warm-up.
func (p *processes) restart(ctx context.Context) {
	p.mu.Lock()
	for _, one := range p.list {
		*one = process{Watched: one.Watched, role: one.role}
	}
	p.mu.Unlock()
	p.look(ctx)
}

// report is what was seen so far.
func (p *processes) report() (out []verdict.Process, used *verdict.Used) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.list {
		f := verdict.Process{Role: one.role, PID: one.PID(), Name: one.Name(), Note: one.Note}
		if one.cpuFor > 0 {
			f.CPU = new(one.cpu / one.cpuFor)
		}
		if one.cpuMost > 0 {
			f.CPUMost = new(one.cpuMost)
		}
		if one.rss > 0 {
			f.RSSMost = new(one.rss)
		}
		if one.netFor > 0 {
			f.NetIn, f.NetOut = new(one.in/one.netFor), new(one.out/one.netFor)
		}
		out = append(out, f)
	}
	return out, p.used
}

// usage asks a store that tells what it has used.
func (l *Live) usage() store.Usage {
	m, ok := l.conn.(store.Metered)
	if !ok {
		return store.Untold()
	}
	ctx, cancel := context.WithTimeout(context.Background(), usageTime)
	defer cancel()
	return m.Usage(ctx)
}

// usageBegins notes what the store had used when measurement began.
func (l *Live) usageBegins() {
	u := l.usage()
	l.processes.mu.Lock()
	defer l.processes.mu.Unlock()
	l.processes.before = u
}

// usageEnds notes what the store has used since; one that was started again meanwhile
// has nothing to say.
func (l *Live) usageEnds() {
	after := l.usage()
	l.processes.mu.Lock()
	defer l.processes.mu.Unlock()
	before := l.processes.before
	grown := func(before, after int64) *int64 {
		if before < 0 || after < before {
			return nil
		}
		return new(after - before)
	}
	u := verdict.Used{Received: grown(before.Received, after.Received), Sent: grown(before.Sent, after.Sent)}
	if before.CPU >= 0 && after.CPU >= before.CPU {
		u.CPU = new(after.CPU - before.CPU)
	}
	if u.Calls = grown(before.Calls, after.Calls); u.Calls != nil {
		u.Kind = after.Kind
	}
	if after.Memory >= 0 {
		u.Memory = new(after.Memory)
	}
	if u != (verdict.Used{}) {
		l.processes.used = &u
	}
}
