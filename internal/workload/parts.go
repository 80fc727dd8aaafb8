package workload

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/watch"
)

// Parts are what a bound plan is made of, in the order in which they are asked: what prepares the
// store, what is running beside the workers, what verifies. Each is whichever of the interfaces below
// it has the methods of.
type Parts []any

// What a part of a plan can be.
type (
	// Admitter decides what to do about data that is already there; see ownership.Want.
	Admitter interface {
		Admit(ctx context.Context, c *ownership.Claim) error
	}
	// Preparer prepares the store: tables, and data to be read. The spaces have been claimed and
	// recorded by then. progress may be called from any goroutine.
	Preparer interface {
		Setup(ctx context.Context, progress func(done, total int64)) error
	}
	// Joiner begins what goes on in a process that carries out a part of a run that another has
	// prepared, once it has what was Found there. It is not admitted or set up.
	Joiner interface {
		Join(ctx context.Context) error
	}
	// Successor takes the place of a process that has prepared the run and died, once it has what
	// was Found and Kept there, and has been admitted to what was there before the run.
	Successor interface {
		Succeed(ctx context.Context, dead Predecessor) error
	}
	// Observer adds processes to those watched during the run, or is notified of them. It is
	// called once the store is prepared.
	Observer interface {
		Watch(ctx context.Context, processes *watch.Set)
	}
	// Waiter names what the profile itself is waiting for at the end, apart from its workers'
	// operations, and the time since which none of it has finished; nil means nothing. Any goroutine
	// may call it.
	Waiter interface {
		UnderWay() (what []string, since time.Time)
	}
	// Relay tells of what the workers of tracks that relay hand over: the calls of the store that the
	// profile itself makes with it, those that worked and those that failed; and how many units are on
	// their way, neither done nor given up. Any goroutine may call it.
	Relay interface {
		Calls() (worked, failed int64)
		OnTheWay() int64
	}
	// Linked counts the connections that the profile has opened itself, beside those to the store: to a
	// broker. Any goroutine may call it.
	Linked interface {
		Connections() int64
	}
	// Dependent asks what else the plan cannot do without, such as a broker, in the way of
	// store.Answerer; the error says who does not answer. Any goroutine may call it.
	Dependent interface {
		Answer(ctx context.Context) error
	}
	// Settler stops what goes on beside the workers, in a process that has done its part of a run,
	// before the last call of Shared.Delta.
	Settler interface {
		Settle(ctx context.Context)
	}
	// Verifier compares what is stored with what was acknowledged. It is called after the last
	// phase, even if the run failed.
	Verifier interface {
		Verify(ctx context.Context) Verification
	}
	// Reporter returns the profile's own documented record for reports, as a value that encodes to
	// JSON. measured is what the run has measured up to its last finished second; nil before there is
	// one. Any goroutine may call it, once a second.
	Reporter interface {
		Facts(measured *measure.Result) any
	}
	// StatusReporter says in a few words what only the profile knows of the run so far, such as "hits 97 %";
	// "" means nothing. Any goroutine may call it.
	StatusReporter interface {
		Status() string
	}
	// Comparer compares the answers of the store with those of an earlier run; nil if it does not.
	// Any goroutine may call it.
	Comparer interface {
		Answers() *Answers
	}
	// Remover removes what the run created outside its spaces. It is called with --cleanup only.
	Remover interface {
		Teardown(ctx context.Context) error
	}
)

// Predecessor is the process in whose place another goes on with a run.
type Predecessor struct {
	// Began is when the measured part began.
	Began time.Time
	// Facts are the last that were written down, as JSON; empty if there are none.
	Facts []byte
}

// Has reports whether any of the parts is a T.
func Has[T any](parts Parts) bool { return len(are[T](parts)) > 0 }

// are returns the parts that are a T.
func are[T any](parts Parts) (out []T) {
	for _, p := range parts {
		if one, ok := p.(T); ok {
			out = append(out, one)
		}
	}
	return out
}

