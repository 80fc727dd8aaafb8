// Package peers connects other clients of Redis as benchmarks do that compare with them.
package peers

import (
	"strings"
	"sync"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// PutScript is what a Java map's put does on Redis: it returns the value in whose place it puts
// another.
const PutScript = "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v"

// PutHash is the name that a server has for PutScript.
var PutHash = goredis.NewScript(PutScript).Hash()

// OnRedis runs a benchmark on a server, on a cluster and behind sentinels, which are started when
// they are asked for: NAME/shared on the processors that the system chooses, NAME/apart as
// [bench.Apart] has it, and NAME/awake so and with processors that do not idle, as [bench.Awake] has it.
func OnRedis(b *testing.B, run func(b *testing.B, srv *labtest.Server)) {
	for _, x := range []struct {
		name  string
		start func(testing.TB, ...string) *labtest.Server
	}{{"redis", labtest.Redis}, {"cluster", labtest.Cluster}, {"sentinel", labtest.Sentinel}} {
		srv := sync.OnceValue(func() *labtest.Server { return x.start(b) })
		b.Run(x.name+"/shared", func(b *testing.B) { run(b, srv()) })
		b.Run(x.name+"/apart", func(b *testing.B) {
			bench.Apart(b, srv())
			run(b, srv())
		})
		b.Run(x.name+"/awake", func(b *testing.B) {
			bench.Awake(b)
			bench.Apart(b, srv())
			run(b, srv())
		})
	}
}

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
