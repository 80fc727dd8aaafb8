package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Driver connects to a broker in order to manage the queues that runs have created
// there. It is not a store: the connection is good for nothing else.
var Driver = store.Driver{
	Name: "rabbitmq", Title: "RabbitMQ", Schemes: []string{"amqp", "amqps"}, Example: "amqp://localhost:5672",
	Open: func(ctx context.Context, t store.Target, _ store.OpenOptions) (store.Conn, error) {
		a, err := FromTarget(t)
		if err != nil {
			return nil, err
		}
		c, err := a.Dial(ctx, "perfbench data", Line{})
		if err != nil {
			return nil, err
		}
		return &Keeper{Connection: func(context.Context) (*amqp.Connection, error) { return c, nil }, IfUnused: true, close: c.Close}, nil
	},
}

// Keeper manages the queues that we created on a broker: it does what internal/place
// needs to claim, record and delete them. One goroutine at a time may use it.
type Keeper struct {
	// Connection returns the connection to use.
	Connection func(ctx context.Context) (*amqp.Connection, error)
	// Make creates a queue that has just been recorded; nil: somebody else does.
	Make func(ch *amqp.Channel, name string) error
	// IfUnused keeps queues of a run that is consuming from any of its queues from
	// being deleted; IfEmpty keeps those with messages.
	IfUnused, IfEmpty bool

	close func() error
}

var _ store.Keeper = (*Keeper)(nil)

// ErrInUse means that a queue to be deleted has a consumer.
var ErrInUse = errors.New("in use by a run")

// Info describes the broker as it reports itself.
func (k *Keeper) Info(ctx context.Context) (store.Info, error) {
	c, err := k.Connection(ctx)
	if err != nil {
		return store.Info{}, err
	}
	return store.Info{Name: "rabbitmq", Version: Property(c, "version"), Topology: "broker"}, nil
}

// Classify does not classify anything, since nothing is measured here.
func (k *Keeper) Classify(err error) store.Class {
	if err == nil {
		return store.Worked
	}
	return store.Other
}

// Close closes the connection if it belongs to the keeper.
func (k *Keeper) Close() error {
	if k.close == nil {
		return nil
	}
	return k.close()
}

// Inspect returns how many messages wait in a queue.
func (k *Keeper) Inspect(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	c, err := k.Connection(ctx)
	if err != nil {
		return store.Found{}, err
	}
	n, users, there, err := look(c, s.Name)
	if err != nil || !there {
		return store.Found{}, err
	}
	kind := Unused
	if users > 0 {
		kind = "queue in use"
	}
	return store.Found{Exists: true, Kind: kind, Size: int64(n)}, nil
}

// Unused is the kind of a queue without consumers.
const Unused = "queue"

// Record records that a run has created a queue, and creates it. After ErrBlocked the
// connection is closed.
func (k *Keeper) Record(ctx context.Context, m store.Made) error {
	c, err := k.Connection(ctx)
	if err != nil {
		return err
	}
	err = Register(ctx, c, m, k.Make)
	if errors.Is(err, ErrBlocked) {
		_ = c.CloseDeadline(time.Now()) // it no longer answers
	}
	return err
}

// Made lists the existing queues.
func (k *Keeper) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	c, err := k.Connection(ctx)
	if err != nil {
		return nil, err
	}
	all, err := Registered(ctx, c, namespace)
	out := make([]store.Made, len(all))
	for i, q := range all {
		out[i] = q.Made
	}
	return out, err
}

// dropTries is how often a run tries to delete a queue that it has just stopped
// consuming, since the broker notices that with a delay.
const dropTries = 10

// Drop deletes a registered queue and its exchange. It returns how many messages were
// removed. ErrInUse means that the queue has a consumer.
func (k *Keeper) Drop(ctx context.Context, s store.Space, _ func(int64)) (int64, error) {
	for try := 1; ; try++ {
		c, err := k.Connection(ctx)
		if err != nil {
			return 0, err
		}
		n := int64(0)
		if err = k.idle(ctx, c, s); err == nil {
			n, err = k.drop(c, s.Name)
		}
		if e, ok := errors.AsType[*amqp.Error](err); ok && e.Code == amqp.NotImplemented && (k.IfUnused || k.IfEmpty) {
			n, err = k.dropLooked(ctx, s.Name)
		}
		if err == nil {
			return n, Forget(ctx, c, s.Namespace, s.Name)
		}
		if !errors.Is(err, ErrInUse) || !k.IfEmpty || try == dropTries {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(time.Duration(try) * 20 * time.Millisecond):
		}
	}
}

// idle refuses a queue if its run consumes from it or from another of its queues,
// because the queue for dead letters never has a consumer.
func (k *Keeper) idle(ctx context.Context, c *amqp.Connection, s store.Space) error {
	if !k.IfUnused {
		return nil
	}
	all, err := Registered(ctx, c, s.Namespace)
	if err != nil {
		return err
	}
	for _, q := range all {
		if q.Name != s.Name {
			continue
		}
		for _, other := range all {
			if other.Run == q.Run && other.Consumers > 0 {
				return inUse(s.Name)
			}
		}
	}
	return nil
}

func inUse(queue string) error {
	return fault.Store(fmt.Errorf("queue %s is %w", queue, ErrInUse), "wait for the run to end")
}

// dropLooked is drop for queues that the broker deletes whatever is in them and whoever consumes from
// them, as quorum queues: it looks before. Nobody else adds to the queue of a run.
func (k *Keeper) dropLooked(ctx context.Context, name string) (int64, error) {
	c, err := k.Connection(ctx) // the broker has closed the last one
	if err != nil {
		return 0, err
	}
	switch left, consumers, _, err := look(c, name); {
	case err != nil:
		return 0, err
	case k.IfUnused && consumers > 0:
		return 0, inUse(name)
	case k.IfEmpty && left > 0:
		return 0, staysIn(left)
	}
	free := *k
	free.IfUnused, free.IfEmpty = false, false
	return free.drop(c, name)
}

// staysIn is the error of a queue that is not empty.
func staysIn(batches int) error {
	if batches == 1 {
		return errors.New("1 batch stays in it")
	}
	return fmt.Errorf("%d batches stay in it", batches)
}

func (k *Keeper) drop(c *amqp.Connection, name string) (int64, error) {
	ch, err := c.Channel()
	if err != nil {
		return 0, err
	}
	n, err := ch.QueueDelete(name, k.IfUnused, k.IfEmpty, false)
	if e, ok := errors.AsType[*amqp.Error](err); ok && e.Code == amqp.PreconditionFailed {
		if left, _, _, err := look(c, name); err == nil && k.IfEmpty && left > 0 {
			return 0, staysIn(left)
		}
		return 0, inUse(name)
	}
	if err == nil {
		err = ch.ExchangeDelete(name, false, false)
	}
	if missing(err) != nil {
		return int64(n), err
	}
	_ = ch.Close() // already broken if something was missing
	return int64(n), nil
}
