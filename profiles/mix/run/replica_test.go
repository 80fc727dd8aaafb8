package run_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/onredis"

	"github.com/perfbench/perfbench/profiles/mix/run"
)

// elsewhere is a client that reads from a replica.
type elsewhere struct {
	model.Client
	replica model.Client
}

func (e elsewhere) Do(ctx context.Context, c *model.Call) error {
	if c.Do == model.Get {
		return e.replica.Do(ctx, c)
	}
	return e.Client.Do(ctx, c)
}

// typed is a connection to that Redis, which ends with the test.
func typed(t *testing.T, url string) redis.Typed {
	t.Helper()
	target, err := store.ParseTarget(url)
	require.NoError(t, err)
	c, err := redis.Driver.Open(t.Context(), target, store.OpenOptions{Threads: 8})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c.(redis.Typed)
}

// Reads of a replica of Redis that lags by 2 ms are found, and the same reads of the primary are
// right.
func TestReadsOfAReplicaAreFound(t *testing.T) {
	first, second := labtest.Redis(t), labtest.Redis(t)
	primary, replica := typed(t, first.URL()), typed(t, second.URL())
	link := proxy.New()
	t.Cleanup(link.Close)
	link.Set(proxy.State{Delay: 2 * time.Millisecond})
	at, err := link.Address(first.Addr())
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	require.NoError(t, replica.Client().SlaveOf(t.Context(), host, port).Err())
	for name, c := range map[string]struct {
		from redis.Typed
		want string
	}{"replica": {replica, histories.Violated}, "primary": {primary, histories.OK}} {
		t.Run(name, func(t *testing.T) {
			w := parse(t, registers)
			a, b := onredis.New(primary, w, name), onredis.New(c.from, w, name)
			open := a.Open
			a.Open = func() (model.Client, error) {
				to, err := open()
				require.NoError(t, err)
				from, err := b.Open()
				return elsewhere{to, from}, err
			}
			p := &workload.Plan{Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "mix", Ops: ops(w), Iterations: 4_000}}}}, Shared: &workload.Shared{}}
			s := &run.Spec{Work: w, Seed: 1, Check: histories.Check, Load: run.LoadAuto, LoadThreads: 2}
			r := run.New(s, a, primary, "run-1")
			r.Bind(&workload.Bound{Plan: p, Conn: primary, RunID: "run-1"})
			require.NoError(t, p.Setup(t.Context(), nil))
			n, err := primary.Client().DBSize(t.Context()).Result()
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				there, err := replica.Client().DBSize(t.Context()).Result()
				return err == nil && there == n
			}, time.Minute, time.Millisecond)
			tr := &p.Phases[0].Tracks[0]
			tr.Start = settings(w)
			tr.Start.Threads = 4
			under, err := engine.Start(t.Context(), engine.Options{
				Plan: p, Classes: store.ClassNames, Classify: func(error) uint8 { return uint8(store.Other) }, Unreachable: func(uint8) bool { return false },
			})
			require.NoError(t, err)
			_, err = under.Wait()
			require.NoError(t, err)
			p.Verify(t.Context())
			l := linearizable(t, bound{r, p})
			assert.Equal(t, c.want, l.State, "%+v", l)
			assert.Greater(t, l.Calls, int64(2_000))
		})
	}
}
