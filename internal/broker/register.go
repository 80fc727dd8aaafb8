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

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// A broker lists its queues only to administrators. So what a run creates is recorded
// in a durable queue of our own for each namespace, with one message per queue, which
// is removed when that queue is deleted.

// registerName returns the name of a namespace's register, which is an exchange and a
// queue.
func registerName(namespace string) string {
	if namespace == "" {
		return "perfbench-queues"
	}
	return namespace + ".queues"
}

// Shape is the shape of a queue in records of what was made.
const Shape store.Shape = "queue"

// lockLimit is how long to wait while another process holds the register.
const lockLimit = 15 * time.Second

// lock locks the register of a namespace until unlock is called: only one connection
// can have an exclusive queue, which disappears with the connection. Users of the same
// connection must synchronize by other means.
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
				_, _ = ch.QueueDelete(name, false, false, false) // it also disappears with the connection
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

// ErrBlocked means that a broker accepts no messages because it is short of memory or
// disk space. A connection that has already published gets no more answers.
var ErrBlocked = errors.New("the broker accepts nothing")

// ErrLocked means that another process holds the register for longer than we wait.
var ErrLocked = errors.New("another process holds the register of queues")

// Register records that a run has created a queue, with an exchange of the same name,
// and creates it unless create is nil; Space.Name is the queue. Nobody else sees the
// register in between. Several processes may register at once, each over its own
// connection. After ErrBlocked the connection can only be closed, with a deadline.
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
		fault.Go(func() { // the connection waits for its listeners, and closes the channel
			for range blocked {
			}
		})
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

// missing returns nil for an error that means that something does not exist.
func missing(err error) error {
	if e, ok := errors.AsType[*amqp.Error](err); ok && e.Code == amqp.NotFound {
		return nil
	}
	return err
}

// Queue is the current state of a registered queue.
type Queue struct {
	store.Made
	// Messages wait in it; Consumers is how many take from it, which means that a run
	// is using it.
	Messages, Consumers int
}

// Registered lists the queues registered under a namespace that exist, and forgets the
// others.
func Registered(ctx context.Context, c *amqp.Connection, namespace string) ([]Queue, error) {
	var all []Queue
	err := eachRecord(ctx, c, namespace, func(ch *amqp.Channel, m store.Made) (keep bool, err error) {
		q := Queue{Made: m}
		if q.Messages, q.Consumers, keep, err = look(c, m.Name); keep {
			all = append(all, q)
			return true, err
		}
		return false, ch.ExchangeDelete(m.Name, false, false) // deletes nothing if there is none
	})
	return all, err
}

// Forget removes deleted queues from the register.
func Forget(ctx context.Context, c *amqp.Connection, namespace string, names ...string) error {
	return eachRecord(ctx, c, namespace, func(_ *amqp.Channel, m store.Made) (bool, error) {
		return !slices.Contains(names, m.Name), nil
	})
}

// eachRecord visits the records of a namespace and removes those not to be kept; an
// empty register is deleted. The register is locked meanwhile.
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
	defer func() { _ = ch.Close() }() // returns to the queue what was not removed
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
		keep := false // for records that cannot be read
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
	_, err = ch.QueueDeclarePassive(name, true, false, false, false, nil) // answers when the messages are back
	return err
}

// look checks a queue; there is false if it does not exist.
func look(c *amqp.Connection, name string) (messages, consumers int, there bool, err error) {
	ch, err := c.Channel()
	if err != nil {
		return 0, 0, true, err
	}
	defer func() { _ = ch.Close() }() // nothing remains to be done on it
	q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	if err != nil {
		return 0, 0, missing(err) != nil, missing(err)
	}
	return q.Messages, q.Consumers, true, nil
}
