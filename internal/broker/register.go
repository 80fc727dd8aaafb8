package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/store"
)

// A broker lists its queues to administrators only. So what was made is written down
// in a durable queue of its own for each namespace: a message for each queue, which
// is taken out when that queue is deleted.

// registerName is the register of a namespace, an exchange and a queue.
func registerName(namespace string) string {
	if namespace == "" {
		return "perfbench-queues"
	}
	return namespace + ".queues"
}

// Shape is that of a queue in records of what was made.
const Shape store.Shape = "queue"

// lockLimit is how long another process may hold the register.
const lockLimit = 15 * time.Second

// lock has the register of a namespace to ourselves until unlock is called: only one
// connection can have an exclusive queue, and it goes with the connection. Those who
// share a connection must keep apart by themselves.
func lock(ctx context.Context, c *amqp.Connection, namespace string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, ErrLocked)
	defer cancel()
	name := registerName(namespace) + ".lock"
	for {
		ch, err := c.Channel()
		if err != nil {
			return nil, err
		}
		_, err = ch.QueueDeclare(name, false, true, true, false, nil)
		if err == nil {
			return func() {
				_, _ = ch.QueueDelete(name, false, false, false) // it goes with the connection, too
				_ = ch.Close()
			}, nil
		}
		if e, ok := errors.AsType[*amqp.Error](err); !ok || e.Code != amqp.ResourceLocked {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(10*time.Millisecond + rand.N(20*time.Millisecond)):
		}
	}
}

// ErrBlocked is that a broker takes no messages: it is short of memory or disk. A
// connection that has published by then answers nothing any more.
var ErrBlocked = errors.New("the broker accepts nothing")

// ErrLocked is that another process writes in the register for longer than it takes.
var ErrLocked = errors.New("another process holds the register of queues")

// Register writes down that a run has made a queue, with an exchange of the same
// name, and makes it, unless create is nil: Space.Name is the queue. Nobody else sees
// the register in between. Several processes may register at once, each over a
// connection of its own. After ErrBlocked the connection can only be closed, with a
// deadline.
func Register(ctx context.Context, c *amqp.Connection, m store.Made, create func(ch *amqp.Channel, name string) error) error {
	unlock, err := lock(ctx, c, m.Namespace)
	if err == nil {
		if err = register(ctx, c, m); err == nil && create != nil {
			err = createOn(c, m.Name, create)
		}
		if !errors.Is(err, ErrBlocked) {
			unlock()
		}
	}
	if err != nil {
		return fmt.Errorf("register queue %s: %w", m.Name, err)
	}
	return nil
}

func createOn(c *amqp.Connection, name string, create func(ch *amqp.Channel, name string) error) error {
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	if err := create(ch, name); err != nil {
		return err
	}
	return ch.Close()
}

func register(ctx context.Context, c *amqp.Connection, m store.Made) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	blocked := c.NotifyBlocked(make(chan amqp.Blocking, 1))
	defer func() {
		go func() { // the connection waits for its listeners; it closes the channel
			for range blocked {
			}
		}()
	}()
	name := registerName(m.Namespace)
	if err := ch.ExchangeDeclare(name, amqp.ExchangeDirect, true, false, false, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
		return err
	}
	if err := ch.QueueBind(name, name, name, false, nil); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	sent, err := ch.PublishWithDeferredConfirm(name, name, true, false, amqp.Publishing{
		ContentType: "application/json", DeliveryMode: amqp.Persistent, MessageId: m.Name, Body: body,
	})
	if err != nil {
		return err
	}
	select {
	case <-sent.Done():
	case b := <-blocked:
		return fmt.Errorf("%w: %s", ErrBlocked, b.Reason)
	case <-ctx.Done():
		return ctx.Err()
	}
	if !sent.Acked() {
		return errors.New("the broker refuses it")
	}
	return ch.Close()
}

// missing is nil for an error that says that something is not there.
func missing(err error) error {
	if e, ok := errors.AsType[*amqp.Error](err); ok && e.Code == amqp.NotFound {
		return nil
	}
	return err
}

// Queue is a queue that was registered, as it is now.
type Queue struct {
	store.Made
	// Messages wait in it; Consumers is how many take from it: a run is using it.
	Messages, Consumers int
}

// Registered lists the queues that were registered under a namespace and are there,
// and forgets the others.
func Registered(ctx context.Context, c *amqp.Connection, namespace string) ([]Queue, error) {
	var all []Queue
	err := eachRecord(ctx, c, namespace, func(ch *amqp.Channel, m store.Made) (keep bool, err error) {
		q := Queue{Made: m}
		if q.Messages, q.Consumers, keep, err = look(c, m.Name); keep {
			all = append(all, q)
			return true, err
		}
		return false, ch.ExchangeDelete(m.Name, false, false) // of none, too
	})
	return all, err
}

// Forget takes queues that have been deleted out of the register.
func Forget(ctx context.Context, c *amqp.Connection, namespace string, names ...string) error {
	return eachRecord(ctx, c, namespace, func(_ *amqp.Channel, m store.Made) (bool, error) {
		return !slices.Contains(names, m.Name), nil
	})
}

// eachRecord visits the records of a namespace and takes out those not to be kept;
// a register without any is deleted. While it does, the register is locked.
func eachRecord(ctx context.Context, c *amqp.Connection, namespace string, visit func(*amqp.Channel, store.Made) (keep bool, err error)) error {
	unlock, err := lock(ctx, c, namespace)
	if err != nil {
		return err
	}
	defer unlock()
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }() // gives back what was not taken out
	name, kept := registerName(namespace), 0
	for {
		d, ok, err := ch.Get(name, false)
		if err != nil {
			return missing(err)
		}
		if !ok {
			break
		}
		var m store.Made
		keep := false // of what nobody can read
		if json.Unmarshal(d.Body, &m) == nil {
			if keep, err = visit(ch, m); err != nil {
				return err
			}
		}
		if keep {
			kept++
		} else if err := d.Ack(false); err != nil {
			return err
		}
	}
	if kept == 0 {
		if _, err := ch.QueueDelete(name, true, true, false); err != nil {
			return err
		}
		return ch.ExchangeDelete(name, false, false)
	}
	if err := ch.Nack(0, true, true); err != nil { // all of them
		return err
	}
	_, err = ch.QueueDeclarePassive(name, true, false, false, false, nil) // answers when it has them again
	return err
}

// look asks for a queue; there is false when there is none.
func look(c *amqp.Connection, name string) (messages, consumers int, there bool, err error) {
	ch, err := c.Channel()
	if err != nil {
		return 0, 0, true, err
	}
	defer func() { _ = ch.Close() }() // nothing is left to be done on it
	q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	if err != nil {
		return 0, 0, missing(err) != nil, missing(err)
	}
	return q.Messages, q.Consumers, true, nil
}
