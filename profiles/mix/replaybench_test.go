package mix

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/profiles/mix/replay"
)

// Of the benchmarks of replays: on how many connections calls were recorded, and how long at the
// rates of BenchmarkReplayArrivals.
const (
	benchConnections = benchThreads
	benchLong        = 4 * time.Second
)

// traffic records GETs and SETs that come independently of each other, so many a second.
func traffic(b *testing.B, rate float64, calls int) (path string, at []time.Duration) {
	b.Helper()
	rnd := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // no secret
	list, now := make([]capture.Call, 0, calls), 0.0
	for range calls {
		now += rnd.ExpFloat64() / rate
		c := capture.Call{At: time.Duration(now * float64(time.Second)).Truncate(time.Microsecond), Conn: 1 + rnd.Int64N(benchConnections), Keys: []int{1}}
		key := fmt.Sprintf("user:%d", rnd.IntN(benchRecords))
		if c.Args = args("GET", key); rnd.IntN(10) == 0 {
			c.Args = args("SET", key, "<100>")
		}
		list, at = append(list, c), append(at, c.At)
	}
	return recorded(b, capture.Header{}, list...), at
}

// BenchmarkReplayArrivals replays calls at the moments when they were recorded, and compares the
// pauses between them with those that the server saw, by its own clock (MONITOR): KS is the distance
// of their distributions, after Kolmogorov and Smirnov, and late-p99-us how late perfbench itself
// began them.
func BenchmarkReplayArrivals(b *testing.B) {
	for _, rate := range []float64{1000, 5000, 20_000} {
		b.Run(fmt.Sprintf("%.0f", rate), func(b *testing.B) {
			path, want := traffic(b, rate, int(rate*benchLong.Seconds()))
			var distances, late []float64
			for range b.N {
				srv := labtest.Redis(b)
				seen := monitor(b, srv.Addr(), ":user:")
				o := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{path}, Set: []string{"namespace=again", "load=skip"}, Out: b.TempDir()}.Run(b)
				require.NoError(b, o.Err)
				for _, op := range o.Run.Operations {
					late = append(late, float64(op.Lateness.P99)/1e3)
				}
				got := seen(len(want))
				distances = append(distances, bench.Distance(bench.Pauses(want), bench.Pauses(got)))
			}
			b.ReportMetric(slices.Max(distances), "KS")
			b.ReportMetric(slices.Max(late), "late-p99-us")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// monitor follows what a server is asked. The function that it returns waits for n calls with a
// text in them, and returns when the server began them.
func monitor(b *testing.B, addr, with string) func(n int) []time.Duration {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("MONITOR\r\n"))
	require.NoError(b, err)
	in := bufio.NewReaderSize(conn, 1<<20)
	_, err = in.ReadString('\n')
	require.NoError(b, err)
	moments := make(chan time.Duration, 1<<20)
	go func() {
		defer close(moments)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if !strings.Contains(line, with) {
				continue
			}
			text, _, _ := strings.Cut(strings.TrimPrefix(line, "+"), " ")
			whole, part, _ := strings.Cut(text, ".")
			s, _ := strconv.ParseInt(whole, 10, 64)
			us, _ := strconv.ParseInt(part, 10, 64)
			moments <- time.Duration(s)*time.Second + time.Duration(us)*time.Microsecond
		}
	}()
	return func(n int) (out []time.Duration) {
		for m := range moments {
			if out = append(out, m); len(out) == n {
				return out
			}
		}
		require.Fail(b, "the server has seen too few calls", "%d of %d", len(out), n)
		return nil
	}
}

// BenchmarkReplayAgainstBareLoop is the rate of a replay that is as fast as the store answers, as a
// ratio to that of a loop over the bare client with as many callers and calls of the same kinds.
func BenchmarkReplayAgainstBareLoop(b *testing.B) {
	const calls = 200_000
	path, _ := traffic(b, 20_000, calls)
	srv := labtest.Redis(b)
	call := overGoRedis(b, srv)
	rnd := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // no secret
	value := bareValue(rnd)[:100]
	keys := make([]string, benchRecords)
	for i := range keys {
		keys[i] = bareKey(int64(i))
		require.NoError(b, call(b.Context(), keys[i], value))
	}
	out := b.TempDir()
	bench.InTurn(b, 5, bench.Side{Name: "replay", Rate: func() float64 {
		o := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{path}, Set: []string{"namespace=again", "load=skip", "speed=unlimited"}, Out: out}.Run(b)
		require.NoError(b, o.Err)
		f := profiletest.Facts[replay.Facts](b, o)
		require.EqualValues(b, calls, f.Replay.Made)
		return calls / o.Run.MeasuredS
	}}, bench.Side{Name: "bare", Rate: func() float64 {
		return bench.Bare(b, benchConnections, 2*time.Second, func(w int) func() (int, error) {
			rnd := rand.New(rand.NewPCG(1, uint64(w))) //nolint:gosec // no secret
			return func() (int, error) {
				set := ""
				if rnd.IntN(10) == 0 {
					set = value
				}
				return 1, call(context.WithoutCancel(b.Context()), keys[rnd.IntN(benchRecords)], set)
			}
		})
	}})
}
