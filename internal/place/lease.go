package place

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
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

// lease is a lease that we hold, with what keeps it alive.
type lease struct {
	store.Lease
	conn      store.Conn
	leaser    store.Leaser
	namespace string
	over      context.Context // done when no further renewal is wanted
	end       context.CancelFunc
	stop      context.CancelFunc // also cuts off a renewal in progress
	beating   sync.WaitGroup
	// gone is closed when somebody else has taken the lease; why then says who.
	gone  chan struct{}
	why   error
	freed sync.Once
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
	l, ok := conn.(store.Leaser)
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
// this machine that has died, it is taken over at once.
func (c *Claim) hold(ctx context.Context) error {
	leaser, ok := c.conn.(store.Leaser)
	if !ok {
		return nil // a broker's queues cannot be deleted while they are in use
	}
	l := &lease{Lease: self(c.want.Run), conn: c.conn, leaser: leaser, namespace: c.want.Namespace, gone: make(chan struct{})}
	holder, how, err := l.hold(ctx)
	if err == nil && how == store.Denied && dead(holder) {
		if err = l.free(ctx, holder); err == nil {
			holder, how, err = l.hold(ctx)
		}
	}
	switch {
	case err != nil:
		return err
	case how == store.Denied:
		return c.inUse(holder)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.over, l.end = context.WithCancel(background)
	c.lease = l
	l.beating.Go(func() { c.beat(background, l) }) // ends with Release
	return nil
}

// hold takes or renews the lease. If the answer to a request is lost, only the
// store knows whether it was carried out, so it is asked again.
func (l *lease) hold(ctx context.Context) (holder store.Lease, how store.Hold, err error) {
	holder, how, err = l.leaser.Hold(ctx, l.namespace, l.Lease, TTL)
	if l.unheard(ctx, err) {
		holder, how, err = l.leaser.Hold(ctx, l.namespace, l.Lease, TTL)
		if how == store.Renewed { // or taken, by the request whose answer was lost
			how = store.Taken
		}
	}
	return holder, how, err
}

// free gives up the lease of a holder, asking again as hold does.
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

// beat renews the lease until it ends or somebody else has it. While the store is
// away nothing is known; once it is back, it may have lost the lease and the
// records.
func (c *Claim) beat(ctx context.Context, l *lease) {
	tick := time.NewTicker(Renewal)
	defer tick.Stop()
	for {
		select {
		case <-l.over.Done():
			return
		case <-tick.C:
		}
		asking, cancel := context.WithTimeout(ctx, TTL)
		holder, how, err := l.hold(asking)
		if err == nil && how == store.Taken {
			_ = c.Restore(asking) // what cannot be recorded now will be at the end, or found missing
		}
		cancel()
		if err == nil && how == store.Denied {
			l.why = fault.Code(fmt.Errorf("%s was taken over by %s: this run had not renewed its lease for %v, being suspended or cut off from the store", c.name(), words(holder), TTL), fault.CodeOther)
			close(l.gone)
			return
		}
	}
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
func (c *Claim) Lost() <-chan struct{} {
	if c.lease == nil {
		return nil
	}
	return c.lease.gone
}

// Err returns why the claim was lost; nil while it holds.
func (c *Claim) Err() error { return c.lease.lost() }

// Release gives up the lease. It may be called more than once. If ctx ends while
// a renewal hangs in a store that does not answer, the lease is left to expire.
func (c *Claim) Release(ctx context.Context) error {
	l := c.lease
	if l == nil {
		return nil
	}
	// A renewal in progress is not cut off: the store might carry it out after the
	// lease was given up, leaving a lease that nobody holds.
	l.end()
	defer l.stop()
	still := make(chan struct{})
	go func() {
		defer close(still)
		l.beating.Wait() // a driver that ignores cancellation blocks until its own timeout
	}()
	select {
	case <-still:
	case <-ctx.Done():
		return fault.Code(fmt.Errorf("release %s: %w", c.name(), context.Cause(ctx)), fault.CodeStore)
	}
	var err error
	l.freed.Do(func() {
		if l.lost() == nil {
			err = l.free(ctx, l.Lease)
		}
	})
	return fault.Code(err, fault.CodeStore)
}

// rather returns, in preference to err, that somebody else is working in the
// namespace: what they have made so far means little.
func (c *Claim) rather(ctx context.Context, err error) error {
	l, ok := c.conn.(store.Leaser)
	if !ok || fault.CodeOf(err) != fault.CodeInput {
		return err
	}
	holder, held, asked := l.Holder(ctx, c.want.Namespace)
	if asked != nil || !held || dead(holder) {
		return err
	}
	return c.inUse(holder)
}

func (c *Claim) inUse(holder store.Lease) error {
	return fault.Input(fmt.Errorf("%s is in use by %s", c.name(), words(holder)),
		fmt.Sprintf("wait until it ends, or use another --namespace; once a process has died, its lease lapses within %v", TTL))
}

func (c *Claim) name() string {
	if c.want.Namespace == "" {
		return "the empty namespace"
	}
	return fmt.Sprintf("the namespace %q", c.want.Namespace)
}

// words says who holds a lease, and since when.
func words(l store.Lease) string {
	since := l.Since
	if t, err := time.Parse(time.RFC3339, since); err == nil {
		since = t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return fmt.Sprintf("%s (process %d on %s) since %s", l.Run, l.PID, l.Host, since)
}

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
func dead(l store.Lease) bool {
	return l.Machine != "" && l.Machine == machine() && l.Born != "" && born(l.PID) != l.Born
}
