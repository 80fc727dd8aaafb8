package remote

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// At a NATS of the user's, where others may publish anything, a worker that stays waits for the
// coordinator that it was told of, does what that says, and does it once.
func TestAWorkerHeedsTheCoordinatorThatItWasToldOf(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	s := &Server{URL: srv.ClientURL()}
	key, err := NewKey()
	require.NoError(t, err)
	foreign := on(t, s, "a foreign run", Options{Order: []byte("another's")})
	joined := make(chan *Worker)
	go func() {
		w, err := Join(t.Context(), JoinOptions{URL: s.URL, Version: "1", Key: key.Public(), Stay: true, Patience: -1})
		assert.NoError(t, err)
		joined <- w
	}()
	c := on(t, s, "the run", Options{Order: []byte("ours"), Key: key})
	assert.Equal(t, s.URL+"#"+key.Public(), c.Connection.JoinURL())
	w := <-joined
	require.NotNil(t, w)
	t.Cleanup(w.Close)
	assert.Equal(t, "the run", w.Place.Run)
	assert.True(t, w.Trusted())
	assert.Empty(t, foreign.Roster.Members())
	told := make(chan Command, 10)
	w.Orders.OnCommand(func(cmd Command) { told <- cmd })

	anybody, err := nats.Connect(s.URL)
	require.NoError(t, err)
	t.Cleanup(anybody.Close)
	heard, err := anybody.SubscribeSync(c.Connection.on.worker + ".>")
	require.NoError(t, err)
	require.NoError(t, anybody.Flush())
	settings := func(threads int) func(int) []workload.Settings {
		return func(int) []workload.Settings { return []workload.Settings{{Threads: threads}} }
	}
	c.Commands.Enter("load")
	assert.Equal(t, "load", (<-told).Phase)
	m, err := heard.NextMsg(time.Minute)
	require.NoError(t, err)

	stop := encoded(Command{Stop: "because"})
	again, other := *m, *m
	other.Data = stop
	for name, forged := range map[string]*nats.Msg{
		"no signature":     {Data: stop},
		"another's":        {Data: stop, Header: foreign.o.Key.seal("the run", w.me(), "control", "1", stop)},
		"of another run":   {Data: stop, Header: key.seal("another run", w.me(), "control", "1", stop)},
		"to another":       {Data: stop, Header: key.seal("the run", "another.0", "control", "1", stop)},
		"of another kind":  {Data: stop, Header: key.seal("the run", w.me(), "start", "1", stop)},
		"other words":      &other,
		"said once before": &again,
	} {
		forged.Subject, forged.Reply, forged.Sub = c.Commands.to(0, "control"), "", nil
		require.NoError(t, anybody.PublishMsg(forged), name)
	}
	require.NoError(t, anybody.Flush())
	c.Commands.Change(1, settings(7))
	assert.Equal(t, 7, (<-told).Settings[0].Threads, "nothing that came between was heeded")

	_, err = Join(t.Context(), JoinOptions{URL: s.URL, Version: "1", Run: "a foreign run", Key: key.Public()})
	assert.ErrorContains(t, err, "nobody answers as a coordinator")
}

// A key is made once, and known by its public half.
func TestAKeyIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	_, err := ReadKey(path)
	require.Equal(t, fault.CodeInput, fault.CodeOf(err))
	made, err := KeyIn(path)
	require.NoError(t, err)
	read, err := KeyIn(path)
	require.NoError(t, err)
	assert.Equal(t, made.Public(), read.Public())
	require.NoError(t, CheckKey(made.Public()))
	assert.Error(t, CheckKey("short"))
}
