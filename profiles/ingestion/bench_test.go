//go:build peers

package ingestion

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/bench/peers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Of BenchmarkAgainstBareLoops: callers, entries of a batch, bytes of a value, how long
// each side runs before the next has its turn, and how often.
const (
	benchThreads = 16
	benchBatch   = 50
	benchPayload = 1024
	benchTurn    = 500 * time.Millisecond
	benchTurns   = 15
)

// BenchmarkAgainstBareLoops is the rate of entries that ingestion loads as a ratio to
// those of bare loops that send the same commands with go-redis, a connection a caller,
// and with rueidis, which pipelines them over two; apart, with a processor each for client and servers.
func BenchmarkAgainstBareLoops(b *testing.B) {
	peers.OnRedis(b, func(b *testing.B, srv *labtest.Server) {
		for _, testCase := range []string{casePut, casePutAll} {
			b.Run(testCase, func(b *testing.B) {
				var sides []bench.Side
				side := func(name string, rate func() float64) {
					sides = append(sides, bench.Within(name, benchTurn, rate).On(srv))
				}
				for _, pipelining := range []string{"on", "off"} {
					plan := benchPlan(b, srv.URL()+"?pipelining="+pipelining, testCase, pipelining)
					side(pipelining, func() float64 { return profiletest.Rate(b, plan, benchTurn) })
				}
				g, r := peers.GoRedis(b, srv, benchThreads), peers.Rueidis(b, srv)
				side("goredis", func() float64 {
					return bareRate(b, testCase, func(args []string) error { return overGoRedis(g, args) })
				})
				side("rueidis", func() float64 {
					if testCase == casePut {
						return peers.PutOverRueidis(b, r, benchThreads, benchTurn, benchPayload)
					}
					return bareRate(b, testCase, func(args []string) error { return overRueidis(r, args) })
				})
				bench.InTurn(b, benchTurns, sides...)
			})
		}
	})
}

// benchPlan makes a plan that is set up.
func benchPlan(b *testing.B, target, testCase, namespace string) *workload.Plan {
	tg, d, err := drivers.Parse(target)
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), tg, store.OpenOptions{Threads: benchThreads})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	vs := given([2]string{"mapNames", padogrid.Eligibility}, [2]string{"testCase", testCase}, [2]string{"threadCount", fmt.Sprint(benchThreads)},
		[2]string{"totalEntryCount", "16000"}, [2]string{"payloadSize", fmt.Sprint(benchPayload)}, [2]string{"batchSize", fmt.Sprint(benchBatch)},
		[2]string{"testCount", fmt.Sprint(maxRuns)})
	in := workload.Inputs{Values: vs, Seed: 1, Namespace: testCase + namespace, Driver: d.Name, Duration: time.Hour}
	p, err := Design(in)
	require.NoError(b, err)
	p = profiletest.Bind(b, Name, p, c, in, "bench")
	require.NoError(b, p.Setup(b.Context(), nil))
	return p
}

// bareRate sends the commands of a test case for a turn, and returns entries a second.
func bareRate(b *testing.B, testCase string, send func(args []string) error) float64 {
	value := strings.Repeat("x", benchPayload)
	return bench.Bare(b, benchThreads, benchTurn, func(w int) func() (int, error) {
		fields := make([]string, 1000)
		for i := range fields {
			fields[i] = fmt.Sprintf("%04d-%04d", w, i)
		}
		args, at := make([]string, 0, 2+2*benchBatch), 0
		entry := func() {
			args = append(args, fields[at%len(fields)], value)
			at++
		}
		if testCase == casePut {
			return func() (int, error) {
				args = append(args[:0], "EVALSHA", peers.PutHash, "1", "bare")
				entry()
				return 1, send(args)
			}
		}
		return func() (int, error) {
			args = append(args[:0], "HMSET", "bare")
			for range benchBatch {
				entry()
			}
			return benchBatch, send(args)
		}
	})
}

func overGoRedis(c goredis.UniversalClient, args []string) error {
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	err := c.Do(context.Background(), all...).Err()
	if err == goredis.Nil { //nolint:errorlint // on the hot path
		return nil
	}
	return err
}

func overRueidis(c rueidis.Client, args []string) error {
	return c.Do(context.Background(), c.B().Arbitrary(args[0]).Keys(args[1]).Args(args[2:]...).Build()).Error()
}
