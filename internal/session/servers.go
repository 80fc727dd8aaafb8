package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Servers are the servers of a target, which faults of a timetable can be of. They are known by
// their names; a role may move from one to another.
type Servers interface {
	// Check returns an error of bad input if no server ever has the role.
	Check(role string) error
	// Find returns the server that has the role now.
	Find(ctx context.Context, role string) (name string, err error)
	// Kill ends a server as a crash would, and Restart starts it again, with the data that it
	// still has, and returns when it answers.
	Kill(ctx context.Context, name string) error
	// CanCut returns why the servers' power cannot be cut. Cut ends a server as a power cut would,
	// which loses what it had not synced: all of it or, torn, each sector of it or not.
	CanCut() error
	Cut(ctx context.Context, name string, torn bool) error
	// SlowSync has the servers wait that much longer for their disk, which can be had where CanCut
	// returns nil; 0 ends it.
	SlowSync(ctx context.Context, by time.Duration) error
	Restart(ctx context.Context, name string) error
	// TakeOver has another server become the primary if the primary has ended, and returns its name
	// once it is; "" if servers see to that themselves, or there is none.
	TakeOver(ctx context.Context) (name string, err error)
	// HasSetting returns an error of bad input if Anew does not take a setting of that name. Anew
	// starts the servers again, without their data and with settings of their own; with none, as they
	// were before.
	HasSetting(name string) error
	Anew(ctx context.Context, settings map[string]string) error
	// Pause stops a server in its tracks, and Resume lets it go on.
	Pause(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
}

// Servers returns those of the target; nil: they are not the lab's.
func (p *Prepared) Servers() Servers { return p.servers(false) }

// ServersOf returns those that a fault of the kind can be of; nil: they are not the lab's.
func (p *Prepared) ServersOf(k *workload.FaultKind) Servers { return p.servers(k.Via) }

// servers returns those of the target or, with via, of what stands between; nil: they are not the
// lab's.
func (p *Prepared) servers(via bool) Servers {
	at := p.Target.Redacted()
	if via {
		at = p.Plan.Via
	}
	if p.env.Servers == nil || at == "" {
		return nil
	}
	return p.env.Servers(at)
}

// haveRole returns an error of bad input if no server can have a fault.
func haveRole(servers Servers, k *workload.FaultKind, v float64) error {
	role, where, up, flag := k.Role(v), "the target", "redis", "--target lab:redis"
	if k.Via {
		where, up, flag = "what via= names", "rabbitmq", "--set via=lab:rabbitmq"
	}
	if servers == nil {
		what := k.Name + ":" + role
		if k.Kind == workload.SlowSync {
			what, up = k.Name, up+" --power-cut"
		}
		return fault.Input(fmt.Errorf("at: %s is for servers of the lab on this machine, and %s is none", what, where),
			fmt.Sprintf("perfbench lab up %s starts one, which %s names", up, flag))
	}
	err := servers.Check(role)
	if err == nil && k.Kind == workload.PowerCut {
		err = servers.CanCut()
	} else if err == nil && k.Kind == workload.SlowSync && servers.CanCut() != nil {
		err = fault.Input(fmt.Errorf("%s needs the data on a file system of perfbench's own, and they are not", k.Name),
			"perfbench lab up redis --power-cut has them there; so do postgres, mariadb, cassandra and rabbitmq")
	}
	return fault.Field("at", err)
}

// breaker has faults happen as the settings of a run ask for, one after the other and beside the
// run, and puts right what they broke.
type breaker struct {
	hand hand
	mark func(note string) // of the run
	work sync.WaitGroup

	mu     sync.Mutex
	queue  []workload.Faults // what was asked for since
	busy   bool
	failed []string // what could not be done, each in a sentence
	notes  []string // what was put on the time line, unless the run had ended

	// now is what is broken; only the work uses it.
	now workload.Faults
}

// hand is what has faults of some means happen. Its methods are called one at a time. What they did
// is returned as a note, "" for nothing; what could not be done as an error that is a sentence.
type hand interface {
	means() workload.Means
	spoil(kind int, v float64) (note string, err error)
	heal(kind int, v float64) (note string, err error)
	// follow does what must be done once a fault has happened.
	follow(kind int) (note string, err error)
}

// breakers are those of a run.
type breakers []*breaker

// newBreakers returns the breakers of a run. ctx ends the commands that are under way.
func newBreakers(ctx context.Context, p *Prepared, servers func(via bool) Servers, mark func(note string)) breakers {
	return breakers{
		{hand: &serverHand{servers: servers}, mark: mark},
		{hand: &commandHand{ctx: ctx, plan: p.Plan, environ: p.env.Environ, limit: commandLimit, owe: p.env.Owe}, mark: mark},
	}
}

// set has the faults put into force soon; it does not wait.
func (bs breakers) set(f workload.Faults) {
	for _, b := range bs {
		b.set(f)
	}
}

// wait waits until all that was asked for is done, and returns what could not be done. Nothing may
// be asked for meanwhile.
func (bs breakers) wait() (failed []string) {
	for _, b := range bs {
		failed = append(failed, b.wait()...)
	}
	return failed
}

// late returns the notes that came after a run had ended, as none of its marks has them. It follows
// wait.
func (bs breakers) late(marks []rundir.Mark) (notes []string) {
	for _, b := range bs {
		b.mu.Lock()
		for _, n := range b.notes {
			if !slices.ContainsFunc(marks, func(m rundir.Mark) bool { return m.Note == n }) {
				notes = append(notes, n)
			}
		}
		b.mu.Unlock()
	}
	return notes
}

func (b *breaker) set(f workload.Faults) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, f)
	if !b.busy {
		b.busy = true
		b.work.Go(fault.Guarded(b.carryOut))
	}
}

