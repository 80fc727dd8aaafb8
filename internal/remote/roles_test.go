package remote

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// hand is a connection that does what no perfbench does, in some role.
type hand struct {
	nc      *nats.Conn
	refused chan error
}

func hostileHand(t *testing.T, url, role, id, token string) hand {
	t.Helper()
	h := hand{refused: make(chan error, 100)}
	o := append(options(token, nil), as(role, id)...)
	o = append(o, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { h.refused <- err }))
	var err error
	h.nc, err = nats.Connect(url, o...)
	require.NoError(t, err)
	t.Cleanup(h.nc.Close)
	return h
}

// mayNot says something, and hears that it may not.
func (h hand) mayNot(t *testing.T, subject string) {
	t.Helper()
	require.NoError(t, h.nc.Publish(subject, nil))
	require.NoError(t, h.nc.Flush())
	err := <-h.refused
	require.ErrorIs(t, err, nats.ErrPermissionViolation)
	assert.Contains(t, strings.ToLower(err.Error()), strings.ToLower(`publish to "`+subject+`"`))
}

// mayNotHear listens, and hears that it may not.
func (h hand) mayNotHear(t *testing.T, subject string) {
	t.Helper()
	_, err := h.nc.SubscribeSync(subject)
	require.NoError(t, err)
	require.NoError(t, h.nc.Flush())
	assert.ErrorIs(t, <-h.refused, nats.ErrPermissionViolation)
}

// Whoever has a worker's token, or one to watch with, cannot coordinate, command, stop, hand
// off, speak for another, listen to others or touch what is kept; and cannot have the
// coordinator do it, by where the answer is to go.
func TestATokenIsNoMasterKey(t *testing.T) {
	t.Parallel()
	const token, watching = "0123456789abcdef", "fedcba9876543210"
	k := &taken{}
	c := open(t, Options{Workers: 2, Token: token, WatchToken: watching, Received: k.take, Show: func() []byte { return []byte("shown") }})
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Token: token, Version: "1"})
	require.NoError(t, err)
	told := make(chan Command, 10)
	w.Orders.OnCommand(func(cmd Command) { told <- cmd })
	w.Outbox.Report(Report{Part: &measure.Increment{}})
	require.Eventually(t, func() bool { return c.Roster.Members()[0].Last == 0 }, time.Minute, time.Millisecond)
	stream := c.Connection.on.stream
	victim := c.Commands.to(0, "")

	for role, with := range map[string]string{roleWorker: token, roleWatch: watching} {
		id := newID()
		h := hostileHand(t, c.Connection.URL(), role, id, with)
		for _, subject := range []string{
			victim + "control", victim + "start", victim + "clock", // command, stop, hand off
			"$JS.API.STREAM.DELETE." + stream, "$JS.API.STREAM.PURGE." + stream, "$JS.API.STREAM.INFO." + stream, "$JS.API.CONSUMER.CREATE." + stream,
			w.mine(w.on.figures), w.mine(w.on.ended), w.mine(w.on.beat), w.on.join + "." + w.id, // speak for another
			inboxes + w.id + ".x", answersTo + c.Connection.id + ".x", "$SYS.REQ.SERVER.PING",
		} {
			h.mayNot(t, subject)
		}
		for _, subject := range []string{">", "perfbench.>", subjectRuns, c.Connection.on.worker + ".>", c.Connection.on.figures + ".>", inboxes + ">", "$JS.>", "_PERFBENCH.>"} {
			h.mayNotHear(t, subject)
		}
		// What the coordinator and NATS answer goes where it is asked for.
		for _, to := range []string{"$JS.API.STREAM.DELETE." + stream, "$JS.API.STREAM.PURGE." + stream, victim + "control", answersTo + c.Connection.id + ".x"} {
			for _, what := range []string{subjectRuns, c.Connection.on.join + "." + id, c.Connection.on.ready + "." + id + ".0", c.Connection.on.beat + "." + id + ".0", c.Connection.on.figures + "." + id + ".0", c.Connection.on.members, c.Connection.on.watch} {
				require.NoError(t, h.nc.PublishRequest(what, to, nil))
			}
		}
		require.NoError(t, h.nc.Flush())
	}
	_, err = Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Token: watching, Version: "1"})
	require.ErrorContains(t, err, "the token lets its owner watch, and not work")
	_, err = nats.Connect(c.Connection.URL(), nats.Token(token), nats.UserInfo(roleCoordinator, token))
	require.ErrorIs(t, err, nats.ErrAuthorization)
	_, err = nats.Connect(c.Connection.URL())
	require.ErrorIs(t, err, nats.ErrAuthorization)
	other := open(t, Options{Workers: 1})
	h := hostileHand(t, other.Connection.URL(), "any", newID(), "")
	h.mayNot(t, "$JS.API.STREAM.DELETE."+stream)

	for _, with := range []string{token, watching} {
		watcher, err := Watch(t.Context(), JoinOptions{URL: c.Connection.URL(), Token: with})
		require.NoError(t, err)
		shown, err := watcher.Ask(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "shown", string(shown))
		watcher.Close()
		asked, err := Ask(t.Context(), JoinOptions{URL: c.Connection.URL(), Token: with})
		require.NoError(t, err)
		require.Len(t, asked, 1, "nobody joined in another's name")
		assert.Empty(t, asked[0].ID, "who has it can speak for its worker")
		assert.False(t, asked[0].Unusable)
	}
	kept, err := c.Connection.js.Stream(t.Context(), stream)
	require.NoError(t, err)
	info, err := kept.Info(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1, info.State.FirstSeq, "nothing that was kept is gone")
	assert.NotZero(t, info.State.Msgs)

	c.Commands.Change(1, func(int) []workload.Settings { return []workload.Settings{{Threads: 3}} })
	assert.Equal(t, 1, (<-told).Segment, "the coordinator's word is the first that arrives")
}
