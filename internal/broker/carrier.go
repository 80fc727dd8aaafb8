package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// Pauses between attempts to reach a broker that has gone.
const (
	shortestWait = 50 * time.Millisecond
	longestWait  = 5 * time.Second
)

// ErrUnconfirmed is reported for messages that are published without asking for
// confirmation.
var ErrUnconfirmed = errors.New("published without confirmation")

// ErrClosed is returned by a publisher, a receiver or a queue that has been closed.
var ErrClosed = errors.New("it is closed")

// Options say who owns a queue and how it behaves.
type Options struct {
	// Prefix (may be empty) and Profile begin the names of exchanges and queues; Run
	// makes them unique to the run.
	Prefix, Profile, Run string
	// ContentType and Type are properties of its messages.
	ContentType, Type string
	// Ours reports whether a header is one of ours; a message with any other is
	// rejected.
	Ours func(header []byte) bool
	// Lossy sends transient messages to queues that disappear with the broker, asks for
	// no confirmation and discards rejected messages.
	Lossy bool
	// FireAndForget sends transient messages to a durable queue and asks for no
	// confirmation.
	FireAndForget bool
	// Quorum has the queues replicated, on all nodes of a cluster.
	Quorum bool
	// Transient has messages that are confirmed not survive a restart of the broker.
	Transient bool
	// Proxy is what the connections go through; nil: they are direct.
	Proxy *proxy.Proxy
	// MaxPending and MaxBytes limit what each publisher holds unconfirmed.
	MaxPending int
	MaxBytes   int64
}

// Message is a message on its way to the broker. Of is for the sender's own use.
type Message struct {
	Header, Body []byte
	Of           any
}

// Depth is how many messages a queue holds at a moment; -1: unknown.
type Depth struct {
	// Ready messages wait for a receiver; Unacked ones have been delivered and not
	// settled.
	Ready, Unacked int64
	// Idle means that nobody else takes messages: what is not counted here is not there.
	Idle bool
	// DeadLettered messages were given up for good.
	DeadLettered int64
	// Blocked is why the broker currently accepts no messages; empty if it does.
	Blocked string
}

// Carrier carries messages through RabbitMQ: an exchange and a queue of the run's own,
// and a queue for dead letters. Every publisher, every receiver and the queue itself
// has its own connection, and reconnects when it breaks. Any goroutine may call its
// methods.
type Carrier struct {
	addr    *Address
	o       Options
	version string
	traffic watch.Traffic
	// management is nil if the target does not give its URL.
	management *Management

	exchange, queue, deadExchange, deadQueue string

	// unsettled counts deliveries that have been neither acknowledged nor returned.
	unsettled atomic.Int64
	dropped   atomic.Int64 // rejected without a queue for dead letters
	reconnect atomic.Int64 // reconnections
	// connections counts those that were opened, consuming the receivers that have one.
	connections, consuming atomic.Int64
	resent                 atomic.Int64 // messages published again after a broken connection

	mu      sync.Mutex
	blocked map[*Publisher]string
	admin   *amqp091.Connection
	channel *amqp091.Channel // of admin
	closed  bool
	// claim claims the queues, which keeper creates and deletes over admin.
	claim  *ownership.Claim
	keeper Keeper
	// leftQueues and leftBatches are what earlier runs have left on the broker.
	leftQueues, leftBatches int
}

// Open connects and declares what the run needs. Errors have the code of a store that
// cannot be reached.
func Open(ctx context.Context, target string, o Options) (*Carrier, error) {
	addr, err := Parse(target)
	if err != nil {
		return nil, err
	}
	name := o.Prefix + "." + o.Profile + "." + o.Run
	if o.Prefix == "" {
		name = o.Profile + "." + o.Run
	}
	t := &Carrier{
		addr: addr, management: addr.Management(), o: o, blocked: map[*Publisher]string{},
		exchange: name, queue: name, deadExchange: name + ".dead", deadQueue: name + ".dead",
	}
	t.keeper = Keeper{Connection: t.adminConnection, Make: t.declareOne}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.adminChannel(ctx); err != nil {
		return nil, err
	}
	if err := t.register(ctx); err != nil {
		t.closed = true
		t.disconnect(t.soon())
		hint := "may the user configure, write and read there?"
		switch {
		case fault.CodeOf(err) == fault.CodeInput:
			return nil, fault.Input(fmt.Errorf("broker %s: %w", t.addr, err), "use another --namespace")
		case errors.Is(err, ErrBlocked):
			hint = "give it room, or lower its limits"
		case errors.Is(err, ErrLocked):
			hint = "try again when the others have begun"
		}
		return nil, fault.Store(fmt.Errorf("broker %s: %w", t.addr, err), hint)
	}
	return t, nil
}