func (b *breaker) wait() []string {
	b.work.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.failed)
}

// carryOut does what was asked for, until there is nothing more.
func (b *breaker) carryOut() {
	for {
		b.mu.Lock()
		if len(b.queue) == 0 {
			b.busy = false
			b.mu.Unlock()
			return
		}
		next := b.queue[0]
		b.queue = b.queue[1:]
		b.mu.Unlock()
		b.turn(next)
	}
}

// turn puts right what is to end, and then breaks what is to begin.
func (b *breaker) turn(next workload.Faults) {
	kinds := workload.FaultKinds()
	mine := func(kind int, v float64) bool { return v != 0 && kinds[kind].Means(v) == b.hand.means() }
	for i, v := range b.now {
		if mine(i, v) && next[i] != v {
			b.say(b.hand.heal(i, v))
		}
	}
	for i, v := range next {
		if mine(i, v) && b.now[i] != v {
			b.say(b.hand.spoil(i, v))
			b.say(b.hand.follow(i))
		}
	}
	b.now = next
}

// say notes what was done, or could not be.
func (b *breaker) say(note string, err error) {
	if err != nil {
		b.mu.Lock()
		b.failed = append(b.failed, err.Error())
		b.mu.Unlock()
		note = strings.TrimSuffix(err.Error(), ".")
	}
	if note != "" {
		b.mu.Lock()
		b.notes = append(b.notes, note)
		b.mu.Unlock()
		b.mark(note)
	}
}

// serverHand has faults happen to servers of the lab.
type serverHand struct {
	servers func(via bool) Servers
	// names is which server has each kind of fault; "": none.
	names [len(workload.Faults{})]string
}

func (h *serverHand) means() workload.Means { return workload.OfServer }

// spoil has a fault of a kind happen to the server with a role.
func (h *serverHand) spoil(kind int, v float64) (string, error) {
	k, ctx := &workload.FaultKinds()[kind], context.Background() // a run that ends puts it right
	role, servers := k.Role(v), h.servers(k.Via)
	h.names[kind] = ""
	name, err := servers.Find(ctx, role)
	switch {
	case err != nil:
	case k.Kind == workload.Kill:
		err = servers.Kill(ctx, name)
	case k.Kind == workload.PowerCut:
		err = servers.Cut(ctx, name, k.Torn(v))
	case k.Kind == workload.SlowSync:
		err = servers.SlowSync(ctx, k.Time(v))
	default:
		err = servers.Pause(ctx, name)
	}
	if err == nil && k.Kind == workload.SlowSync {
		h.names[kind] = name
		return fmt.Sprintf("fsync of %s takes %s longer", called(name, role), units.Duration(k.Time(v))), nil
	}
	if err != nil {
		return "", fmt.Errorf("The fault %s:%s did not happen: %w.", k.Name, k.Format(v), err) //nolint:staticcheck // a sentence
	}
	h.names[kind] = name
	if k.Torn(v) {
		return called(name, role) + " lost its power in the middle of what it wrote", nil
	}
	return called(name, role) + map[string]string{workload.Kill: " was killed", "pause": " was paused", workload.PowerCut: " lost its power"}[k.Kind], nil
}

// follow has another server take over from a primary that has ended, where the servers leave that to
// others.
func (h *serverHand) follow(kind int) (string, error) {
	k, began := &workload.FaultKinds()[kind], time.Now()
	if h.names[kind] == "" || k.Kind != workload.Kill {
		return "", nil
	}
	name, err := h.servers(k.Via).TakeOver(context.Background()) // it has its own limit
	switch {
	case err != nil:
		return "", fmt.Errorf("No server took over: %w.", err) //nolint:staticcheck // a sentence
	case name == "":
		return "", nil
	}
	return fmt.Sprintf("%s took over, after %s", name, units.Duration(time.Since(began).Round(time.Millisecond))), nil
}

// heal puts right what a fault of a kind has broken.
func (h *serverHand) heal(kind int, v float64) (string, error) {
	k, ctx, name, began := &workload.FaultKinds()[kind], context.Background(), h.names[kind], time.Now()
	role := k.Role(v)
	switch {
	case name == "": // it did not happen
		return "", nil
	case k.Kind == workload.SlowSync:
		if err := h.servers(k.Via).SlowSync(ctx, 0); err != nil {
			return "", fmt.Errorf("fsync of %s could not be made as fast as before: %w; perfbench lab heal tries once more.", called(name, role), err) //nolint:staticcheck // a sentence
		}
		return fmt.Sprintf("fsync of %s is as before", called(name, role)), nil
	case k.Kind == workload.Kill || k.Kind == workload.PowerCut:
		if err := h.servers(k.Via).Restart(ctx, name); err != nil {
			return "", fmt.Errorf("%s could not be started again: %w; perfbench lab heal tries once more.", called(name, role), err) //nolint:staticcheck // a sentence
		}
		return fmt.Sprintf("%s is up again, after %s", called(name, role), units.Duration(time.Since(began).Round(time.Millisecond))), nil
	}
	if err := h.servers(k.Via).Resume(ctx, name); err != nil {
		return "", fmt.Errorf("%s could not be resumed: %w; perfbench lab heal tries once more.", called(name, role), err) //nolint:staticcheck // a sentence
	}
	return called(name, role) + " goes on", nil
}

// called names a server by its role, and by its own name where that is another.
func called(name, role string) string {
	if strings.EqualFold(name, role) {
		return "the " + role
	}
	return fmt.Sprintf("the %s (%s)", role, name)
}
