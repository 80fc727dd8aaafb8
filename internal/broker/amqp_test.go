package broker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/watch"
)

// The tests of this package share a broker, which some of them kill: none that
// uses it may be parallel.

// patience bounds every wait for a broker in these tests.
const patience = 90 * time.Second

var runs atomic.Int64

// through opens a queue of its own, which go with the test.
func through(t *testing.T, srv *labtest.Server, change func(*Options)) *Carrier {
	t.Helper()
	o := Options{
		Prefix: "test", Profile: "profile", Run: fmt.Sprint(time.Now().UnixNano(), "-", runs.Add(1)), MaxPending: 64, MaxBytes: 8 << 20,
		ContentType: "text/plain", Type: "test", Ours: func(h []byte) bool { return strings.HasPrefix(string(h), "message ") },
	}
	if change != nil {
		change(&o)
	}
	tr, err := Open(t.Context(), srv.URL(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, tr.Remove()) })
	return tr
}

// answers counts what becomes of published batches.
type answers struct {
	mu      sync.Mutex
	ok      map[int64]int // by number
	refused int
	lastWhy error
}

func (a *answers) confirm(m *Message, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.refused++
		a.lastWhy = err
		return
	}
	if a.ok == nil {
		a.ok = map[int64]int{}
	}
	a.ok[m.Of.(int64)]++
}

func message(number int64) *Message {
	return &Message{Header: header(number), Body: bytes.Repeat([]byte{byte(number)}, 2000), Of: number}
}

func header(number int64) []byte { return strconv.AppendInt([]byte("message "), number, 10) }

// number is that of the message that was delivered.
func number(t *testing.T, d *Delivery) int64 {
	t.Helper()
	text, ok := strings.CutPrefix(string(d.Header), "message ")
	assert.True(t, ok, "%q", d.Header)
	n, err := strconv.ParseInt(text, 10, 64)
	assert.NoError(t, err)
	return n
}

// publish sends n batches and waits until the broker answers for all.
func publish(t *testing.T, tr *Carrier, n int, during func(i int)) *answers {
	t.Helper()
	a := &answers{}
	p, err := tr.Publisher(t.Context(), "one", a.confirm)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, p.Publish(t.Context(), message(int64(i)*10)))
		if during != nil {
			during(i)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, p.Close(ctx))
	return a
}

// consume takes and settles batches until there were want different ones.
func consume(t *testing.T, r *Receiver, want int, settle func(d *Delivery) error) map[int64]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got := map[int64]int{}
	for len(got) < want {
		d, err := r.Receive(ctx)
		require.NoError(t, err, "after %d batches", len(got))
		n := number(t, d)
		got[n]++
		assert.Equal(t, message(n).Body, d.Body)
		require.NoError(t, settle(d))
	}
	return got
}

// depth polls until the broker tells what is wanted: it counts with a delay.
func depth(t *testing.T, tr *Carrier, want func(Depth) bool) Depth {
	t.Helper()
	var d Depth
	require.Eventually(t, func() bool {
		var err error
		d, err = tr.Depth(t.Context())
		return err == nil && want(d)
	}, patience, 50*time.Millisecond, "depth")
	return d
}

// inPlace says what make test has in place of what needs a broker.
const inPlace = "profiles/eventstore's TestBroker"

