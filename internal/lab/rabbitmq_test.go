//go:build linux || darwin

package lab_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// needRabbitMQ skips the test, or fails it in CI, where there is no broker.
func needRabbitMQ(t *testing.T) {
	t.Helper()
	for _, s := range lab.Services() {
		for _, n := range s.Needs {
			if _, err := n.Find(nil); s.Name == "rabbitmq" && err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal(fault.HintOf(err))
				}
				t.Skip("SKIPPED, NOTHING WAS TESTED: " + fault.HintOf(err))
			}
		}
	}
}

// connected opens a channel to the broker.
func connected(t *testing.T, url string) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // the broker may be dead by then
	ch, err := c.Channel()
	require.NoError(t, err)
	return ch
}

// schemaOnDisk returns when the queues that were declared outlive a kill. RabbitMQ 3
// acknowledges a declaration while the decision to commit it may still be on its way to
// the log of its schema; one that comes after the log was synced stays in memory for two
// seconds, and with it the queue and all that it holds.
func schemaOnDisk(t *testing.T, dir string) {
	t.Helper()
	ctl, err := lab.Ctl(dir)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "/bin/sh", ctl, "-q", "eval",
		"ok = gen_server:call(mnesia_recover, sync, infinity), ok = mnesia:sync_log().").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestRabbitMQKeepsDurableMessagesOverAKill(t *testing.T) {
	tier.Full(t, "internal/broker/amqp's TestAKillOfTheBrokerLosesNothingThatItConfirmed")
	t.Parallel()
	needRabbitMQ(t)
	dir := labDir(t)
	st, err := lab.Up(t.Context(), dir, "rabbitmq", lab.Options{Tied: true, Args: []string{"--disk_free_limit.absolute", "60MB"}})
	require.NoError(t, err)
	assert.Equal(t, lab.Running, st.Condition)
	assert.NotEmpty(t, st.Version)
	require.Len(t, st.Processes, 2)
	assert.Equal(t, "rabbitmq", st.Processes[0].Name, "the broker comes first")
	assert.Equal(t, "amqp://"+st.Processes[0].Addr, st.URL)
	for _, p := range st.Processes {
		host, _, err := net.SplitHostPort(p.Addr)
		require.NoError(t, err)
		assert.Equal(t, "127.0.0.1", host)
	}
	again, err := lab.Up(t.Context(), dir, "rabbitmq", lab.Options{})
	require.NoError(t, err)
	assert.Equal(t, st.Processes, again.Processes, "the second up starts nothing")

	sender := connected(t, st.URL)
	_, err = sender.QueueDeclare("kept", true, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, sender.Confirm(false))
	confirmed, err := sender.PublishWithDeferredConfirmWithContext(t.Context(), "", "kept", true, false,
		amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("still here")})
	require.NoError(t, err)
	acked, err := confirmed.WaitContext(t.Context())
	require.NoError(t, err)
	require.True(t, acked)

	schemaOnDisk(t, dir)
	require.NoError(t, lab.Kill(t.Context(), dir, "rabbitmq", "rabbitmq"))
	all, err := lab.Status(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, lab.Partial, all[0].Condition)
	_, err = lab.Ctl(dir)
	require.ErrorIs(t, err, lab.ErrNotRunning)
	require.NoError(t, lab.Restart(t.Context(), dir, "rabbitmq", "rabbitmq"))

	ch := connected(t, st.URL)
	q, err := ch.QueueDeclarePassive("kept", true, false, false, false, nil)
	require.NoError(t, err, "the queue outlived the kill")
	var m amqp.Delivery
	require.Eventually(t, func() bool {
		var ok bool
		m, ok, err = ch.Get("kept", true)
		return err != nil || ok
	}, time.Minute, 100*time.Millisecond, "the message outlived the kill; the queue is said to have %d", q.Messages)
	require.NoError(t, err)
	assert.Equal(t, "still here", string(m.Body))

	all, err = lab.Status(dir)
	require.NoError(t, err)
	require.NoError(t, lab.Down(t.Context(), dir, "rabbitmq", nil))
	for _, p := range all[0].Processes {
		assert.True(t, gone(p.PID), p.Name)
	}
	assert.NoDirExists(t, st.Dir)
}

func TestRabbitMQTellsWhatIsWrongWithItsConfiguration(t *testing.T) {
	t.Parallel()
	tier.Full(t, "profiles/eventstore's TestBroker")
	needRabbitMQ(t)
	dir := labDir(t)
	_, err := lab.Up(t.Context(), dir, "rabbitmq", lab.Options{Tied: true, Args: []string{"--disk_free_limt", "60MB"}})
	require.ErrorContains(t, err, "rabbitmq ended by itself; its log ends with:")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.Equal(t, "--set via=lab:rabbitmq", lab.Use("rabbitmq"))
	assert.Equal(t, "--target lab:redis", lab.Use("redis"))
}