// register claims our queues, which records them, and counts those left by earlier
// runs. t.mu is held.
func (t *Carrier) register(ctx context.Context) (err error) {
	w := ownership.Want{Namespace: t.o.Prefix, Profile: t.o.Profile, Run: t.o.Run}
	for _, name := range t.queues() {
		w.Spaces = append(w.Spaces, ownership.Space{Space: t.space(name)})
	}
	if t.claim, err = ownership.Take(ctx, &t.keeper, w); err != nil {
		return err
	}
	for _, m := range t.claim.Made() {
		found, err := t.claim.Inspect(ctx, m.Space)
		if err != nil {
			return errors.Join(err, t.claim.Cleanup(ctx))
		}
		if found.Kind == Unused && found.Size > 0 {
			t.leftQueues++
			t.leftBatches += int(found.Size)
		}
	}
	return nil
}

func (t *Carrier) space(queue string) store.Space {
	return store.Space{Namespace: t.o.Prefix, Name: queue, Shape: Shape}
}

// queues returns the queues of the run, in order of creation.
func (t *Carrier) queues() []string {
	if t.o.Lossy {
		return []string{t.queue}
	}
	return []string{t.deadQueue, t.queue}
}

// connect opens a connection and a channel, and declares everything on it.
func (t *Carrier) connect(ctx context.Context, role string) (*amqp091.Connection, *amqp091.Channel, error) {
	return t.open(ctx, role, t.declare)
}

// open is connect with a function that does the declarations.
func (t *Carrier) open(ctx context.Context, role string, declare func(*amqp091.Channel) error) (*amqp091.Connection, *amqp091.Channel, error) {
	c, err := t.dial(ctx, role)
	if err != nil {
		return nil, nil, err
	}
	ch, err := c.Channel()
	if err == nil {
		err = declare(ch)
	}
	if err != nil {
		_ = c.Close() // the other error is the one that matters
		return nil, nil, fault.Store(fmt.Errorf("broker %s: declare queue %s: %w", t.addr, t.queue, err), "may the user configure, write and read there?")
	}
	return c, ch, nil
}

// dial connects and logs in; role is what the broker shows for the connection, beside the run.
func (t *Carrier) dial(ctx context.Context, role string) (*amqp091.Connection, error) {
	c, err := t.addr.Dial(ctx, "perfbench "+t.o.Run+" "+role, Line{Traffic: &t.traffic, Proxy: t.o.Proxy})
	if err == nil {
		t.connections.Add(1)
	}
	return c, err
}

// Answer connects and logs in, and changes nothing; see store.Answerer.
func (t *Carrier) Answer(ctx context.Context) error {
	c, err := t.dial(ctx, "answer")
	if err != nil {
		return err
	}
	return c.CloseDeadline(t.soon())
}

// declare creates exchanges and queues if they do not exist.
func (t *Carrier) declare(ch *amqp091.Channel) error {
	for _, name := range t.queues() {
		if err := t.declareOne(ch, name); err != nil {
			return err
		}
	}
	return nil
}

// declareOne creates a queue and its exchange if they do not exist.
func (t *Carrier) declareOne(ch *amqp091.Channel, queue string) error {
	args := amqp091.Table{}
	if t.o.Quorum {
		args[amqp091.QueueTypeArg] = amqp091.QueueTypeQuorum
	}
	if queue == t.queue && !t.o.Lossy {
		args["x-dead-letter-exchange"] = t.deadExchange
		args["x-dead-letter-routing-key"] = t.deadQueue
	}
	return declareQueue(ch, queue, queue, !t.o.Lossy, args)
}

