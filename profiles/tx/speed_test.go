package tx

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

// turn is how long each side runs before the other has its turn, turns how often.
const (
	turn  = 500 * time.Millisecond
	turns = 7
)

// dtmRate is what a dtm server reached under ab -c 10, in transactions a second on
// two cores, when it was measured.
const dtmRate = 3776

// inTurn reports the medians of both sides, and of the ratio of each pair; server
// tells the CPU seconds that the server has used.
func inTurn(b *testing.B, server func() float64, ours, other func(round int) float64) (median float64) {
	b.Helper()
	type used struct{ rate, client, server []float64 }
	var x, y used
	var ratio []float64
	run := func(side func(int) float64, i int, to *used) float64 {
		client, before := cpuSeconds(), server()
		rate := side(i)
		// About: what it takes to begin and end is in it, which is little.
		n := rate * turn.Seconds() / 1e6
		to.rate = append(to.rate, rate)
		to.client, to.server = append(to.client, (cpuSeconds()-client)/n), append(to.server, (server()-before)/n)
		return rate
	}
	for i := range turns {
		var u, v float64
		if i%2 == 0 {
			u, v = run(ours, i, &x), run(other, i, &y)
		} else {
			v, u = run(other, i, &y), run(ours, i, &x)
		}
		ratio = append(ratio, u/v)
	}
	middle := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	b.ReportMetric(0, "ns/op") // has no meaning here
	b.ReportMetric(middle(x.rate), "ours/s")
	b.ReportMetric(middle(y.rate), "other/s")
	b.ReportMetric(middle(ratio), "ratio")
	b.ReportMetric(middle(x.client), "ours-cpu-us")
	b.ReportMetric(middle(y.client), "other-cpu-us")
	b.ReportMetric(middle(x.server), "ours-server-us")
	b.ReportMetric(middle(y.server), "other-server-us")
	return middle(x.rate)
}

// serverCPU tells the CPU seconds that the servers of a store have used.
func serverCPU(b *testing.B, c store.Conn) func() float64 {
	m := redisMeter{c.(redis.Typed)}
	return func() float64 { return m.usage(b.Context()).server }
}

// engineRate runs the phase of a plan for a turn and returns units a second.
func engineRate(b *testing.B, p *workload.Plan, phase int) float64 {
	b.Helper()
	one := *p
	one.Phases = []workload.Phase{p.Phases[phase]}
	one.Phases[0].After, one.Phases[0].Duration = nil, turn
	r, err := engine.Start(b.Context(), engine.Options{Plan: &one, Classify: func(error) uint8 { return uint8(store.Other) }, Classes: store.ClassNames})
	if err != nil {
		b.Fatal(err)
	}
	res, err := r.Wait()
	if err != nil || res.Ops[0].Errors > 0 {
		b.Fatalf("errors %d: %v", res.Ops[0].Errors, err)
	}
	return res.Ops[0].Throughput()
}

