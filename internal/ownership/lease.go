package ownership

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// TTL is how long a lease lasts without renewal: that long after its holder has
// died, the spaces are free again. Renewal is how often it is renewed.
const (
	TTL     = 15 * time.Second
	Renewal = 3 * time.Second
)

// lease is a lease that we hold, with what keeps it alive. Where nothing will be written
// there is none, and it is nil.
type lease struct {
	mu      sync.Mutex
	mine    store.Lease
	renewed time.Time // when the last renewal that worked was sent

	of        holdings
	conn      store.Conn
	leaser    store.Leaser
	keep      store.Keeper
	namespace string
	over      context.Context // done when no further renewal is wanted
	end       context.CancelFunc
	stop      context.CancelFunc // also cuts off a renewal in progress
	beating   sync.WaitGroup
	// gone is closed when somebody else has taken the lease; why then says who.
	gone  chan struct{}
	why   error
	gonce sync.Once
	freed sync.Once
}

// holdings are what a lease is held for.
type holdings interface {
	// between names a run that has recorded a space of ours since we did; "" if there is none.
	between(ctx context.Context, keep store.Keeper) (string, error)
	// Restore records again what is ours.
	Restore(ctx context.Context) error
}

// as returns the lease as we want it.
func (l *lease) as() store.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mine
}

// fresh reports whether the lease was renewed so lately that nobody can have taken it. A
// clock that stands still while the machine sleeps does not deceive it.
func (l *lease) fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	const limit = TTL - Renewal
	return time.Since(l.renewed) < limit && time.Now().Round(0).Sub(l.renewed.Round(0)) < limit
}

// lose notes that the lease is not ours any more.
func (l *lease) lose(why error) {
	l.gonce.Do(func() {
		l.why = fault.Code(why, fault.CodeOther)
		close(l.gone)
	})
}

// Hold takes the lease of a namespace for something other than a run, such as
// removing what is there. The claim must be released.
func Hold(ctx context.Context, conn store.Conn, namespace, what string) (*Claim, error) {
	keep, err := store.As[store.Keeper](conn)
	if err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	c := &Claim{conn: conn, keep: keep, want: Want{Namespace: namespace, Run: what}}
	if err := c.hold(ctx); err != nil {
		return nil, err
	}
	if c.made, err = keep.Made(ctx, namespace); err != nil {
		return nil, errors.Join(fault.Code(err, fault.CodeStore), c.Release(ctx))
	}
	return c, nil
}

// Holder says in words who is using a namespace; "" if nobody is.
func Holder(ctx context.Context, conn store.Conn, namespace string) (string, error) {
	l, ok := store.Has[store.Leaser](conn)
	if !ok {
		return "", nil
	}
	holder, held, err := l.Holder(ctx, namespace)
	if err != nil || !held || dead(holder) {
		return "", err
	}
	return words(holder), nil
}

