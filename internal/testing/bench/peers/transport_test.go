//go:build peers

package peers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// turn is how long each way runs before the next has its turn; turns is how often.
const (
	turn  = 500 * time.Millisecond
	turns = 5
)

type call func(ctx context.Context) error

// client is one of go-redis with a connection for each thread.
func client(b *testing.B, addr string, threads int) *goredis.Client {
	b.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: threads, MinIdleConns: threads, DisableIdentity: true, MaxRetries: -1})
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// transport is a way to Redis; each method returns a call for one goroutine.
type transport interface {
	set(key, val string) call
	put(key, field, val string) call
	batch(key, val string, depth int) call
}

// overGoRedis is go-redis, as a client or as what pipelines its calls.
type overGoRedis struct {
	c goredis.Cmdable
}

func (t overGoRedis) set(key, val string) call {
	return func(ctx context.Context) error { return t.c.Set(ctx, key, val, 0).Err() }
}

func (t overGoRedis) put(key, field, val string) call {
	sha, keys := PutHash, []string{key}
	return func(ctx context.Context) error {
		return ignoreNil(t.c.EvalSha(ctx, sha, keys, field, val).Err(), goredis.Nil)
	}
}

func (t overGoRedis) batch(key, val string, depth int) call {
	return func(ctx context.Context) error {
		_, err := t.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for range depth {
				p.Set(ctx, key, val, 0)
			}
			return nil
		})
		return err
	}
}

func ignoreNil(err, none error) error {
	if err == none { //nolint:errorlint // on the hot path
		return nil
	}
	return err
}

type overRueidis struct{ c rueidis.Client }

func (t overRueidis) set(key, val string) call {
	return func(ctx context.Context) error { return t.c.Do(ctx, t.c.B().Set().Key(key).Value(val).Build()).Error() }
}

func (t overRueidis) put(key, field, val string) call {
	return func(ctx context.Context) error {
		err := t.c.Do(ctx, t.c.B().Evalsha().Sha1(PutHash).Numkeys(1).Key(key).Arg(field, val).Build()).Error()
		if rueidis.IsRedisNil(err) {
			return nil
		}
		return err
	}
}

func (t overRueidis) batch(key, val string, depth int) call {
	cmds := make(rueidis.Commands, depth)
	return func(ctx context.Context) error {
		for i := range cmds {
			cmds[i] = t.c.B().Set().Key(key).Value(val).Build()
		}
		for _, r := range t.c.DoMulti(ctx, cmds...) {
			if err := r.Error(); err != nil {
				return err
			}
		}
		return nil
	}
}

type overLines struct{ l *link.Lines }

func (t overLines) set(key, val string) call {
	var c link.Caller
	return func(ctx context.Context) error {
		c.Command("SET")
		c.Add(key)
		c.Add(val)
		_, err := t.l.Do(ctx, &c)
		return err
	}
}

func (t overLines) put(key, field, val string) call {
	var c link.Caller
	of, s := link.NewScript("put", PutScript), link.Scripts{Lines: t.l, How: link.BySHA}
	return func(ctx context.Context) error {
		s.Begin(&c.Request, of, 1)
		c.Add(key)
		c.Add(field)
		c.Add(val)
		_, err := s.Finish(ctx, &c, of)
		return err
	}
}

func (t overLines) batch(key, val string, depth int) call {
	var c link.Caller
	return func(ctx context.Context) error {
		c.Reset()
		for range depth {
			c.Next("SET")
			c.Add(key)
			c.Add(val)
		}
		_, err := t.l.Do(ctx, &c)
		return err
	}
}

// transports are all ways to one server, by name; the calls of auto and full are
// pipelined by go-redis, in turns or in both directions at once.
func transports(b *testing.B, srv *labtest.Server, threads int) map[string]transport {
	c := client(b, srv.Addr(), threads)
	auto, err := c.AutoPipelineWithOptions(&goredis.AutoPipelineOptions{MaxBatchSize: 300, MaxConcurrentBatches: link.Conns, Unordered: true})
	if err != nil {
		b.Fatal(err)
	}
	full, err := client(b, srv.Addr(), threads).AutoPipelineWithOptions(&goredis.AutoPipelineOptions{FullDuplex: true})
	if err != nil {
		b.Fatal(err)
	}
	shared, own := link.NewLines(c, true, threads, link.BusyPoll), link.NewLines(c, false, threads, link.BusyPoll)
	b.Cleanup(func() { shared.Close(); own.Close() })
	return map[string]transport{
		"goredis": overGoRedis{c}, "auto": overGoRedis{auto}, "full": overGoRedis{full}, "rueidis": overRueidis{Rueidis(b, srv)},
		"own": overLines{own}, "shared": overLines{shared},
	}
}

// BenchmarkTransports compares our shared connections with the other ways to Redis, in turns
// within one run. It is what the way was chosen by.
func BenchmarkTransports(b *testing.B) {
	const depth = 50
	srv := labtest.Redis(b)
	if err := client(b, srv.Addr(), 1).ScriptLoad(b.Context(), PutScript).Err(); err != nil {
		b.Fatal(err)
	}
	value := strings.Repeat("x", 100)
	for _, op := range []struct {
		name  string
		units int
		of    func(t transport, w int) call
	}{
		{"set", 1, func(t transport, w int) call { return t.set(fmt.Sprint("key", w), value) }},
		{"put", 1, func(t transport, w int) call { return t.put("hash", fmt.Sprint("f", w), value) }},
		{"batch", depth, func(t transport, w int) call { return t.batch(fmt.Sprint("key", w), value, depth) }},
	} {
		for _, threads := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/threads=%d", op.name, threads), func(b *testing.B) {
				ways := transports(b, srv, threads)
				var sides []bench.Side
				for _, name := range []string{"shared", "own", "rueidis", "goredis", "auto", "full"} {
					sides = append(sides, bench.Within(name, turn, func() float64 {
						return bench.Bare(b, threads, turn, func(w int) func() (int, error) {
							do := op.of(ways[name], w)
							return func() (int, error) { return op.units, do(b.Context()) }
						})
					}))
				}
				bench.InTurn(b, turns, sides...)
			})
		}
	}
}
