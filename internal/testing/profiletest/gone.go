package profiletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// Gone carries out runs on a Redis that is killed in their middle and stays dead, in a
// closed loop and at a rate. Those by count have far more to do than can fail in any
// test's time, as endless says: they must end because the store is gone, once nothing
// has worked for the drain. Those for a time, at a rate if there is one, must end one drain
// after it at the latest, however many things they wait for one after the other. Without
// endless there are only those for a time.
func (c Case) Gone(t *testing.T, endless ...string) {
	t.Helper()
	for name, set := range map[string][]string{"closed": nil, "open": {"rate=200"}} {
		if c.Closed && name == "open" {
			continue
		}
		if len(endless) > 0 {
			t.Run("count, "+name, func(t *testing.T) {
				t.Parallel()
				c.With(endless...).With(set...).goneByCount(t)
			})
		}
		if name == "closed" && !c.Closed {
			continue // at a rate there is more to wait for
		}
		t.Run("duration, "+name, func(t *testing.T) {
			t.Parallel()
			tier.Full(t, "runs by count end one drain after their store has gone")
			c.With(set...).goneByTime(t)
		})
	}
}

func (c Case) goneByCount(t *testing.T) {
	t.Helper()
	srv := labtest.Redis(t)
	c.Target = srv.URL()
	l, err := c.With("drain=1s").Start(t.Context(), t)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 0 }, enough, time.Millisecond)
	srv.Kill()
	o := Finish(t, l)
	require.ErrorContains(t, o.Err, "(--drain)")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(o.Err))
	assert.Less(t, l.Snapshot().Done, l.Snapshot().Total)
}

// goneByTime allows a minute beyond what a run may take on a machine that is busy with
// other things, and a drain that is several times as long as that when it is waited for
// time and again.
func (c Case) goneByTime(t *testing.T) {
	t.Helper()
	const duration, drain, busy = 5 * time.Second, 10 * time.Second, time.Minute
	srv := labtest.Redis(t)
	c.Target = srv.URL()
	l, err := c.With("duration="+duration.String(), "drain="+drain.String()).Start(t.Context(), t)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 0 }, enough, time.Millisecond)
	srv.Kill()
	began := time.Now()
	o := Finish(t, l)
	assert.Less(t, time.Since(began), duration+drain+busy)
	assert.Contains(t, []string{workload.Incomplete, workload.Skipped}, o.Run.Verification.State)
}
