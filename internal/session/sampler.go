package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

// mostNodes is how many processes of a store are watched.
const mostNodes = 8

// Options say what to sample.
type Options struct {
	// Role is what the processes of the store are called, Addrs are the addresses they
	// listen on; none for a store without processes.
	Role  string
	Addrs []string
	// Agent is the URL of the metrics agent in the JVM of a sole process; empty: none.
	Agent string
	// Server reports what the store uses; nil if it cannot.
	Server store.Metered
	// Book is the store's own log; nil if it has none. Own is the prefix of the run's
	// keys, empty if unknown.
	Book store.Notebook
	Own  string
	// Pool returns statistics of the connections to the store; false if there is no
	// pool. May be nil.
	Pool func() (store.PoolStats, bool)
	// Also returns further samples of a second that has ended; may be nil.
	Also func(second int) []rundir.Sample
}

// Sampler takes the samples. Its methods may be called from any goroutine.
type Sampler struct {
	o       Options
	set     watch.Set
	seconds chan int
	anew    chan struct{}
	over    chan struct{}

	// Used by the sampling goroutine: what the server reported, if it does, and the
	// samples of the current second.
	server  counters
	pool    counters
	others  counters
	reports bool
	second  int
	row     []rundir.Sample
	notes   notes
	lives   lives

	mu        sync.Mutex
	processes []*process
	company   company
	// before is what the store had used when measurement began, used what it has used
	// since; nil before the end, and if the store does not report it.
	before store.Usage
	used   *verdict.Used
}

// New finds the processes to watch.
func New(ctx context.Context, o Options) *Sampler {
	s := &Sampler{o: o, seconds: make(chan int, 1), anew: make(chan struct{}, 1), over: make(chan struct{}), notes: notes{book: o.Book, own: o.Own}}
	s.set.Put(rundir.OfClient, watch.Self(ctx))
	for _, addr := range o.Addrs[:min(len(o.Addrs), mostNodes)] {
		role := o.Role
		if len(o.Addrs) > 1 {
			role += watch.At + addr
		}
		w := watch.FindServer(ctx, 0, addr)
		if o.Agent != "" && len(o.Addrs) == 1 {
			w.AskJVM(o.Agent)
		}
		s.set.Put(role, w)
	}
	return s
}

// Set returns the processes being watched, to which others may be added.
func (s *Sampler) Set() *watch.Set { return &s.set }

// Begin takes the first readings, from which the first second is measured. It returns
// why the store does not report everything, nil if it does or has nothing to report,
// and whether it reports anything.
func (s *Sampler) Begin(ctx context.Context) (reports bool, refused error) {
	s.set.OnSample(s.seen)
	s.restart(ctx)
	if s.o.Server != nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var told []store.Reading
		told, refused = s.o.Server.Readings(ctx)
		s.server.add(0, time.Now(), told)
		s.lives.add(time.Now(), told)
		s.reports = refused == nil || len(told) > 0
	}
	if s.reports {
		if _, err := s.notes.read(ctx, 0); err != nil && s.notes.at != nil {
			refused = errors.Join(refused, err)
		}
	}
	return s.reports, refused
}

// BeginOthers takes the first readings of what works beside the store. It returns why
// some of it does not report everything; nil if it does or there is nothing.
func (s *Sampler) BeginOthers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := s.beside(ctx, 0)
	return err
}

// beside returns the readings of what works beside the store, such as a broker.
func (s *Sampler) beside(ctx context.Context, second int) ([]rundir.Sample, error) {
	all, err := s.set.Counted(ctx)
	var told []store.Reading
	for _, role := range slices.Sorted(maps.Keys(all)) {
		for _, c := range all[role] {
			told = append(told, store.Reading{Node: role, Name: c.Name, Value: c.Value, Sum: c.Sum})
		}
	}
	if len(told) == 0 {
		return nil, err
	}
	row := s.others.add(second, time.Now(), told)
	for i := range row {
		row[i].Source = rundir.OfOther
	}
	return row, err
}

// Second samples a second of the run that has just ended. It never blocks: while an
// earlier second is being sampled, it does nothing.
func (s *Sampler) Second(t int) {
	select {
	case s.seconds <- t:
	default:
	}
}

// Restart discards everything seen so far, as at the end of the warm-up.
func (s *Sampler) Restart() {
	select {
	case s.anew <- struct{}{}:
	default:
	}
}

// Over returns a channel that is closed when the last second has been sampled.
func (s *Sampler) Over() <-chan struct{} { return s.over }

