package bench

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	oracle "github.com/oracle/coherence-go-client/v2/coherence"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// BenchmarkCoherenceAgainstBareLoop is the throughput of our loop on a Coherence as
// a ratio to that of a bare loop over Oracle's Go client with as many sessions. It
// takes some three minutes.
func BenchmarkCoherenceAgainstBareLoop(b *testing.B) {
	const sessions, threads, size, batch = 4, 16, 1024, 100
	srv := labtest.Coherence(b)
	target, err := store.ParseTarget(srv.URL() + fmt.Sprintf("?read_timeout=60s&dial_timeout=60s&connections=%d", sessions))
	if err != nil {
		b.Fatal(err)
	}
	c, err := coherence.Open(b.Context(), target, store.OpenOptions{Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	space := store.Space{Namespace: "bench", Name: "map", Shape: store.Map}
	var caches [sessions]oracle.NamedCache[string, []byte]
	for i := range caches {
		s, err := oracle.NewSession(context.Background(), oracle.WithAddress(srv.Addr()), oracle.WithPlainText(), oracle.WithRequestTimeout(time.Minute))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		if caches[i], err = oracle.GetNamedCache[string, []byte](s, coherence.CacheName(space)); err != nil {
			b.Fatal(err)
		}
	}
	var next atomic.Int64
	cache := func() oracle.NamedCache[string, []byte] { return caches[next.Add(1)%sessions] }
	val := make([]byte, size)
	entries, keys, texts, all := make([]store.Entry, batch), make([][]byte, batch), make([]string, batch), map[string][]byte{}
	for i := range batch {
		texts[i] = fmt.Sprintf("key-%d", i)
		keys[i], all[texts[i]] = []byte(texts[i]), val
		entries[i] = store.Entry{Key: keys[i], Val: val}
	}
	for _, x := range []struct {
		name         string
		units        int
		ours, theirs call
	}{
		{
			"put", 1,
			func(ctx context.Context) error { return c.Maps.Put(ctx, space, keys[0], val) },
			func(ctx context.Context) error { _, err := cache().Put(ctx, texts[0], val); return err },
		},
		{
			"get", 1,
			func(ctx context.Context) error { _, _, err := c.Maps.Get(ctx, space, keys[0], nil); return err },
			func(ctx context.Context) error { _, err := cache().Get(ctx, texts[0]); return err },
		},
		{
			"putall", batch,
			func(ctx context.Context) error { return c.Maps.PutAll(ctx, space, entries) },
			func(ctx context.Context) error { return cache().PutAll(ctx, all) },
		},
		{
			"getall", batch,
			func(ctx context.Context) error { _, err := c.Maps.GetAll(ctx, space, keys); return err },
			func(ctx context.Context) error {
				got := make(map[string][]byte, batch)
				for e := range cache().GetAll(ctx, texts) {
					if e.Err != nil {
						return e.Err
					}
					got[e.Key] = e.Value
				}
				return nil
			},
		},
	} {
		b.Run(x.name, func(b *testing.B) {
			againstOnJVM(b, func() float64 { return ours(b, threads, x.units, x.ours) }, func() float64 { return bare(b, threads, x.units, x.theirs) })
		})
	}
}
