package broker

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Driver opens a broker to look after the queues that runs have made there. It is no
// store: nothing else can be done with the connection.
var Driver = store.Driver{
	Name: "rabbitmq", Title: "RabbitMQ", Schemes: []string{"amqp", "amqps"}, Example: "amqp://localhost:5672",
	Open: func(ctx context.Context, t store.Target, _ store.OpenOptions) (store.Conn, error) {
		a, err := FromTarget(t)
		if err != nil {
			return nil, err
		}
		c, err := a.Dial(ctx, "perfbench data", nil)
		if err != nil {
			return nil, err
		}
		return &kept{a, c}, nil
	},
}

// kept is a broker of which only the queues that we made are of interest.
type kept struct {
	a *Address
	c *amqp.Connection
}

var _ store.Keeper = (*kept)(nil)

// Info says what the broker calls itself.
func (k *kept) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "rabbitmq", Version: Property(k.c, "version"), Topology: "broker"}, nil
}

// Classify knows no classes: nothing is measured here.
func (k *kept) Classify(err error) store.Class {
	if err == nil {
		return store.Worked
	}
	return store.Other
}

// Close ends the connection.
func (k *kept) Close() error { return k.c.Close() }

// Inspect tells how many messages wait in a queue.
func (k *kept) Inspect(_ context.Context, s store.Space, _ ...string) (store.Found, error) {
	n, users, there, err := look(k.c, s.Name)
	if err != nil || !there {
		return store.Found{}, err
	}
	kind := "queue"
	if users > 0 {
		kind = "queue in use"
	}
	return store.Found{Exists: true, Kind: kind, Size: int64(n)}, nil
}

// Record writes down that a run has made a queue.
func (k *kept) Record(ctx context.Context, m store.Made) error { return Register(ctx, k.c, m) }

// Made lists the queues that are there.
func (k *kept) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	all, err := Registered(ctx, k.c, namespace)
	out := make([]store.Made, len(all))
	for i, q := range all {
		out[i] = q.Made
	}
	return out, err
}

// Drop deletes a queue that was registered, with its exchange, unless a run is using
// it. It tells how many messages are gone.
func (k *kept) Drop(ctx context.Context, s store.Space, _ func(int64)) (int64, error) {
	ch, err := k.c.Channel()
	if err != nil {
		return 0, err
	}
	n, err := ch.QueueDelete(s.Name, true, false, false)
	if e, ok := errors.AsType[*amqp.Error](err); ok && e.Code == amqp.PreconditionFailed {
		return 0, fault.Store(fmt.Errorf("queue %s is in use by a run", s.Name), "wait for the run to end")
	}
	if missing(err) != nil {
		return 0, err
	}
	if err == nil {
		err = ch.ExchangeDelete(s.Name, false, false)
	}
	if missing(err) != nil {
		return int64(n), err
	}
	_ = ch.Close() // broken already when something was missing
	return int64(n), Forget(ctx, k.c, s.Namespace, s.Name)
}
