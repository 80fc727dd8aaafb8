package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
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
	// which loses what it had not synced.
	CanCut() error
	Cut(ctx context.Context, name string) error
	Restart(ctx context.Context, name string) error
	// Pause stops a server in its tracks, and Resume lets it go on.
	Pause(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
}

// servers returns those of the target; nil: they are not the lab's.
func (p *Prepared) servers() Servers {
	if p.env.Servers == nil {
		return nil
	}
	return p.env.Servers(p.Target.Redacted())
}

// haveRole returns an error of bad input if no server can have a fault.
func haveRole(servers Servers, kind, role string) error {
	if servers == nil {
		return fault.Input(fmt.Errorf("at: %s:%s is for servers of the lab on this machine, and the target is none", kind, role),
			"perfbench lab up redis starts one, which --target lab:redis names")
	}
	err := servers.Check(role)
	if err == nil && kind == workload.PowerCut {
		err = servers.CanCut()
	}
	return fault.Field("at", err)
}

// breaker breaks servers as the settings of a run ask for, one after the other and beside the run,
// and puts them right. The methods of a nil breaker do nothing.
type breaker struct {
	servers Servers
	mark    func(note string) // of the run
	work    sync.WaitGroup

	mu     sync.Mutex
	queue  []workload.Faults // what was asked for since
	busy   bool
	failed []string // what could not be done, each in a sentence

	// now is what is broken, and names which server; only the work uses them.
	now   workload.Faults
	names [len(workload.Faults{})]string
}

// newBreaker returns the breaker of a run; nil if its timetable has no faults of servers.
func newBreaker(p *Prepared, mark func(note string)) *breaker {
	for _, at := range p.Timetable {
		if kind, ok := workload.FaultSetting(at.Knob.Name); ok && workload.FaultKinds()[kind].Role(at.Value) != "" {
			return &breaker{servers: p.servers(), mark: mark}
		}
	}
	return nil
}

// set has the faults put into force soon; it does not wait.
func (b *breaker) set(f workload.Faults) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, f)
	if !b.busy {
		b.busy = true
		b.work.Go(b.carryOut)
	}
}

// wait waits until all that was asked for is done, and returns what could not be done. Nothing may
// be asked for meanwhile.
func (b *breaker) wait() []string {
	if b == nil {
		return nil
	}
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
	for i, v := range b.now {
		if role := kinds[i].Role(v); next[i] != v && role != "" && b.names[i] != "" {
			b.heal(i, role)
		}
	}
	for i, v := range next {
		if v == b.now[i] {
			continue
		}
		b.names[i] = ""
		if role := kinds[i].Role(v); role != "" {
			b.spoil(i, role)
		}
	}
	b.now = next
}

// spoil has a fault of a kind happen to the server with a role.
func (b *breaker) spoil(kind int, role string) {
	ctx, what := context.Background(), workload.FaultKinds()[kind].Name // a run that ends puts it right
	name, err := b.servers.Find(ctx, role)
	switch {
	case err != nil:
	case what == "kill":
		err = b.servers.Kill(ctx, name)
	case what == workload.PowerCut:
		err = b.servers.Cut(ctx, name)
	default:
		err = b.servers.Pause(ctx, name)
	}
	if err != nil {
		b.fail(fmt.Sprintf("The fault %s:%s did not happen: %v.", what, role, err))
		return
	}
	b.names[kind] = name
	b.mark(called(name, role) + map[string]string{"kill": " was killed", "pause": " was paused", workload.PowerCut: " lost its power"}[what])
}

// heal puts right what a fault of a kind has broken.
func (b *breaker) heal(kind int, role string) {
	ctx, what, name, began := context.Background(), workload.FaultKinds()[kind].Name, b.names[kind], time.Now()
	if what == "kill" || what == workload.PowerCut {
		if err := b.servers.Restart(ctx, name); err != nil {
			b.fail(fmt.Sprintf("%s could not be started again: %v; perfbench lab heal tries once more.", called(name, role), err))
			return
		}
		b.mark(fmt.Sprintf("%s is up again, after %s", called(name, role), units.Duration(time.Since(began).Round(time.Millisecond))))
		return
	}
	if err := b.servers.Resume(ctx, name); err != nil {
		b.fail(fmt.Sprintf("%s could not be resumed: %v; perfbench lab heal tries once more.", called(name, role), err))
		return
	}
	b.mark(called(name, role) + " goes on")
}

// called names a server by its role, and by its own name where that is another.
func called(name, role string) string {
	if strings.EqualFold(name, role) {
		return "the " + role
	}
	return fmt.Sprintf("the %s (%s)", role, name)
}

// fail notes what could not be done.
func (b *breaker) fail(sentence string) {
	b.mu.Lock()
	b.failed = append(b.failed, sentence)
	b.mu.Unlock()
	b.mark(strings.TrimSuffix(sentence, "."))
}