func TestBatchesComeThroughTheBroker(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Shared(t, "rabbitmq")
	tr := through(t, srv, nil)
	assert.Contains(t, tr.Name(), "RabbitMQ "+srv.Version()+" at amqp://"+srv.Addr())
	a := publish(t, tr, 200, nil)
	assert.Len(t, a.ok, 200)
	assert.Zero(t, a.refused)
	depth(t, tr, func(d Depth) bool { return d.Ready == 200 && d.Unacked == 0 })

	told, err := tr.Counts(t.Context())
	require.NoError(t, err)
	assert.Contains(t, told, watch.Count{Name: "ready_messages", Value: 200})

	r, err := tr.Receiver(t.Context(), "stage", 20)
	require.NoError(t, err)
	var held []*Delivery
	got := consume(t, r, 20, func(d *Delivery) error { held = append(held, d); return nil })
	assert.Len(t, got, 20)
	depth(t, tr, func(d Depth) bool { return d.Ready == 180 && d.Unacked == 20 })
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = r.Receive(late)
	require.ErrorIs(t, err, context.DeadlineExceeded, "no more than the prefetch count is delivered")

	// Settled out of order, some to come again, one to the dead letters.
	for i, h := range slices.Backward(held) {
		switch {
		case i == 7:
			require.NoError(t, r.Nack(h, false))
		case i%5 == 0:
			require.NoError(t, r.Nack(h, true))
		default:
			require.NoError(t, r.Ack(h))
		}
	}
	again := 0
	consume(t, r, 184, func(d *Delivery) error {
		if d.Redelivered {
			again++
		}
		return r.Ack(d)
	})
	assert.Equal(t, 4, again)
	depth(t, tr, func(d Depth) bool { return d == Depth{Idle: true, DeadLettered: 1} })
	require.NoError(t, r.Close())
	_, err = r.Receive(t.Context())
	assert.ErrorIs(t, err, ErrClosed)
	assert.Greater(t, tr.Traffic().Out(), int64(200*2000))

	require.ErrorContains(t, tr.Close(), tr.deadQueue+": 1 batch stays in it")
	left := srv.Ctl("list_queues", "name")
	assert.Contains(t, left, tr.deadQueue, "what holds something stays")
	assert.NotContains(t, left+"\n", tr.queue+"\n", "what is empty goes")
}

func TestWhatAReceiverHeldComesAgain(t *testing.T) {
	tier.Full(t, inPlace)
	tr := through(t, labtest.Shared(t, "rabbitmq"), nil)
	publish(t, tr, 50, nil)
	r, err := tr.Receiver(t.Context(), "stage", 30)
	require.NoError(t, err)
	consume(t, r, 25, func(d *Delivery) error {
		if number(t, d) < 100 {
			return r.Ack(d)
		}
		return nil
	})
	require.NoError(t, r.Close())
	next, err := tr.Receiver(t.Context(), "stage", 30)
	require.NoError(t, err)
	got := consume(t, next, 40, next.Ack)
	assert.NotContains(t, got, int64(90))
	require.NoError(t, next.Close())
}

func TestAKillOfTheBrokerLosesNothingThatItConfirmed(t *testing.T) {
	tier.Full(t, inPlace)
	const n = 2000
	srv := labtest.Shared(t, "rabbitmq")
	tr := through(t, srv, nil)
	r, err := tr.Receiver(t.Context(), "stage", 50)
	require.NoError(t, err)
	got := map[int64]int{}
	received := make(chan struct{})
	stored := atomic.Int64{}
	go func() {
		defer close(received)
		got = consume(t, r, n, func(d *Delivery) error { stored.Add(1); return r.Ack(d) })
	}()
	a := publish(t, tr, n, func(i int) {
		if i == n/2 {
			srv.Kill()
			srv.Restart()
		}
	})
	<-received
	assert.Len(t, a.ok, n, "everything is confirmed in the end")
	assert.Zero(t, a.refused)
	for first, times := range a.ok {
		assert.Equal(t, 1, times, "batch %d is confirmed once", first)
	}
	assert.Len(t, got, n, "and everything has arrived")
	assert.GreaterOrEqual(t, tr.reconnect.Load(), int64(2), "both sides")
	require.NoError(t, r.Close())
	t.Logf("%d deliveries of %d batches, %d sent again, %d connections again", stored.Load(), n, tr.resent.Load(), tr.reconnect.Load())
}

