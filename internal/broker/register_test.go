package broker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func connected(t *testing.T, url string) *amqp.Connection {
	t.Helper()
	a, err := broker.Parse(url)
	require.NoError(t, err)
	c, err := a.Dial(t.Context(), t.Name(), broker.Line{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// queue makes a queue with its exchange, as a run does.
func queue(t *testing.T, c *amqp.Connection, namespace, name string, messages int) store.Made {
	t.Helper()
	ch, err := c.Channel()
	require.NoError(t, err)
	defer ch.Close()
	require.NoError(t, ch.ExchangeDeclare(name, amqp.ExchangeDirect, true, false, false, false, nil))
	_, err = ch.QueueDeclare(name, true, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, ch.QueueBind(name, name, name, false, nil))
	require.NoError(t, ch.Confirm(false))
	for range messages {
		sent, err := ch.PublishWithDeferredConfirm(name, name, true, false, amqp.Publishing{Body: []byte("x")})
		require.NoError(t, err)
		require.True(t, sent.Wait())
	}
	return store.Made{Space: store.Space{Namespace: namespace, Name: name, Shape: broker.Shape}, Profile: "p", Run: name, Updated: "2026-01-01T00:00:00Z"}
}

func TestQueuesThatWereLeftAreFoundAndDeleted(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.RabbitMQ(t)
	c := connected(t, srv.URL())
	ns := fmt.Sprint("left", time.Now().UnixNano())
	none, err := broker.Registered(t.Context(), c, ns)
	require.NoError(t, err)
	assert.Empty(t, none)
	full, used, gone := queue(t, c, ns, ns+".full", 3), queue(t, c, ns, ns+".used", 0), queue(t, c, ns, ns+".gone", 0)
	for _, m := range []store.Made{full, used, gone} {
		require.NoError(t, broker.Register(t.Context(), c, m, nil))
	}
	ch, err := c.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDelete(gone.Name, false, false, false)
	require.NoError(t, err)
	_, err = ch.Consume(used.Name, "", true, false, false, false, nil)
	require.NoError(t, err)

	target, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	conn, err := broker.Driver.Open(t.Context(), target, store.OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	k, err := store.As[store.Keeper](conn)
	require.NoError(t, err)
	made, err := k.Made(t.Context(), ns)
	require.NoError(t, err)
	assert.Equal(t, []store.Made{full, used}, made)
	found, err := k.Inspect(t.Context(), full.Space)
	require.NoError(t, err)
	assert.Equal(t, store.Found{Exists: true, Kind: "queue", Size: 3}, found)
	found, err = k.Inspect(t.Context(), used.Space)
	require.NoError(t, err)
	assert.Equal(t, "queue in use", found.Kind)

	_, err = k.Drop(t.Context(), used.Space, nil)
	require.ErrorContains(t, err, "is in use by a run")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	require.NoError(t, ch.Close())
	n, err := k.Drop(t.Context(), full.Space, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 3, n)
	require.Eventually(t, func() bool { // the broker sees a while later that the consumer has left
		_, err = k.Drop(t.Context(), used.Space, nil)
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	_, err = k.Drop(t.Context(), used.Space, nil)
	require.NoError(t, err, "what has gone is deleted")
	for _, what := range []string{"list_queues", "list_exchanges"} {
		assert.NotContains(t, srv.Ctl(what, "name"), ns, "neither queues nor the register stay")
	}
}

func TestRegisteringAtOnceLosesNothing(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.RabbitMQ(t)
	ns := fmt.Sprint("many", time.Now().UnixNano())
	var wg sync.WaitGroup
	for i := range 6 {
		c := connected(t, srv.URL())
		m := queue(t, c, ns, fmt.Sprint(ns, ".", i), 0)
		wg.Go(func() {
			for range 3 {
				assert.NoError(t, broker.Register(t.Context(), c, m, nil))
				assert.NoError(t, broker.Forget(t.Context(), c, ns, m.Name))
			}
			assert.NoError(t, broker.Register(t.Context(), c, m, nil))
		})
	}
	wg.Wait()
	c := connected(t, srv.URL())
	for range 3 {
		all, err := broker.Registered(t.Context(), c, ns)
		require.NoError(t, err)
		assert.Len(t, all, 6)
	}
	for i := range 6 {
		ch, err := c.Channel()
		require.NoError(t, err)
		_, err = ch.QueueDelete(fmt.Sprint(ns, ".", i), false, false, false)
		require.NoError(t, err)
	}
	all, err := broker.Registered(t.Context(), c, ns)
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.NotContains(t, srv.Ctl("list_exchanges", "name"), ns)
}
