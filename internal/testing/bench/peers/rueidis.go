//go:build peers

package peers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Rueidis returns a client of rueidis to a server, cluster or what sentinels watch, over as many
// connections as our own client shares, and with buffers as large.
func Rueidis(b *testing.B, srv *labtest.Server) rueidis.Client {
	b.Helper()
	at, err := store.ParseTarget(srv.URL())
	if err != nil {
		b.Fatal(err)
	}
	o := rueidis.ClientOption{
		InitAddress: slices.Clone(at.Hosts), DisableCache: true, PipelineMultiplex: 1,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
	}
	switch at.Scheme {
	case "redis+cluster":
	case "redis+sentinel":
		o.Sentinel.MasterSet = strings.TrimPrefix(at.Path, "/")
	default:
		o.ForceSingleClient = true
	}
	c, err := rueidis.NewClient(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

// PutOverRueidis sends PutScript for fields of a hash over rueidis from so many goroutines for a
// turn, and returns calls a second.
func PutOverRueidis(b *testing.B, c rueidis.Client, goroutines int, turn time.Duration, bytes int) float64 {
	b.Helper()
	const key = "bare"
	value := strings.Repeat("x", bytes)
	// A script that a server does not know yet is sent to it.
	load := c.B().Eval().Script(PutScript).Numkeys(1).Key(key).Arg("first", value).Build()
	if err := c.Do(b.Context(), load).Error(); err != nil && !rueidis.IsRedisNil(err) {
		b.Fatal(err)
	}
	return bench.Bare(b, goroutines, turn, func(w int) func() (int, error) {
		fields, at := make([]string, 1000), 0
		for i := range fields {
			fields[i] = fmt.Sprintf("%04d-%04d", w, i)
		}
		return func() (int, error) {
			at = (at + 1) % len(fields)
			err := c.Do(b.Context(), c.B().Evalsha().Sha1(PutHash).Numkeys(1).Key(key).Arg(fields[at], value).Build()).Error()
			if rueidis.IsRedisNil(err) {
				err = nil
			}
			return 1, err
		}
	})
}
