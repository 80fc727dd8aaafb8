package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// BenchmarkCassandraAgainstBareLoop is the throughput of our loop on Cassandra as a
// ratio to that of a bare loop which sends the same statements through the driver over the
// same connections (BenchmarkGathered has what these gain), and what a call costs the client.
func BenchmarkCassandraAgainstBareLoop(b *testing.B) {
	const most, size, keys = 16, 1024, 1 << 16
	srv := labtest.Cassandra(b)
	target, err := store.ParseTarget(srv.URL() + "?read_timeout=60s&write_timeout=60s&dial_timeout=60s")
	if err != nil {
		b.Fatal(err)
	}
	c, err := cassandra.Open(b.Context(), target, store.OpenOptions{Threads: most})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	space := store.Space{Namespace: "bench", Name: "map", Shape: store.Map}
	if err := c.Records.Record(b.Context(), store.Made{Space: space}); err != nil {
		b.Fatal(err)
	}
	session := c.Session()
	const get, set = `SELECT v FROM "bench"."bench_map" WHERE k = ?`, `INSERT INTO "bench"."bench_map" (k, v) VALUES (?, ?)`
	val := make([]byte, size)
	var next atomic.Int64
	key := func() []byte { return fmt.Appendf(nil, "key-%d", next.Add(1)%keys) }
	for _, x := range []struct {
		name         string
		ours, theirs call
	}{
		{
			"insert",
			func(ctx context.Context) error { return c.Maps.Set(ctx, space, key(), val) },
			func(ctx context.Context) error { return session.Query(set, key(), val).ExecContext(ctx) },
		},
		{
			"put", // a read and a write
			func(ctx context.Context) error { return c.Maps.Put(ctx, space, key(), val) },
			func(ctx context.Context) error {
				k := key()
				var old []byte
				if err := session.Query(get, k).ScanContext(ctx, &old); err != nil && !errors.Is(err, gocql.ErrNotFound) {
					return err
				}
				return session.Query(set, k, val).ExecContext(ctx)
			},
		},
	} {
		for _, threads := range []int{1, most} {
			b.Run(fmt.Sprintf("%s/threads=%d", x.name, threads), func(b *testing.B) {
				againstOnJVM(b, func() float64 { return ours(b, threads, 1, x.ours) }, func() float64 { return bare(b, threads, 1, x.theirs) })
			})
		}
	}
}
