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

// TTL is how long a lease lasts that is not renewed: so long after its holder died
// the spaces are free again. Renewal is how often it is renewed.
const (
	TTL     = 15 * time.Second
	Renewal = 3 * time.Second
)

// lease is a lease that we hold, and what keeps it.
type lease struct {
	store.Lease
	conn      store.Conn
	leaser    store.Leaser
	namespace string
	over      context.Context // done when no further renewal is wanted
	end       context.CancelFunc
	stop      context.CancelFunc // cuts off a renewal under way too
	beating   sync.WaitGroup
	// gone is closed when somebody else has it, and then why says who.
	gone  chan struct{}
	why   error
	freed sync.Once
}

// Hold takes the lease of a namespace for something other than a run, such as the
// removal of what is there. The claim must be released.
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

// Holder tells in words who uses a namespace, "" when nobody does.
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

// hold takes the lease and keeps it until Release. One whose holder has died on this
// machine is taken over at once.
func (c *Claim) hold(ctx context.Context) error {
	leaser, ok := c.conn.(store.Leaser)
	if !ok {
		return nil // a broker's queues cannot be deleted while they are used
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

// hold takes or renews the lease. What the store made of a request whose answer was
// lost only it can tell: it is asked again.
func (l *lease) hold(ctx context.Context) (holder store.Lease, how store.Hold, err error) {
	holder, how, err = l.leaser.Hold(ctx, l.namespace, l.Lease, TTL)
	if l.unheard(ctx, err) {
		holder, how, err = l.leaser.Hold(ctx, l.namespace, l.Lease, TTL)
		if how == store.Renewed { // or taken, by what was lost
			how = store.Taken
		}
	}
	return holder, how, err
}

// free gives the lease of a holder up, and asks again as hold does.
func (l *lease) free(ctx context.Context, holder store.Lease) error {
	err := l.leaser.Free(ctx, l.namespace, holder)
	if l.unheard(ctx, err) {
		err = l.leaser.Free(ctx, l.namespace, holder)
	}
	return err
}

// unheard says whether what was asked for with ctx may have been done all the same.
func (l *lease) unheard(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	class := l.conn.Classify(err)
	return class == store.Timeout || class == store.Unreachable
}

// beat renews the lease until it is over or somebody else has it. While the store is
// away nothing is known; once it is back, it may have lost the lease and the records.
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
			_ = c.Restore(asking) // what cannot be recorded now is at the end, or found missing
		}
		cancel()
		if err == nil && how == store.Denied {
			l.why = fault.Code(fmt.Errorf("%s was taken over by %s: this run had not renewed its lease for %v, being suspended or cut off from the store", c.name(), words(holder), TTL), fault.CodeOther)
			close(l.gone)
			return
		}
	}
}

// lost returns why the lease is somebody else's, nil while it is ours.
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

// Lost is closed when somebody else has taken the namespace over. Then Err says who,
// and nothing may be written any more.
func (c *Claim) Lost() <-chan struct{} {
	if c.lease == nil {
		return nil
	}
	return c.lease.gone
}

// Err returns why the claim was lost, nil while it holds.
func (c *Claim) Err() error { return c.lease.lost() }

// Release gives the lease up. It may be called again. When ctx ends while a renewal hangs
// in a store that does not answer, the lease is left to lapse.
func (c *Claim) Release(ctx context.Context) error {
	l := c.lease
	if l == nil {
		return nil
	}
	// A renewal under way is not cut off: the store may carry it out after the lease was
	// given up, and then has one that nobody holds.
	l.end()
	defer l.stop()
	still := make(chan struct{})
	go func() {
		defer close(still)
		l.beating.Wait() // a driver that heeds no cancellation keeps it until its own timeout
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

// rather prefers, to what else is wrong, that somebody is at work in the namespace:
// what he has made so far says little.
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

// words tells who holds a lease, and since when.
func words(l store.Lease) string {
	since := l.Since
	if t, err := time.Parse(time.RFC3339, since); err == nil {
		since = t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return fmt.Sprintf("%s (process %d on %s) since %s", l.Run, l.PID, l.Host, since)
}

// self is a new lease of this process.
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

// dead says whether the process of a lease is one of this machine that has ended.
func dead(l store.Lease) bool {
	return l.Machine != "" && l.Machine == machine() && l.Born != "" && born(l.PID) != l.Born
}
