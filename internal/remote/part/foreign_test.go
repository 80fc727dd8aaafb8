package part

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// A coordinator that a worker was not told of cannot have it log in at a server of his: where
// others may publish, a worker with a password wants to know who commands it, or where that may
// go.
func TestAForeignCoordinatorDoesNotGetThePassword(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	require.NoError(t, err)
	srv.Start()
	require.True(t, srv.ReadyForConnections(time.Minute))
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	order, err := json.Marshal(remote.Order{Profile: "any", Target: "redis://203.0.113.9:6379"})
	require.NoError(t, err)
	key, err := remote.NewKey()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		target, key, why string
	}{
		"not told of anybody":   {"", "", "others could name a server of theirs here"},
		"told where":            {"redis://10.0.0.9", "", "this worker logs in at redis://10.0.0.9 alone (--target), and the plan names redis://203.0.113.9:6379"},
		"told of its key":       {"", key.Public(), "there is no profile"},
		"told of it, and where": {"redis://10.0.0.9", key.Public(), "this worker logs in at redis://10.0.0.9 alone"},
	} {
		t.Run(name, func(t *testing.T) {
			coordinator, err := remote.Open(t.Context(), remote.Options{NATS: &remote.Server{URL: srv.ClientURL()}, Workers: 1, Version: "1", Run: "run", Order: order, Key: key})
			require.NoError(t, err)
			defer coordinator.Close()
			w, err := remote.Join(t.Context(), remote.JoinOptions{URL: srv.ClientURL(), Version: "1", Key: c.key})
			require.NoError(t, err)
			env := Env{Password: "secret", Target: c.target, Say: func(string) {}}
			assert.ErrorContains(t, Do(t.Context(), env, w), c.why)
			assert.ErrorContains(t, coordinator.Gather(t.Context(), func(int, int, string) {}), c.why)
		})
	}
}