// each calls f for the parts that are a T, up to the first error.
func each[T any](parts Parts, f func(T) error) error {
	for _, p := range are[T](parts) {
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// Admit has each Admitter decide.
func (ps Parts) Admit(ctx context.Context, c *ownership.Claim) error {
	return each(ps, func(p Admitter) error { return p.Admit(ctx, c) })
}

// Setup has each Preparer prepare the store. progress may be nil.
func (ps Parts) Setup(ctx context.Context, progress func(done, total int64)) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	return each(ps, func(p Preparer) error { return p.Setup(ctx, progress) })
}

// Join has each Joiner begin.
func (ps Parts) Join(ctx context.Context) error {
	return each(ps, func(p Joiner) error { return p.Join(ctx) })
}

// Succeed has each Successor take over.
func (ps Parts) Succeed(ctx context.Context, dead Predecessor) error {
	return each(ps, func(p Successor) error { return p.Succeed(ctx, dead) })
}

// Watch tells each Observer of the processes.
func (ps Parts) Watch(ctx context.Context, processes *watch.Set) {
	for _, p := range are[Observer](ps) {
		p.Watch(ctx, processes)
	}
}

// UnderWay is what any Waiter is waiting for, and since when at least one of them has not seen any of
// it finish.
func (ps Parts) UnderWay() (what []string, since time.Time) {
	for _, p := range are[Waiter](ps) {
		some, at := p.UnderWay()
		if len(some) > 0 && (since.IsZero() || at.Before(since)) {
			since = at
		}
		what = append(what, some...)
	}
	return what, since
}

// Connections counts the connections that the plan has opened beside those to the store.
func (ps Parts) Connections() (n int64) {
	for _, p := range are[Linked](ps) {
		n += p.Connections()
	}
	return n
}

// Calls adds up those of each Relay.
func (ps Parts) Calls() (worked, failed int64) {
	for _, p := range are[Relay](ps) {
		w, f := p.Calls()
		worked, failed = worked+w, failed+f
	}
	return worked, failed
}

// OnTheWay adds up what is on its way through each Relay; false: there is none.
func (ps Parts) OnTheWay() (n int64, relays bool) {
	for _, p := range are[Relay](ps) {
		n, relays = n+p.OnTheWay(), true
	}
	return n, relays
}

// Answer returns what the first Dependent in want says.
func (ps Parts) Answer(ctx context.Context) error {
	return each(ps, func(p Dependent) error { return p.Answer(ctx) })
}

// Settle has each Settler stop.
func (ps Parts) Settle(ctx context.Context) {
	for _, p := range are[Settler](ps) {
		p.Settle(ctx)
	}
}

// Verify has the first Verifier compare; it speaks for all parts.
func (ps Parts) Verify(ctx context.Context) Verification {
	for _, p := range are[Verifier](ps) {
		return p.Verify(ctx)
	}
	return Verification{State: Skipped, Summary: "this run has nothing to verify"}
}

// Facts is the record of the first Reporter, which speaks for all parts; nil: there is none.
func (ps Parts) Facts(measured *measure.Result) any {
	for _, p := range are[Reporter](ps) {
		return p.Facts(measured)
	}
	return nil
}

// Status is what the first StatusReporter says; "": nothing.
func (ps Parts) Status() string {
	for _, p := range are[StatusReporter](ps) {
		return p.Status()
	}
	return ""
}

// Answers is what the first Comparer has found so far; nil: none are compared.
func (ps Parts) Answers() *Answers {
	for _, p := range are[Comparer](ps) {
		return p.Answers()
	}
	return nil
}

// Teardown has each Remover remove what it made.
func (ps Parts) Teardown(ctx context.Context) error {
	var errs []error
	for _, p := range are[Remover](ps) {
		errs = append(errs, p.Teardown(ctx))
	}
	return errors.Join(errs...)
}