func declareQueue(ch *amqp091.Channel, exchange, queue string, durable bool, args amqp091.Table) error {
	if err := ch.ExchangeDeclare(exchange, amqp091.ExchangeDirect, durable, false, false, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueueDeclare(queue, durable, false, false, false, args); err != nil {
		return err
	}
	return ch.QueueBind(queue, queue, exchange, false, nil)
}

// adminChannel returns the queue's own channel, which is reopened if it has broken.
// t.mu is held.
func (t *Carrier) adminChannel(ctx context.Context) (*amqp091.Channel, error) {
	if t.channel != nil && !t.channel.IsClosed() {
		return t.channel, nil
	}
	if t.admin != nil {
		_ = t.admin.Close() // broken, or about to be replaced
	}
	declare := t.declare
	if t.closed || t.claim == nil { // what is deleted must not be recreated, and what is not claimed yet not created
		declare = func(*amqp091.Channel) error { return nil }
	}
	c, ch, err := t.open(ctx, "watch", declare)
	if err != nil {
		return nil, err
	}
	t.admin, t.channel, t.version = c, ch, Property(c, "version")
	return ch, nil
}

// adminConnection returns the connection of the queue's own channel. t.mu is held.
func (t *Carrier) adminConnection(ctx context.Context) (*amqp091.Connection, error) {
	_, err := t.adminChannel(ctx)
	return t.admin, err
}

// disconnect closes the queue's own connection. t.mu is held.
func (t *Carrier) disconnect(deadline time.Time) {
	if t.management != nil {
		t.management.Close()
	}
	if t.admin != nil {
		_ = t.admin.CloseDeadline(deadline) // nothing remains to be done on it
		t.admin, t.channel = nil, nil
	}
}

// Name describes the queue.
func (t *Carrier) Name() string {
	how := "durable queue, persistent messages, publisher confirms"
	switch {
	case t.o.Lossy:
		how = "transient queue and messages, no confirms"
	case t.o.Quorum:
		how = "quorum queue, publisher confirms"
	case t.o.Transient:
		how = "durable queue, transient messages, publisher confirms"
	case t.o.FireAndForget:
		how = "durable queue, transient messages, no confirms"
	}
	if t.leftQueues > 0 {
		how += fmt.Sprintf("; queues there of earlier runs: %d, batches in them: %d, see perfbench data list --target %s", t.leftQueues, t.leftBatches, t.addr)
	}
	return fmt.Sprintf("RabbitMQ %s at %s, %s", t.version, t.addr, how)
}

// Hosts returns the broker's host:port pairs.
func (t *Carrier) Hosts() []string { return t.addr.Hosts() }

// Connections counts those that were opened.
func (t *Carrier) Connections() int64 { return t.connections.Load() }

// Traffic counts the bytes to and from the broker.
func (t *Carrier) Traffic() *watch.Traffic { return &t.traffic }

// Depth asks the broker how many messages wait.
func (t *Carrier) Depth(ctx context.Context) (Depth, error) {
	d := Depth{Ready: -1, Unacked: t.unsettled.Load(), DeadLettered: t.dropped.Load()}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, why := range t.blocked {
		d.Blocked = why
	}
	if t.closed {
		return d, ErrClosed
	}
	ch, err := t.adminChannel(ctx)
	if err != nil {
		return d, err
	}
	// The library does not use contexts: a call to a silent broker is ended by closing
	// the connection, which also happens after two missed heartbeats.
	admin := t.admin
	stop := context.AfterFunc(ctx, func() { _ = admin.CloseDeadline(time.Now()) })
	defer stop()
	q, err := ch.QueueDeclarePassive(t.queue, !t.o.Lossy, false, false, false, nil)
	if err != nil {
		return d, fmt.Errorf("broker %s: ask for the depth of %s: %w", t.addr, t.queue, err)
	}
	d.Ready = int64(q.Messages)
	// A consumer of a connection that has gone may hold messages until the broker notices that.
	d.Idle = int64(q.Consumers) == t.consuming.Load()
	if !t.o.Lossy {
		if q, err = ch.QueueDeclarePassive(t.deadQueue, true, false, false, false, nil); err != nil {
			return d, fmt.Errorf("broker %s: ask for the depth of %s: %w", t.addr, t.deadQueue, err)
		}
		d.DeadLettered = int64(q.Messages)
	}
	return d, nil
}

// Counts returns what the broker reports about itself: through its management plugin if
// the target gives its URL, and otherwise how many messages our queue has. The error
// says why the plugin reports nothing.
func (t *Carrier) Counts(ctx context.Context) ([]watch.Count, error) {
	var refused error
	if t.management != nil {
		list, err := t.management.Counts(ctx)
		if err == nil {
			return list, nil
		}
		refused = err
	}
	d, err := t.Depth(ctx)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	return []watch.Count{
		{Name: "ready_messages", Value: float64(d.Ready)}, {Name: "unacknowledged_messages", Value: float64(d.Unacked)},
		{Name: "dead_messages", Value: float64(d.DeadLettered)},
	}, refused
}

// Close deletes those queues of the run that are empty, and leaves the rest.
func (t *Carrier) Close() error {
	return t.remove(true)
}

// Remove deletes what the run has created on the broker, including messages.
func (t *Carrier) Remove() error { return t.remove(false) }

func (t *Carrier) remove(onlyEmpty bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), longestWait)
	defer cancel()
	t.closed = true
	t.keeper.Make = nil
	t.keeper.IfUnused, t.keeper.IfEmpty = onlyEmpty, onlyEmpty
	err := t.claim.Cleanup(ctx)
	t.disconnect(time.Now().Add(time.Second))
	switch {
	case onlyEmpty && errors.Is(err, ErrInUse):
		return nil // it stays, and is empty
	case err != nil:
		return fmt.Errorf("broker %s: %w", t.addr, err)
	}
	return nil
}

// block notes that the broker accepts nothing from a publisher or, with "", that it
// does again.
func (t *Carrier) block(p *Publisher, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.blocked, p); why != "" {
		t.blocked[p] = "the broker accepts nothing: " + why
	}
}

// backOff waits longer after each failure, with a random part so that not all come back
// at once. It returns false if ctx has ended.
func backOff(ctx context.Context, failures int) bool {
	d := min(shortestWait<<min(failures, 10), longestWait)
	return store.Pause(ctx, d/2+rand.N(d/2)) == nil
}
