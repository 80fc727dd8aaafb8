package bench

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
)

// slice is how long each side runs before the other has its turn; rounds is how
// often. Taking turns keeps a drifting machine from favouring one side.
const (
	slice  = time.Second
	rounds = 5
)

// call is one operation against Redis.
type call func(ctx context.Context) error

func client(b *testing.B, addr string, threads int) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: threads, MinIdleConns: threads, DisableIdentity: true, MaxRetries: -1})
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// bare runs do from n goroutines for a slice and returns units per second.
func bare(b *testing.B, n, units int, do call) float64 {
	return Bare(b, n, slice, func(int) func() (int, error) {
		return func() (int, error) { return units, do(context.Background()) }
	})
}

// ours does the same through the engine, measured and recorded.
func ours(b *testing.B, n, units int, do call) float64 {
	task := workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
		m := it.Begin(0)
		return it.End(m, units, do(ctx))
	})
	plan := &workload.Plan{Knobs: []workload.Knob{workload.Threads()}, Phases: []workload.Phase{{Name: "main", Duration: slice, Tracks: []workload.Track{{
		Name: "t", Ops: []string{"op"}, Start: workload.Settings{Threads: n}, NewTask: func(int) (workload.Task, error) { return task, nil },
	}}}}}
	r, err := engine.Start(b.Context(), engine.Options{Plan: plan, Classify: func(error) uint8 { return uint8(store.Other) }, Classes: store.ClassNames})
	if err != nil {
		b.Fatal(err)
	}
	res, err := r.Wait()
	if err != nil || res.Ops[0].Errors > 0 {
		b.Fatalf("errors %d: %v", res.Ops[0].Errors, err)
	}
	return res.Ops[0].Throughput()
}

// against measures both sides in turn.
func against(b *testing.B, a, other func() float64) {
	InTurn(b, rounds, Within("ours", slice, a), Within("bare", slice, other))
}

// jvmRounds is how often that is so on a JVM, whose own threads come and go.
const jvmRounds = 15

// againstOnJVM is against for a store that is a JVM, once it is warm.
func againstOnJVM(b *testing.B, a, other func() float64) {
	sides := []Side{Within("ours", slice, a), Within("bare", slice, other)}
	Warm(sides...)
	InTurn(b, jvmRounds, sides...)
}

// BenchmarkAgainstBareLoop is the throughput of our loop as a ratio to that of a
// bare loop over the same go-redis client.
func BenchmarkAgainstBareLoop(b *testing.B) {
	server := labtest.Redis(b)
	for _, op := range []string{"SET", "GET"} {
		for _, size := range []int{6, 1024} {
			for _, threads := range []int{1, 16, 50} {
				b.Run(fmt.Sprintf("%s/size=%d/threads=%d", op, size, threads), func(b *testing.B) {
					c := client(b, server.Addr(), threads)
					value := strings.Repeat("x", size)
					if err := c.Set(b.Context(), "key", value, 0).Err(); err != nil {
						b.Fatal(err)
					}
					do := call(func(ctx context.Context) error { return c.Set(ctx, "key", value, 0).Err() })
					if op == "GET" {
						do = func(ctx context.Context) error { return c.Get(ctx, "key").Err() }
					}
					against(b, func() float64 { return ours(b, threads, 1, do) }, func() float64 { return bare(b, threads, 1, do) })
				})
			}
		}
	}
}

// BenchmarkAgainstRedisBenchmark is the throughput of our loop as a ratio to that
// of redis-benchmark at equal connections, payload and pipeline depth.
func BenchmarkAgainstRedisBenchmark(b *testing.B) {
	tool, err := exec.LookPath("redis-benchmark")
	if err != nil {
		b.Skip("redis-benchmark is not on the PATH (Debian package redis-tools)")
	}
	server := labtest.Redis(b)
	host, port, _ := strings.Cut(server.Addr(), ":")
	for _, depth := range []int{1, 16} {
		for _, size := range []int{6, 1024} {
			for _, threads := range []int{1, 16, 50} {
				b.Run(fmt.Sprintf("SET/pipeline=%d/size=%d/connections=%d", depth, size, threads), func(b *testing.B) {
					c := client(b, server.Addr(), threads)
					value := strings.Repeat("x", size)
					do := pipelined(c, value, depth)
					theirs := func() float64 { return redisBenchmark(b, tool, host, port, threads, size, depth) }
					theirs() // finds out how many calls fill a slice
					InTurn(b, rounds, Within("ours", slice, func() float64 { return ours(b, threads, depth, do) }), Side{Name: "redis-benchmark", Rate: theirs})
				})
			}
		}
	}
}

func pipelined(c *goredis.Client, value string, depth int) call {
	if depth == 1 {
		return func(ctx context.Context) error { return c.Set(ctx, "key:1", value, 0).Err() }
	}
	return func(ctx context.Context) error {
		_, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for range depth {
				p.Set(ctx, "key:1", value, 0)
			}
			return nil
		})
		return err
	}
}

// speed remembers how fast redis-benchmark was, to ask it for a slice's worth.
var speed = map[string]float64{}

func redisBenchmark(b *testing.B, tool, host, port string, connections, size, depth int) float64 {
	id := fmt.Sprint(connections, size, depth)
	n := max(int(speed[id]*slice.Seconds()), 20_000)
	out, err := exec.CommandContext(b.Context(), tool, "-h", host, "-p", port, "-c", strconv.Itoa(connections), "-n", strconv.Itoa(n),
		"-P", strconv.Itoa(depth), "-d", strconv.Itoa(size), "-t", "set", "--csv").Output()
	if err != nil {
		b.Fatalf("redis-benchmark: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(line, ","); len(f) > 1 && f[0] == `"SET"` {
			v, err := strconv.ParseFloat(strings.Trim(f[1], "\"\n"), 64)
			if err != nil {
				b.Fatal(err)
			}
			speed[id] = v
			return v
		}
	}
	b.Fatalf("no SET row in %q", out)
	return 0
}
