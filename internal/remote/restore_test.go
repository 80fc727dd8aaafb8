package remote

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// A coordinator goes on in the place of one that died, with a server of its own and with
// one of the user: it reads all that was sent, and workers find it without doing anything.
func TestACoordinatorGoesOnInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	for name, o := range map[string]Options{
		"own":    {Listen: "127.0.0.1:0"},
		"user's": {NATS: &Server{URL: srv.ClientURL()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &taken{}
			o.Dir, o.Version, o.Run, o.Workers, o.Order, o.Received = t.TempDir(), "1", strings.ReplaceAll(name, "'", ""), 2, []byte("order"), k.take
			one, err := Open(t.Context(), o)
			require.NoError(t, err)
			t.Cleanup(one.Close)
			var all []*Worker
			told := make(chan Command, 10)
			for range 2 {
				w, err := Join(t.Context(), JoinOptions{URL: one.Connection.URL(), Version: "1", Run: o.Run})
				require.NoError(t, err)
				require.NoError(t, w.Ready(t.Context(), nil))
				w.Orders.OnCommand(func(c Command) { told <- c })
				all = append(all, w)
			}
			require.NoError(t, one.Gather(t.Context(), func(int, int, string) {}))
			_, err = one.Start(t.Context())
			require.NoError(t, err)
			of := func(int) []workload.Settings { return []workload.Settings{{Threads: 7}} }
			one.Commands.Change(1, of)
			applied := func(c *Coordinator) (n int) {
				for _, m := range c.Roster.Members() {
					n += len(m.Applied)
				}
				return n
			}
			require.Eventually(t, func() bool { return applied(one) == 2 }, 5*time.Minute, time.Millisecond)
			tell := func(second int) {
				for _, w := range all {
					w.Outbox.Report(Report{Part: &measure.Increment{T: second}, Began: time.Now().UnixNano()})
				}
			}
			tell(0)
			arrived := func(k *taken, n int) func() bool {
				return func() bool {
					k.mu.Lock()
					defer k.mu.Unlock()
					return len(k.from[0]) == n && len(k.from[1]) == n
				}
			}
			require.Eventually(t, arrived(k, 1), 2*time.Minute, time.Millisecond)
			before := one.Roster.Members()
			o.Past, o.Key = new(one.Roster.Past()), one.Key()
			if o.NATS == nil {
				o.Listen = strings.TrimPrefix(one.Connection.URL(), "nats://")
			} else {
				_, err := Open(t.Context(), o)
				require.ErrorContains(t, err, "another coordinator is at work on this run")
			}
			one.Leave() // as one that was killed
			tell(1)
			for _, w := range all {
				require.Eventually(t, func() bool { return !w.Pulse.Hears() }, 5*time.Minute, time.Millisecond)
			}

			again := &taken{}
			o.Received = again.take
			two, err := Open(t.Context(), o)
			require.NoError(t, err)
			t.Cleanup(two.Close)
			<-two.Replay.Reread()
			for _, w := range all {
				require.Eventually(t, w.Pulse.Hears, 2*time.Minute, time.Millisecond)
			}
			two.Commands.Change(1, of) // which they have heard of
			two.Commands.Change(2, func(int) []workload.Settings { return []workload.Settings{{Threads: 8}} })
			tell(2)
			require.Eventually(t, arrived(again, 3), 2*time.Minute, time.Millisecond)
			require.Eventually(t, func() bool { return applied(two) >= 2 }, 5*time.Minute, time.Millisecond)
			segments := []int{}
			for range 4 {
				segments = append(segments, (<-told).Segment)
			}
			assert.Equal(t, []int{1, 1, 2, 2}, segments, "what they have heard of already they do not do again")
			for i, m := range two.Roster.Members() {
				assert.Equal(t, before[i].Hello, m.Hello)
				assert.Equal(t, before[i].Skew, m.Skew)
				assert.Equal(t, 2, m.Last)
			}
			for _, w := range all {
				w.Outbox.Report(Report{Over: true})
				require.NoError(t, w.Leave(t.Context()))
			}
			<-two.Progress.Over(-1)
			two.Close()
			if o.NATS != nil {
				_, err = Open(t.Context(), o)
				require.ErrorContains(t, err, "is gone", "nothing is left of a run that has ended")
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			}
		})
	}
}

// Where the disk has too little room for all that workers send, the run goes on all the same;
// only nobody can go on in its coordinator's place.
func TestAStreamThatIsFullForgetsTheFirst(t *testing.T) {
	t.Parallel()
	k := &taken{}
	o := Options{Listen: "127.0.0.1:0", Dir: t.TempDir(), Keep: 4 << 10, Version: "1", Run: "full", Workers: 1, Order: []byte("order"), Received: k.take}
	c, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	require.NoError(t, w.Ready(t.Context(), nil))
	require.NoError(t, c.Gather(t.Context(), func(int, int, string) {}))
	_, err = c.Start(t.Context())
	require.NoError(t, err)
	for second := range 50 {
		w.Outbox.Report(Report{Part: &measure.Increment{T: second}})
		require.Eventually(t, func() bool {
			k.mu.Lock()
			defer k.mu.Unlock()
			return len(k.from[0]) == second+1
		}, 5*time.Minute, time.Millisecond)
	}
	o.Past, o.Listen = new(c.Roster.Past()), strings.TrimPrefix(c.Connection.URL(), "nats://")
	c.Leave()
	_, err = Open(t.Context(), o)
	require.ErrorContains(t, err, "the disk had no room for it")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
