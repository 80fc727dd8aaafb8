package authz

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/inmemory"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// noted is a recorder that keeps what it is given.
type noted struct{ samples []measure.Call }

func (n *noted) Add(s measure.Call)         { n.samples = append(n.samples, s) }
func (n *noted) Started(_, _ int64)         {}
func (n *noted) Again(int64)                {}
func (n *noted) Ended()                     {}
func (n *noted) Failed(uint16, error) uint8 { return 1 }

// probing makes one staleness probe in virtual time on a layer, and returns how
// long what was revoked was still granted.
func probing(t *testing.T, l *model.Adapter, set ...string) (time.Duration, *staleTask) {
	t.Helper()
	_, s := design(t, append([]string{"tests=staleness", "probes=1"}, set...)...)
	b := &bound{s: s.s, l: l}
	tn := s.tenants[0][0]
	k := &staleTask{worker: b.worker(tn, 0), tally: tn.tally("staleness"), n: 1, observer: b.checker()}
	rec := &noted{}
	begin := time.Now()
	var it workload.Iteration
	it.Bind(func() int64 { return int64(time.Since(begin)) }, rec, 0)
	it.Reset(1 << 62)
	require.NoError(t, k.Do(t.Context(), &it))
	require.Len(t, rec.samples, 2)
	assert.Empty(t, tn.wrong)
	return time.Duration(rec.samples[1].End - rec.samples[1].Start), k
}

// What another worker has in memory goes on being granted until it is too old:
// nobody tells it. Nothing else does, when caches are emptied.
func TestRevokedPermissionInTheMemoryOfAnotherWorker(t *testing.T) {
	for _, strategy := range Strategies[:4] {
		synctest.Test(t, func(t *testing.T) {
			stale, k := probing(t, inmemory.New(false, atOnce), "strategy="+strategy, "cacheTTL=300ms")
			assert.InDelta(t, 300, stale.Milliseconds(), 20, strategy)
			assert.EqualValues(t, 1, k.tally.stale.Load())
			assert.Zero(t, k.tally.stuck.Load())
			assert.Positive(t, k.tally.hits.Load())
		})
		synctest.Test(t, func(t *testing.T) {
			stale, k := probing(t, inmemory.New(false, atOnce), "strategy="+strategy)
			assert.Zero(t, stale, strategy)
			assert.Zero(t, k.tally.stale.Load())
		})
	}
}

// A cache that nobody empties grants until the probe gives up.
func TestRevokedPermissionInACacheThatNobodyEmpties(t *testing.T) {
	for _, strategy := range []string{PermCache, MembershipsCache} {
		synctest.Test(t, func(t *testing.T) {
			stale, k := probing(t, inmemory.New(false, atOnce), "strategy="+strategy, "invalidate=off", "staleLimit=700ms")
			assert.InDelta(t, 700, stale.Milliseconds(), 20, strategy)
			assert.EqualValues(t, 1, k.tally.stuck.Load())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		stale, _ := probing(t, inmemory.New(false, atOnce), "strategy=ancestry", "invalidate=off")
		assert.Zero(t, stale, "there is no cache")
	})
}

// late is a layer that puts what was read before a revocation into the cache after
// it.
type late struct{ model.Closures }

func (l late) PutClosure(ctx context.Context, w *model.Work, principal string, groups []string, direct int) error {
	time.Sleep(5 * time.Millisecond)
	return l.Closures.PutClosure(ctx, w, principal, groups, direct)
}

func (l late) DropClosures(ctx context.Context, w *model.Work, principals []string) error {
	err := l.Closures.DropClosures(ctx, w, principals)
	go func() {
		time.Sleep(2500 * time.Microsecond)
		_ = l.Closures.PutClosure(ctx, w, principals[0], []string{"g:late"}, 1) // in memory, which cannot fail
	}()
	return err
}

// One denial is not the end: what was under way may still fill the cache.
func TestProbeAsksAgainAfterADenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inmemory.New(false, atOnce)
		kept := l.Closures
		l.Closures = late{kept}
		_, s := design(t, "tests=staleness", "strategy=memberships-cache")
		b := &bound{s: s.s, l: l}
		c := b.checker()
		c.Exists = false
		w := &watcher{c: c, p: probe{"u:t:x", "g:late", "c:t:y"}, limit: time.Second}
		require.NoError(t, l.Edges.Change(t.Context(), &model.Work{}, []model.Grant{{Resource: "c:t:y", Member: "g:late", Role: "viewer"}}))
		require.NoError(t, l.Closures.DropClosures(t.Context(), &model.Work{}, []string{"u:t:x"}))
		require.NoError(t, kept.PutClosure(t.Context(), &model.Work{}, "u:t:x", []string{"g:other"}, 1))
		w.revoked.Store(time.Now().UnixNano())
		require.NoError(t, w.watch(t.Context()))
		assert.True(t, w.stuck)
		assert.Positive(t, w.yes)
	})
}

// atOnce is how long calls take there: no time.
func atOnce(ctx context.Context) error { return ctx.Err() }