// Run samples until done is closed, passes the samples of each second to keep, and notes servers that
// were started again by mark. After that, a store that does not answer is waited
// for only once, whatever it is still to be asked, so that a second interrupt does not
// have to wait any longer.
func (s *Sampler) Run(done <-chan struct{}, keep func([]rundir.Sample), mark func(when time.Time, note string)) {
	defer close(s.over)
	ctx, cancel := context.WithCancel(context.Background()) // the run's context has ended when the last sample is due
	defer cancel()
	fault.Go(func() {
		<-done
		select {
		case <-time.After(patience):
			cancel()
		case <-ctx.Done():
		}
	})
	for {
		select {
		case t := <-s.seconds:
			keep(s.sample(ctx, t))
			for _, r := range s.lives.fresh() {
				mark(r.when, r.Note())
			}
		case <-s.anew:
			s.restart(ctx)
		case <-done:
			select {
			case t := <-s.seconds:
				keep(s.sample(ctx, t))
			default:
				s.set.Sample(ctx)
			}
			s.end(ctx)
			return
		}
	}
}

// sample samples everything watched, for a second that has ended.
func (s *Sampler) sample(ctx context.Context, second int) []rundir.Sample {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.row, s.second = nil, second
	s.set.Sample(ctx)
	s.mu.Lock()
	s.company.close()
	s.mu.Unlock()
	if s.reports {
		if told, err := s.o.Server.Readings(ctx); err == nil || len(told) > 0 { // otherwise a gap: the run reports a store that is away
			s.row = append(s.row, s.server.add(second, time.Now(), told)...)
			s.lives.add(time.Now(), told)
		}
	}
	s.row = append(s.row, s.pooled(second)...)
	others, _ := s.beside(ctx, second) // those that reported nothing at the start were named then
	s.row = append(s.row, others...)
	if s.o.Also != nil {
		s.row = append(s.row, s.o.Also(second)...)
	}
	s.note(ctx)
	return s.row
}

// seen takes a sample of a process.
func (s *Sampler) seen(m *watch.Member, x watch.Point) {
	var seconds float64
	s.mu.Lock()
	for _, p := range s.processes {
		if p.Role == m.Role {
			p.learn(m)
			seconds = p.add(x)
		}
	}
	s.company.add(m, x, seconds)
	s.mu.Unlock()
	source, node := rundir.OfOther, m.Role
	switch own, addr, several := strings.Cut(m.Role, watch.At); {
	case m.Role == rundir.OfClient:
		source, node = rundir.OfClient, ""
	case own == s.o.Role && several:
		source, node = rundir.OfProcess, addr
	case own == s.o.Role:
		source, node = rundir.OfProcess, ""
	}
	s.row = append(s.row, samplesOf(s.second, source, node, x, seconds)...)
}

// restart discards what was seen, and begins anew with what is there now.
func (s *Sampler) restart(ctx context.Context) {
	var list []*process
	s.set.Each(func(m *watch.Member) {
		p := &process{}
		p.learn(m)
		list = append(list, p)
	})
	s.mu.Lock()
	s.processes = list
	s.mu.Unlock()
	s.set.Sample(ctx)
	s.mu.Lock()
	s.company = company{}
	s.mu.Unlock()
	u := usage(ctx, s.o.Server)
	s.note(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.notes.list, s.notes.more = u, nil, 0
}

// note keeps what the store has logged since it was last asked, for the current second.
func (s *Sampler) note(ctx context.Context) {
	if s.notes.at == nil {
		return // it noted nothing at the beginning
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, _ := s.notes.read(ctx, s.second) // what is missing now will come next time
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes.keep(list)
}

// end takes the final readings of what the store has used.
func (s *Sampler) end(ctx context.Context) {
	after := usage(ctx, s.o.Server)
	s.note(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = between(s.before, after)
}

// Noted returns what the servers have logged so far, and how many shorter entries were
// left out.
func (s *Sampler) Noted() (list []verdict.Noted, more int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes.list), s.notes.more
}

// Others returns how many processors of this machine those processes used that are not watched, on
// average of the seconds so far and in the busiest; nil if that is not known.
func (s *Sampler) Others() (mean, most *float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.company.report()
}

// Report returns what the processes have used so far and, after the end, what the store
// has used by its own counters; nil if it does not report that.
func (s *Sampler) Report() (out []verdict.Process, used *verdict.Used) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.processes {
		out = append(out, p.report())
	}
	return out, s.used
}