// bareRate runs do from n goroutines for a turn.
func bareRate(b *testing.B, n int, do func(worker int, seq int64) error) float64 {
	b.Helper()
	var done atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	began := time.Now()
	for w := range n {
		wg.Go(func() {
			mine := int64(0)
			for !stop.Load() {
				if err := do(w, mine); err != nil {
					b.Error(err)
					return
				}
				mine++
			}
			done.Add(mine)
		})
	}
	time.Sleep(turn)
	stop.Store(true)
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// BenchmarkSagaAgainstBareLoop is the rate of sagas as a ratio to that of a loop
// that issues the same scripts, with arguments of the same sizes, over the same
// connections, and against that of a dtm server.
func BenchmarkSagaAgainstBareLoop(b *testing.B) {
	srv := labtest.Redis(b)
	for _, accounts := range []string{"off", "on"} {
		for _, threads := range []int{10, 50} {
			b.Run(fmt.Sprintf("accounts=%s/threads=%d", accounts, threads), func(b *testing.B) {
				in := inputs(given("mode=saga", "accounts="+accounts, fmt.Sprint("threads=", threads)))
				in.Duration, in.Namespace = time.Hour, "s"+accounts
				p, c := ready(b, srv.URL(), in)
				st := newRedisSagas(c.(redis.Typed), p.Private.(*sagaSpec))
				bare := func(int) float64 {
					round, callers := runs.Add(1), make([]caller, threads)
					return bareRate(b, threads, func(w int, seq int64) error {
						return bareSaga(b.Context(), st, &callers[w], string(appendGid(nil, "bare"+fmt.Sprintf("%04d", round), w, seq)))
					})
				}
				got := inTurn(b, serverCPU(b, c), func(int) float64 { return engineRate(b, p, 0) }, bare)
				if accounts == "off" {
					b.ReportMetric(got/dtmRate, "x-dtm")
				}
			})
		}
	}
}

// Texts of the sizes that a saga of two branches sends.
var (
	bareRecord = strings.Repeat("r", 450)
	bareFinish = strings.Repeat("r", 405)
	bareRow    = strings.Repeat("b", 250)
)

// bareSaga issues the scripts of one saga with constant texts over a connection of
// a saga's client.
func bareSaga(ctx context.Context, st *redisSagas, c *caller, gid string) error {
	base := st.base[0]
	begin := func(s script, args ...string) {
		st.run.begin(&c.request, s, 4)
		for _, a := range []string{base + "g:" + gid, base + "b:" + gid, base + "u", base + "s:" + gid, st.ttl} {
			c.add(a)
		}
		for _, a := range args {
			c.add(a)
		}
	}
	begin(saveScript, bareRecord, "1700000000000", gid, submitted, bareRow, bareRow, bareRow, bareRow)
	if err := word(st.run.finish(ctx, c, saveScript)); err != nil {
		return err
	}
	for i, pos := range []string{"1", "3"} {
		if st.spec.accounts > 0 {
			st.run.begin(&c.request, moveScript, 2)
			for _, a := range []string{base + "a", base + "l:" + gid, pos, []string{"1", "-1"}[i], []string{"01action", "02action"}[i], "", st.ledgerTTL} {
				c.add(a)
			}
			if _, err := st.run.finish(ctx, c, moveScript); err != nil {
				return err
			}
		}
		begin(branchScript, submitted, pos, bareRow)
		if err := word(st.run.finish(ctx, c, branchScript)); err != nil {
			return err
		}
	}
	begin(changeScript, bareFinish, submitted, "1", gid, succeed, st.finalTTL)
	return word(st.run.finish(ctx, c, changeScript))
}

// BenchmarkBaselineAgainstRedisBenchmark is the rate of baseline rows as a ratio to
// that of redis-benchmark with the same calls and connections.
func BenchmarkBaselineAgainstRedisBenchmark(b *testing.B) {
	tool, err := exec.LookPath("redis-benchmark")
	if err != nil {
		b.Skip("redis-benchmark is not on the PATH (Debian package redis-tools)")
	}
	srv := labtest.Redis(b)
	host, port, _ := strings.Cut(srv.Addr(), ":")
	in := inputs(given("mode=baseline", "threads=50", "ceiling=off"))
	in.Duration = time.Hour
	p, c := ready(b, srv.URL(), in)
	sp := p.Private.(*baselineSpec)
	for i, row := range sp.rows {
		b.Run(row.name, func(b *testing.B) {
			n := 100_000 * min(row.depth, 10)
			theirs := func(int) float64 {
				args := append([]string{"-h", host, "-p", port, "-c", "50", "-P", strconv.Itoa(row.depth), "-n", strconv.Itoa(n), "--csv"}, sp.requestOf(row.name)...)
				out, err := exec.CommandContext(b.Context(), tool, args...).Output()
				if err != nil {
					b.Fatalf("redis-benchmark: %v", err)
				}
				// The title may hold commas: seven fields from the right.
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				fields := strings.Split(lines[len(lines)-1], `","`)
				v, err := strconv.ParseFloat(fields[len(fields)-7], 64)
				if err != nil {
					b.Fatal(err)
				}
				n = max(int(v*turn.Seconds()), 20_000)
				return v
			}
			inTurn(b, serverCPU(b, c), func(int) float64 { return engineRate(b, p, i) }, theirs)
		})
	}
}
