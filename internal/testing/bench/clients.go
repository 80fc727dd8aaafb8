package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// PutScript is what a Java map's put does on Redis: it returns the value in whose place it puts
// another.
const PutScript = "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v"

// PutHash is the name that a server has for PutScript.
var PutHash = goredis.NewScript(PutScript).Hash()

// GoRedis returns a client of go-redis to a server, cluster or what sentinels watch, with so many
// connections, that tries nothing again.
func GoRedis(b *testing.B, srv *labtest.Server, connections int) goredis.UniversalClient {
	b.Helper()
	at, err := store.ParseTarget(srv.URL())
	if err != nil {
		b.Fatal(err)
	}
	o := &goredis.UniversalOptions{Addrs: at.Hosts, PoolSize: connections, DisableIdentity: true, MaxRetries: -1, MaxRedirects: 3}
	switch at.Scheme {
	case "redis+cluster":
		o.IsClusterMode = true
	case "redis+sentinel":
		o.MasterName = strings.TrimPrefix(at.Path, "/")
	}
	c := goredis.NewUniversalClient(o)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

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
	return Bare(b, goroutines, turn, func(w int) func() (int, error) {
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
