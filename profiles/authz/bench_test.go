package authz

import (
	"context"
	"fmt"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

// BenchmarkAgainstBareLoop compares our checks and writes on Cassandra, each
// decision checked by the oracle, with a bare loop of the driver that sends the
// same prepared statements at the same concurrency, turn about in one run:
// "ratio-checks" and "ratio-writes" are ours over bare.
func BenchmarkAgainstBareLoop(b *testing.B) {
	const workers, rounds, each = 16, 5, 4000
	target, _, err := drivers.Parse(labtest.Cassandra(b).URL())
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), target, store.OpenOptions{Threads: workers})
	require.NoError(b, err)
	defer c.Close()
	m, err := newModel(generate("classic", 200, 100, 1), modeRoles, false)
	require.NoError(b, err)
	s := &spec{model: m, namespace: "bench", variant: "v2", driver: "cassandra", strategy: strategyAncestry}
	l := newCassandra(c.(cassandra.Typed), s.namespace)
	require.NoError(b, l.prepare(b.Context()))
	t := &tenant{s: s, name: "perf-test-1-0-0"}
	t.id(0)
	bd := &bound{s: s, l: l}
	run := func(f func(ctx context.Context, w, i int) error) float64 {
		b.StartTimer()
		begin := b.Elapsed()
		g, ctx := errgroup.WithContext(b.Context())
		for w := range workers {
			g.Go(func() error {
				for i := range each / workers {
					if err := f(ctx, w, w*each/workers+i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(b, g.Wait())
		b.StopTimer()
		return (b.Elapsed() - begin).Seconds()
	}
	session := c.(cassandra.Typed).Session()
	at := func(i int) (edge, string, string, string) {
		e := m.edges[i%len(m.edges)]
		return e, t.ids[e.member], t.ids[e.group], m.roles[e.role]
	}
	var ws []*worker
	for w := range workers {
		ws = append(ws, bd.worker(t, w))
	}
	ours := [2]func(context.Context, int, int) error{
		func(ctx context.Context, w, i int) error {
			e, p, r, role := at(i)
			want, _ := ws[w].o.allowed(e.member, e.group, int(e.role))
			got, err := ws[w].c.allowed(ctx, p, r, role)
			t.judge(got, want, p, r, role)
			return err
		},
		func(ctx context.Context, w, i int) error {
			_, p, r, role := at(i)
			return l.change(ctx, &ws[w].c.work, []grant{{r, p, role}})
		},
	}
	bare := [2]func(context.Context, int, int) error{
		func(ctx context.Context, _, i int) error {
			_, p, r, want := at(i)
			var role string
			err := session.Query(l.stmt["role"], p, r).ScanContext(ctx, &role)
			if err == nil && role != want {
				err = fmt.Errorf("%s on %s: %s", p, r, role)
			}
			return err
		},
		func(ctx context.Context, _, i int) error {
			_, p, r, role := at(i)
			return session.Batch(gocql.LoggedBatch).Query(l.stmt["setMember"], r, p, role).Query(l.stmt["setRole"], p, r, role).ExecContext(ctx)
		},
	}
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		for k, name := range map[int]string{1: "writes", 0: "checks"} {
			run(bare[1]) // what is checked must be there; and the server warms up
			run(ours[k])
			var mine, theirs float64
			for range rounds {
				mine += run(ours[k])
				theirs += run(bare[k])
			}
			b.ReportMetric(theirs/mine, "ratio-"+name)
			b.ReportMetric(rounds*each/mine, name+"/s")
		}
	}
	require.Empty(b, t.wrong)
}
