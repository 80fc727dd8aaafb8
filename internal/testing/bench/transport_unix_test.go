//go:build unix

package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// put is what a Java map's put does on Redis.
const put = "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v"

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
	sha, keys := goredis.NewScript(put).Hash(), []string{key}
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
	sha := goredis.NewScript(put).Hash()
	return func(ctx context.Context) error {
		err := t.c.Do(ctx, t.c.B().Evalsha().Sha1(sha).Numkeys(1).Key(key).Arg(field, val).Build()).Error()
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
	of, s := link.NewScript("put", put), link.Scripts{Lines: t.l, How: link.BySHA}
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
func transports(b *testing.B, addr string, threads int) map[string]transport {
	c := client(b, addr, threads)
	auto, err := c.AutoPipelineWithOptions(&goredis.AutoPipelineOptions{MaxBatchSize: 300, MaxConcurrentBatches: link.Conns, Unordered: true})
	if err != nil {
		b.Fatal(err)
	}
	full, err := client(b, addr, threads).AutoPipelineWithOptions(&goredis.AutoPipelineOptions{FullDuplex: true})
	if err != nil {
		b.Fatal(err)
	}
	r, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, PipelineMultiplex: 1,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
	})
	if err != nil {
		b.Fatal(err)
	}
	shared, own := link.NewLines(c, true, threads), link.NewLines(c, false, threads)
	b.Cleanup(func() { r.Close(); shared.Close(); own.Close() })
	return map[string]transport{
		"goredis": overGoRedis{c}, "auto": overGoRedis{auto}, "full": overGoRedis{full}, "rueidis": overRueidis{r},
		"own": overLines{own}, "shared": overLines{shared},
	}
}

// cpuSeconds is what this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// round lets n goroutines make their calls for half a slice, and returns units a second
// and the CPU time of this process a unit, in µs.
func round(b *testing.B, n, units int, of func(worker int) call) (rate, us float64) {
	calls := make([]call, n)
	for w := range calls {
		calls[w] = of(w)
	}
	var done atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	began, before := time.Now(), cpuSeconds()
	for _, do := range calls {
		wg.Go(func() {
			mine := int64(0)
			for !stop.Load() {
				if err := do(b.Context()); err != nil {
					b.Error(err)
					return
				}
				mine++
			}
			done.Add(mine)
		})
	}
	time.Sleep(slice / 2)
	stop.Store(true)
	wg.Wait()
	total := float64(done.Load()) * float64(units)
	return total / time.Since(began).Seconds(), (cpuSeconds() - before) / total * 1e6
}

// BenchmarkTransports compares the ways to Redis, in turns within one run: rates, the
// client's CPU time a call in µs, and the ratio of rates of our shared connections to
// those of rueidis. It is what the way was chosen by.
func BenchmarkTransports(b *testing.B) {
	const depth = 50
	srv := labtest.Redis(b)
	if err := client(b, srv.Addr(), 1).ScriptLoad(b.Context(), put).Err(); err != nil {
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
				ways := transports(b, srv.Addr(), threads)
				rates, costs := map[string][]float64{}, map[string][]float64{}
				var ratio []float64
				for range rounds {
					for name, t := range ways {
						rate, us := round(b, threads, op.units, func(w int) call { return op.of(t, w) })
						rates[name], costs[name] = append(rates[name], rate), append(costs[name], us)
					}
					last := len(ratio)
					ratio = append(ratio, rates["shared"][last]/rates["rueidis"][last])
				}
				b.ReportMetric(0, "ns/op") // has no meaning here
				for name := range ways {
					b.ReportMetric(Median(rates[name]), name+"/s")
					b.ReportMetric(Median(costs[name]), name+"-us")
				}
				b.ReportMetric(Median(ratio), "shared/rueidis")
			})
		}
	}
}