// hold takes the lease and keeps it until Release. If its holder was a process of
// this machine that has died, it is taken over at once, unless workers of it may still
// write: they say until when.
func (c *Claim) hold(ctx context.Context) error {
	leaser, ok := store.Has[store.Leaser](c.conn)
	if !ok {
		return nil // a broker's queues cannot be deleted while they are in use
	}
	l := &lease{mine: self(c.want.Run), of: c, conn: c.conn, leaser: leaser, keep: c.keep, namespace: c.want.Namespace, gone: make(chan struct{})}
	l.mine.Workers = c.want.Workers
	if err := l.seek(ctx, &c.want, c.held != nil); err != nil {
		return err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.over, l.end = context.WithCancel(background)
	c.lease = l
	l.beating.Go(fault.Guarded(func() { l.beat(background) })) // ends with Release
	return nil
}

// seek takes the lease, waiting for one that is about to lapse or to say for how long
// workers need it.
func (l *lease) seek(ctx context.Context, w *Want, resumed bool) error {
	began := time.Now()
	// goesOn reports whether a lease is that of the run that the claim goes on with.
	goesOn := func(holder store.Lease) bool { return resumed && holder.Run == w.Run }
	for told := false; ; {
		holder, how, err := l.request(ctx, l.leaser)
		if err != nil || how != store.Denied {
			return err
		}
		switch {
		case dead(holder) && (holder.Workers == 0 || goesOn(holder)), holder.WriteUntil != "" && goesOn(holder):
			if _, err := l.leaser.Swap(ctx, l.namespace, holder, l.as(), TTL); err != nil && !l.unheard(ctx, err) {
				return err
			}
			continue
		case holder.WriteUntil == "" && !dead(holder), holder.WriteUntil != "" && !through(holder), time.Since(began) > 2*TTL:
			return inUse(l.namespace, holder)
		case told || w.Say == nil:
		case holder.WriteUntil != "":
			w.Say(fmt.Sprintf("%s was in use by the workers of %s, which have ended: waiting until %s for their lease to lapse", nameOf(l.namespace), words(holder), moment(time.Now().Add(TTL))))
		default:
			w.Say(fmt.Sprintf("%s is in use by %s, which has died: waiting until %s for its workers to say how long they still write", nameOf(l.namespace), words(holder), moment(time.Now().Add(TTL))))
		}
		told = true
		select {
		case <-time.After(settling):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// through reports whether workers that have lost their coordinator have ended by what they said
// themselves: their lease is about to lapse.
func through(holder store.Lease) bool {
	t, err := time.Parse(time.RFC3339, holder.WriteUntil)
	return err == nil && time.Now().After(t)
}

// settling is how long to wait before looking again at a lease that is about to lapse.
const settling = 500 * time.Millisecond

// request takes or renews the lease through a connection. If the answer to a request is lost,
// only the store knows whether it was carried out, so it is asked again.
func (l *lease) request(ctx context.Context, leaser store.Leaser) (holder store.Lease, how store.Hold, err error) {
	for {
		sent, mine := time.Now(), l.as()
		holder, how, err = leaser.Hold(ctx, l.namespace, mine, TTL)
		if l.unheard(ctx, err) {
			sent = time.Now()
			holder, how, err = leaser.Hold(ctx, l.namespace, mine, TTL)
			if how == store.Renewed { // or taken, by the request whose answer was lost
				how = store.Taken
			}
		}
		if err == nil && how == store.Denied && holder.Token == mine.Token {
			// Workers that had lost us have said in it until when they write, or we have
			// changed it ourselves meanwhile.
			if _, err = leaser.Swap(ctx, l.namespace, holder, l.as(), TTL); err == nil || l.unheard(ctx, err) {
				continue
			}
		}
		if err == nil && how != store.Denied {
			l.mu.Lock()
			l.renewed = sent
			l.mu.Unlock()
		}
		return holder, how, err
	}
}

// free gives up the lease of a holder, asking again as request does.
func (l *lease) free(ctx context.Context, holder store.Lease) error {
	err := l.leaser.Free(ctx, l.namespace, holder)
	if l.unheard(ctx, err) {
		err = l.leaser.Free(ctx, l.namespace, holder)
	}
	return err
}

// unheard reports whether a request made with ctx may have been carried out
// although it failed.
func (l *lease) unheard(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	class := l.conn.Classify(err)
	return class == store.Timeout || class == store.Unreachable
}

// impatient is how long to wait before the lease is renewed again when that has failed for
// so long that somebody else may have it by now.
const impatient = 100 * time.Millisecond

// beat renews the lease until it ends or somebody else has it. While the store is
// away nothing is known; once it is back, it may have lost the lease and the
// records, or given them to others.
func (l *lease) beat(ctx context.Context) {
	next := time.NewTimer(Renewal)
	defer next.Stop()
	for {
		select {
		case <-l.over.Done():
			return
		case <-next.C:
		}
		asking, cancel := context.WithTimeout(ctx, TTL)
		how, err := l.renew(asking, l.leaser, l.keep)
		if err == nil && how == store.Taken {
			_ = l.of.Restore(asking) // what cannot be recorded now will be at the end, or found missing
		}
		cancel()
		if l.lost() != nil {
			return
		}
		if next.Reset(Renewal); err != nil && !l.fresh() {
			next.Reset(impatient)
		}
	}
}

// renew renews the lease, and finds out whether somebody else has it, or had it since.
func (l *lease) renew(ctx context.Context, leaser store.Leaser, keep store.Keeper) (store.Hold, error) {
	holder, how, err := l.request(ctx, leaser)
	switch {
	case err != nil:
	case how == store.Denied:
		l.lose(fmt.Errorf("%s was taken over by %s: this run had not renewed its lease for %v, being suspended or cut off from the store", nameOf(l.namespace), words(holder), TTL))
	case how == store.Taken:
		var other string
		if other, err = l.of.between(ctx, keep); other != "" {
			l.lose(fmt.Errorf("%s was used by %s meanwhile: this run had not renewed its lease for %v, being suspended or cut off from the store", nameOf(l.namespace), other, TTL))
			_ = leaser.Free(ctx, l.namespace, l.as()) // or it lapses
		}
	}
	return how, err
}

// between names a run that has recorded a space of ours since we did; "" if there is none.
func (c *Claim) between(ctx context.Context, keep store.Keeper) (string, error) {
	made, err := keep.Made(ctx, c.want.Namespace)
	if err != nil {
		return "", err
	}
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	if !c.written {
		return "", nil
	}
	for _, m := range made {
		ours := slices.ContainsFunc(c.spots, func(s *Spot) bool { return !s.Reads && !s.gone && same(m, s.Space.Space) })
		if ours && m.Run != c.want.Run {
			return m.Run, nil
		}
	}
	return "", nil
}

// Confirm asks the store, by a connection of its own, whether the lease is still ours: the
// process was stopped, or cut off. If it is not, Err says why; an error of Confirm says
// that it is not known.
func (l *lease) Confirm(ctx context.Context, conn store.Conn) error {
	leaser, ok := store.Has[store.Leaser](conn)
	if !ok || l == nil {
		return nil
	}
	keep, err := store.As[store.Keeper](conn)
	if err == nil {
		_, err = l.renew(ctx, leaser, keep)
	}
	return err
}

// sure returns why nothing may be written. Unless the lease was renewed lately, it asks the
// store.
func (l *lease) sure(ctx context.Context) error {
	switch {
	case l == nil:
		return nil
	case l.lost() == nil && !l.fresh():
		if _, err := l.renew(ctx, l.leaser, l.keep); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return l.lost()
}

// WhileOurs returns a context that ends when somebody else has taken the lease.
func (l *lease) WhileOurs(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l != nil {
		fault.Go(func() { // ends with the context
			select {
			case <-l.gone:
				cancel(l.why)
			case <-ctx.Done():
			}
		})
	}
	return ctx, func() { cancel(nil) }
}

// lost returns why the lease belongs to somebody else; nil while it is ours.
func (l *lease) lost() error {
	if l == nil {
		return nil
	}
	select {
	case <-l.gone:
		return l.why
	default:
		return nil
	}
}

// Lost returns a channel that is closed when somebody else has taken over the
// namespace. Err then says who, and nothing may be written any more.
func (l *lease) Lost() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.gone
}

// Err returns why the claim was lost; nil while it holds.
func (l *lease) Err() error { return l.lost() }

// Release gives up the lease. It may be called more than once. If ctx ends while
// a renewal hangs in a store that does not answer, the lease is left to expire.
func (l *lease) Release(ctx context.Context) error {
	if l == nil {
		return nil
	}
	// A renewal in progress is not cut off: the store might carry it out after the
	// lease was given up, leaving a lease that nobody holds.
	l.end()
	defer l.stop()
	still := make(chan struct{})
	fault.Go(func() {
		defer close(still)
		l.beating.Wait() // a driver that ignores cancellation blocks until its own timeout
	})
	select {
	case <-still:
	case <-ctx.Done():
		return fault.Code(fmt.Errorf("release %s: %w", nameOf(l.namespace), context.Cause(ctx)), fault.CodeStore)
	}
	var err error
	l.freed.Do(func() {
		if l.lost() == nil {
			err = l.free(ctx, l.as())
		}
	})
	return fault.Code(err, fault.CodeStore)
}

// rather returns, in preference to err, that somebody else is working in the
// namespace: what they have made so far means little.
func (c *Claim) rather(ctx context.Context, err error) error {
	l, ok := store.Has[store.Leaser](c.conn)
	if !ok || fault.CodeOf(err) != fault.CodeInput {
		return err
	}
	holder, held, asked := l.Holder(ctx, c.want.Namespace)
	if asked != nil || !held || dead(holder) {
		return err
	}
	return inUse(c.want.Namespace, holder)
}

// inUse refuses a namespace that somebody else is using.
func inUse(namespace string, holder store.Lease) error {
	if holder.WriteUntil != "" {
		return fault.Input(fmt.Errorf("%s is in use by the workers of %s: they have lost their coordinator, and may write until %s", nameOf(namespace), words(holder), instant(holder.WriteUntil)),
			fmt.Sprintf("wait until then, continue that run with perfbench resume, or use another --namespace; once the last of them has ended, their lease lapses within %v", TTL))
	}
	return fault.Input(fmt.Errorf("%s is in use by %s", nameOf(namespace), words(holder)),
		fmt.Sprintf("wait until it ends, or use another --namespace; once a process has died, its lease lapses within %v", TTL))
}

// nameOf returns a namespace in words.
func nameOf(namespace string) string {
	if namespace == "" {
		return "the empty namespace"
	}
	return fmt.Sprintf("the namespace %q", namespace)
}

// words says who holds a lease, and since when.
func words(l store.Lease) string {
	workers := ""
	switch {
	case l.Workers == 1:
		workers = ", with 1 worker"
	case l.Workers > 1:
		workers = fmt.Sprintf(", with %d workers", l.Workers)
	}
	return fmt.Sprintf("%s (process %d on %s%s) since %s", l.Run, l.PID, l.Host, workers, instant(l.Since))
}

// instant writes a time of a lease for people.
func instant(text string) string {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return moment(t)
	}
	return text
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// self returns a new lease of this process.
func self(run string) store.Lease {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return store.Lease{
		Run: run, Host: host, PID: os.Getpid(), Since: time.Now().UTC().Format(time.RFC3339),
		Machine: machine(), Born: born(os.Getpid()), Token: rand.Text(),
	}
}

// dead reports whether a lease belongs to a process of this machine that has
// ended.
func dead(l store.Lease) bool { return Ended(l.PID, l.Machine, l.Born) }

// Identity returns what tells this process from others with the same number: the machine, and
// when the process was started there. Both are empty where that cannot be determined.
func Identity() (onMachine, started string) { return machine(), born(os.Getpid()) }

// Ended reports whether a process is known to have ended: one of this machine, by what it says
// Identity is. Nobody knows it of another machine's.
func Ended(pid int, onMachine, started string) bool {
	return onMachine != "" && onMachine == machine() && started != "" && born(pid) != started
}
