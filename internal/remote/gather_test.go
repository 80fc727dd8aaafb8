package remote

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Workers that never come, or that have joined and do not get ready, are named every now and
// then, and not waited for without a limit.
func TestMissingWorkersAreNamedAndNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	c := open(t, Options{Workers: 3, Remind: 20 * time.Millisecond, Wait: 500 * time.Millisecond})
	var said []string
	note := func(_, _ int, missing string) {
		if missing != "" {
			said = append(said, missing)
		}
	}
	err := c.Gather(t.Context(), note)
	require.ErrorContains(t, err, "no worker has joined or become ready for 500 ms: there is no 3 of 3 workers: 3 have not joined")
	assert.Contains(t, said, "still waiting for 3 of 3 workers: 3 have not joined")

	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	t.Cleanup(w.nc.Close)
	require.ErrorContains(t, c.Gather(t.Context(), note), "2 have not joined, worker 1 has joined and is not ready")
}

// When the user's NATS is gone, that is said, and not only that workers are missing.
func TestNATSThatIsGoneIsNamed(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	s := &Server{URL: srv.ClientURL()}
	c := on(t, s, "run", Options{Remind: 20 * time.Millisecond})
	assert.Empty(t, c.Connection.Cut())
	w, err := Join(t.Context(), JoinOptions{URL: s.URL, Version: "1"})
	require.NoError(t, err)
	t.Cleanup(w.nc.Close)
	assert.Empty(t, w.Cut())
	srv.Shutdown()
	srv.WaitForShutdown()
	ctx, cancel := context.WithCancel(t.Context())
	said := ""
	require.Error(t, c.Gather(ctx, func(_, _ int, missing string) {
		if missing != "" && c.Connection.Cut() != "" {
			said = c.Roster.missing(c.Connection.Cut())
			cancel()
		}
	}))
	assert.Equal(t, "1 of 1 worker: NATS at "+s.URL+" cannot be reached, worker 1 has joined and is not ready", said)
	require.Eventually(t, func() bool { return w.Cut() == "NATS cannot be reached at "+s.URL }, time.Minute, 10*time.Millisecond)
}

// What goes wrong with several workers for one reason is one sentence.
func TestOneReasonOfManyWorkersIsOneSentence(t *testing.T) {
	c := newRoster(&Options{})
	var errs []error
	for range 30 {
		c.add(newMember(Hello{Host: "there"}))
		errs = append(errs, context.DeadlineExceeded)
	}
	errs[3], errs[7] = nil, errors.New("it does not tell the time")
	err := c.together("compare clocks with", errs)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.EqualError(t, err, "compare clocks with workers 1 to 3, 5 to 7 and 9 to 30: context deadline exceeded\ncompare clocks with worker 8 (there): it does not tell the time")
	assert.NoError(t, c.together("compare clocks with", make([]error, 30)))
}

// Where a coordinator listens at every address of its machine, workers are told one that they
// can use.
func TestTheAddressForWorkersCanBeUsed(t *testing.T) {
	assert.Equal(t, "127.0.0.1:4222", forOthers("127.0.0.1:4222", nil))
	assert.Equal(t, "10.1.2.3:4222", forOthers("10.1.2.3:4222", nil))
	for _, all := range []string{"0.0.0.0:4222", "[::]:4222"} {
		host, port, err := net.SplitHostPort(forOthers(all, nil))
		require.NoError(t, err)
		assert.Equal(t, "4222", port)
		assert.NotEmpty(t, host)
		if ip := net.ParseIP(host); ip != nil {
			assert.False(t, ip.IsUnspecified(), host)
		}
	}
}