func TestAnAlarmOfTheBrokerStopsPublishersAndIsReported(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Shared(t, "rabbitmq")
	tr := through(t, srv, nil)
	srv.Ctl("set_disk_free_limit", "500000GB")
	a := &answers{}
	p, err := tr.Publisher(t.Context(), "one", a.confirm)
	require.NoError(t, err)
	// More than is let out: Publish waits, and gives up when it is told to.
	full, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits := make(chan error, 1)
	go func() {
		for i := int64(0); ; i++ {
			if err := p.Publish(full, message(i*10)); err != nil {
				waits <- err
				return
			}
		}
	}()
	d := depth(t, tr, func(d Depth) bool { return d.Blocked != "" })
	assert.Equal(t, "the broker accepts nothing: low on disk", d.Blocked)
	cancel()
	require.ErrorIs(t, <-waits, context.Canceled)

	srv.Ctl("set_disk_free_limit", "50MB")
	depth(t, tr, func(d Depth) bool { return d.Blocked == "" && d.Ready == 64 })
	srv.Ctl("set_disk_free_limit", "500000GB")
	require.NoError(t, p.Publish(t.Context(), message(100_000)))
	depth(t, tr, func(d Depth) bool { return d.Blocked != "" })
	brief, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	require.ErrorContains(t, p.Close(brief), "1 batches: the broker accepts nothing: low on disk")
	assert.Len(t, a.ok, 64)
	assert.Equal(t, 1, a.refused)
	srv.Ctl("set_disk_free_limit", "50MB")
}

func TestTheLossyWayLosesWhatItRejects(t *testing.T) {
	tier.Full(t, inPlace)
	tr := through(t, labtest.Shared(t, "rabbitmq"), func(o *Options) { o.Lossy = true })
	assert.Contains(t, tr.Name(), "no confirms")
	a := publish(t, tr, 20, nil)
	assert.Empty(t, a.ok)
	assert.Equal(t, 20, a.refused)
	require.ErrorIs(t, a.lastWhy, ErrUnconfirmed)
	r, err := tr.Receiver(t.Context(), "stage", 30)
	require.NoError(t, err)
	consume(t, r, 20, func(d *Delivery) error { return r.Nack(d, false) })
	d := depth(t, tr, func(d Depth) bool { return d.Ready == 0 })
	assert.EqualValues(t, 20, d.DeadLettered, "rejected, and nowhere any more")
	require.NoError(t, r.Close())
}

// A queue of others under the very name of ours, with something in it or empty, is
// refused and stays; so do those beside it, and nothing of ours is left.
func TestQueuesOfOthersStay(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Shared(t, "rabbitmq")
	addr, err := Parse(srv.URL())
	require.NoError(t, err)
	c, err := addr.Dial(t.Context(), "others", Line{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	ch, err := c.Channel()
	require.NoError(t, err)
	prefix := fmt.Sprint("others", time.Now().UnixNano())
	for _, run := range []string{"full", "empty"} {
		for _, end := range []string{"", ".dead"} {
			theirs := prefix + ".profile." + run + end
			t.Run(run+end, func(t *testing.T) {
				require.NoError(t, declareQueue(ch, theirs+"x", theirs, true, nil))
				if run == "full" {
					require.NoError(t, ch.Confirm(false))
					sent, err := ch.PublishWithDeferredConfirm(theirs+"x", theirs, true, false, amqp091.Publishing{Body: []byte("theirs")})
					require.NoError(t, err)
					require.True(t, sent.Wait())
				}
				_, err = Open(t.Context(), srv.URL(), Options{Prefix: prefix, Profile: "profile", Run: run})
				require.ErrorContains(t, err, theirs)
				require.ErrorContains(t, err, "was not made by perfbench")
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
				d, ok, err := ch.Get(theirs, true)
				require.NoError(t, err, "it is still there")
				assert.Equal(t, run == "full", ok)
				assert.Equal(t, run == "full", string(d.Body) == "theirs")
				assert.NotContains(t, strings.Fields(srv.Ctl("list_exchanges", "name")), theirs)
				_, err = ch.QueueDelete(theirs, false, false, false)
				require.NoError(t, err)
				require.NoError(t, ch.ExchangeDelete(theirs+"x", false, false))
				assert.NotContains(t, srv.Ctl("list_queues", "name"), prefix, "nothing of ours was made, nor written down")
			})
		}
	}
}

func TestABrokerThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "amqp://me:hush@127.0.0.1:1", Options{Profile: "profile", Run: "r"})
	require.ErrorContains(t, err, "connection refused")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.NotContains(t, err.Error(), "hush")
	assert.NotEmpty(t, fault.HintOf(err))
	assert.NotErrorIs(t, err, ErrClosed)
}
