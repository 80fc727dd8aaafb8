package remote

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// theirs starts a NATS of the user's; port 0 is a free one.
func theirs(t *testing.T, port int, dir string, change func(o *server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, JetStream: dir != "", StoreDir: dir}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	change(o)
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

func on(t *testing.T, s *Server, run string, o Options) *Coordinator {
	t.Helper()
	o.NATS, o.Workers, o.Version, o.Run, o.Patience = s, 1, "1", run, 10*time.Minute
	c, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// Runs share a NATS of the user's and do not meet. Where it is restarted, what was sent
// before and what could not be sent meanwhile arrive, once and in order, also at a
// coordinator that is slow to take it.
func TestTheUsersOwnNATSMayBeRestarted(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	user, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := user.PublicKey()
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	key := t.TempDir() + "/seed"
	require.NoError(t, os.WriteFile(key, seed, 0o600))
	lets := func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} }
	dir := t.TempDir()
	srv := theirs(t, 0, dir, lets)
	s := &Server{URL: srv.ClientURL(), NKey: key}
	_, err = Open(t.Context(), Options{NATS: &Server{URL: s.URL}})
	assert.ErrorContains(t, err, "does not let us in")

	k, slow := &taken{}, make(chan struct{})
	c := on(t, s, "one.run", Options{Received: func(worker int, r *Report) error {
		<-slow
		return k.take(worker, r)
	}})
	other := on(t, s, "other", Options{})
	join := JoinOptions{URL: s.URL, NKey: key, Version: "1"}
	_, err = Join(t.Context(), join)
	assert.ErrorContains(t, err, "run: there are several at "+s.URL+": one.run, other")
	join.Run = "one.run"
	w, err := Join(t.Context(), join)
	require.NoError(t, err)
	assert.Equal(t, "one.run", w.Place.Run)
	assert.Empty(t, other.Roster.Members())
	asked, err := Ask(t.Context(), join)
	require.NoError(t, err)
	assert.Len(t, asked, 1)

	const many = 700 // more than the coordinator asks for at a time
	for n := range many {
		w.Outbox.Report(Report{Part: &measure.Increment{T: n}})
	}
	port := srv.Addr().String()
	srv.Shutdown()
	srv.WaitForShutdown()
	n, err := strconv.Atoi(port[len("127.0.0.1:"):])
	require.NoError(t, err)
	srv = theirs(t, n, dir, lets)
	close(slow)
	for n := range many {
		w.Outbox.Report(Report{Part: &measure.Increment{T: many + n}})
	}
	w.Outbox.Report(Report{Over: true})
	require.NoError(t, w.Leave(t.Context()))
	<-c.Progress.Over(0)
	k.mu.Lock()
	require.Len(t, k.from[0], 2*many+1)
	for i, n := range k.from[0] {
		assert.EqualValues(t, i+1, n)
	}
	k.mu.Unlock()
	c.Close()
	other.Close()
	held, err := srv.Jsz(nil)
	require.NoError(t, err)
	assert.Zero(t, held.Streams, "what was kept there is removed")
}

func TestANATSThatCannotCarryARunIsRefused(t *testing.T) {
	bare := theirs(t, 0, "", func(*server.Options) {})
	small := theirs(t, 0, t.TempDir(), func(o *server.Options) { o.MaxPayload = 1000 })
	for why, s := range map[string]Server{
		"has no JetStream": {URL: bare.ClientURL()},
		"takes messages of 1000 B at most, and this run needs 1 MiB": {URL: small.ClientURL()},
	} {
		_, err := Open(t.Context(), Options{NATS: &s, Workers: 1})
		assert.ErrorContains(t, err, why)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	}
	for why, s := range map[string]Server{
		"is not the URL of a NATS server":       {URL: "http://127.0.0.1"},
		"a secret in the URL":                   {URL: "nats://a:b@127.0.0.1:4222"},
		"10.0.0.1 is another machine":           {URL: "nats://10.0.0.1:4222"},
		"nats-creds: stat missing":              {URL: "nats://127.0.0.1:4222", Creds: "missing"},
		"nats-nkey: stat missing":               {URL: "nats://127.0.0.1:4222", NKey: "missing"},
		"nats-nkey: there are credentials, too": {URL: "nats://127.0.0.1:4222", Creds: "a", NKey: "b"},
	} {
		err := s.Check()
		assert.ErrorContains(t, err, why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	for v, old := range map[string]bool{"2.9.25": true, "1.4.1": true, "2.10.0": false, "2.15.2": false, "3.0.0": false, "edge": false} {
		assert.Equal(t, old, tooOld(v), v)
	}
}

// Two runs begun in the same second may have one id. On one NATS the second is refused, and takes
// nothing from the first.
func TestTwoRunsWithOneIDDoNotMeet(t *testing.T) {
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	k := &taken{}
	o := Options{NATS: &Server{URL: srv.ClientURL()}, Version: "1", Run: "twin", Workers: 1, Order: []byte("order"), Received: k.take}
	first, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(first.Close)
	o.Received = func(int, *Report) error { panic("another run's") }
	_, err = Open(t.Context(), o)
	require.ErrorContains(t, err, "another run with the id twin uses this NATS")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	w, err := Join(t.Context(), JoinOptions{URL: first.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	require.NoError(t, w.Ready(t.Context(), nil))
	w.Outbox.Report(Report{Over: true})
	require.NoError(t, w.Leave(t.Context()))
	<-first.Progress.Over(-1)
}

// A server that has just let go of the last run removes the folder of all runs, into which the
// next one was about to go. The next one is kept all the same.
func TestARunFollowsTheLastOneAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	srv := theirs(t, 0, dir, func(*server.Options) {})
	// A file in the place of the folder is no place either, and goes in the same way.
	streams := filepath.Join(dir, "jetstream", "$G", "streams")
	require.NoError(t, os.MkdirAll(filepath.Dir(streams), 0o755))
	require.NoError(t, os.WriteFile(streams, nil, 0o644))
	on(t, &Server{URL: srv.ClientURL()}, "next", Options{Received: (&taken{}).take})
	assert.DirExists(t, streams)
}
