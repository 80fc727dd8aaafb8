package tx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/baseline"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
)

// turn is how long each side runs before the other has its turn, turns how often.
const (
	turn  = 500 * time.Millisecond
	turns = 7
)

// dtmRate is what a dtm server reached under ab -c 10, in transactions a second on
// two cores, when it was measured, and dtmEvals what redis-benchmark's row eval-args
// reached on the same machine with 50 connections, in calls a second.
const (
	dtmRate  = 3776
	dtmEvals = 154_480
)

// evalArgs is the row as dtmEvals was measured, behind the prefix of no namespace.
var evalArgs = baseline.SuiteRow{Primitive: baseline.Suite[3], Lengths: baseline.Suite[3].Script}

// engineRate runs the phase of a plan for a turn and returns units a second.
func engineRate(b *testing.B, p *workload.Plan, phase int) float64 {
	b.Helper()
	one := *p
	one.Phases = []workload.Phase{p.Phases[phase]}
	one.Phases[0].After, one.Phases[0].Duration = nil, turn
	res := profiletest.Work(b, &one)
	if n := res.Ops[0].Errors; n > 0 {
		b.Fatalf("errors %d: %v", n, res.Errors)
	}
	return res.Ops[0].Throughput()
}

// rounds keeps the gids of bare loops apart.
var rounds atomic.Int64

// BenchmarkSagaAgainstBareLoop is the rate of sagas as a ratio to that of a loop
// that issues the same scripts, with arguments of the same sizes, over the same
// connections, and against that of a dtm server: x-dtm is the multiple of what one
// reached when it was measured; x-dtm-scaled that of what it would have reached on a
// machine as fast as this one, by the row eval-args of redis-benchmark here and there.
// BenchmarkSagaAgainstDTM compares with a server that is there.
func BenchmarkSagaAgainstBareLoop(b *testing.B) {
	srv := labtest.Redis(b)
	for _, accounts := range []string{"off", "on"} {
		for _, threads := range []int{10, 50} {
			b.Run(fmt.Sprintf("accounts=%s/threads=%d", accounts, threads), func(b *testing.B) {
				in := inputs(given("mode=saga", "accounts="+accounts, fmt.Sprint("threads=", threads)))
				in.Duration, in.Namespace = time.Hour, "s"+accounts
				p, c := ready(b, srv.URL(), in)
				st := onredis.New(c.(redis.Typed), p.Binder.(binder).Binder.(saga.Binding).Spec)
				text := bareTexts(st.Spec)
				sides := []bench.Side{
					bench.Within("sagas", turn, func() float64 { return engineRate(b, p, 0) }).On(srv),
					bench.Within("bare", turn, func() float64 {
						callers := make([]link.Caller, threads)
						text.round = fmt.Sprintf("%04d", rounds.Add(1))
						return bench.Bare(b, threads, turn, func(w int) func() (int, error) {
							seq := int64(-1)
							return func() (int, error) {
								seq++
								return 1, bareSaga(b.Context(), st, &callers[w], &text, w, seq)
							}
						})
					}).On(srv),
				}
				if _, err := exec.LookPath("redis-benchmark"); err == nil && accounts == "off" {
					evals := &bench.Spent{}
					sides = append(sides, bench.Side{Name: "eval-args", Spent: evals, Rate: func() float64 {
						return redisBenchmark(b, srv, evals, 1, 40_000, (&baseline.Spec{}).RequestOf(&evalArgs))
					}})
				}
				rates := bench.InTurn(b, turns, sides...)
				if accounts == "off" {
					againstDTM(b, rates[0], rates[2:])
				}
			})
		}
	}
}

// againstDTM says what multiple of a dtm server's a rate of sagas is; evals is the
// rate of eval-args, if it is known.
func againstDTM(b *testing.B, got float64, evals []float64) {
	b.ReportMetric(got/dtmRate, "x-dtm")
	if len(evals) > 0 {
		b.ReportMetric(got/(dtmRate*evals[0]/dtmEvals), "x-dtm-scaled")
	}
}

// redisBenchmark runs a command n times with redis-benchmark and 50 connections,
// adds to what has been spent, and returns calls a second.
func redisBenchmark(b *testing.B, srv *labtest.Server, spent *bench.Spent, depth, n int, command []string) float64 {
	b.Helper()
	host, port, _ := strings.Cut(srv.Addr(), ":")
	args := append([]string{"-h", host, "-p", port, "-c", "50", "-P", strconv.Itoa(depth), "-n", strconv.Itoa(n), "--csv"}, command...)
	out := spent.Run(b, exec.CommandContext(b.Context(), "redis-benchmark", args...), float64(n))
	// The title may hold commas: seven fields from the right.
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.Split(lines[len(lines)-1], `","`)
	v, err := strconv.ParseFloat(fields[len(fields)-7], 64)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// bareText are texts of the sizes that a saga of two branches sends.
type bareText struct {
	round                     string // makes gids others than those of rounds before
	record, finish, row, done string
	// accounts are all accounts, in no order.
	accounts []string
}

func bareTexts(sp *model.Spec) bareText {
	s := &model.Saga{}
	now := time.Now()
	s.Reset(string(model.AppendGid(nil, "bare0000", 0, 0)), 0, sp.Branches, now)
	s.Empty, s.Next, s.Interval = sp.Accounts == 0, now.Add(sp.Retry), sp.Retry
	size := func(of []byte) string { return strings.Repeat("x", len(of)) }
	t := bareText{record: size(s.AppendRecord(nil, true)), row: size(s.AppendRow(nil, 1))}
	s.Status, s.Ended, s.Rows[1].Status, s.Rows[1].Ended = model.Succeed, now, model.Succeed, now
	for _, a := range rand.Perm(int(sp.Accounts)) {
		t.accounts = append(t.accounts, strconv.Itoa(a))
	}
	t.finish, t.done = size(s.AppendRecord(nil, false)), size(s.AppendRow(nil, 1))
	return t
}

// bareSaga issues the scripts of one saga with constant texts over a connection of
// a saga's client.
func bareSaga(ctx context.Context, st *onredis.Redis, c *link.Caller, t *bareText, w int, seq int64) error {
	base, gid := st.Base[0], string(model.AppendGid(nil, "bare"+t.round, w, seq))
	begin := func(s link.Script, args ...string) {
		st.Run.Begin(&c.Request, s, 4)
		for _, a := range []string{base + "g:" + gid, base + "b:" + gid, base + "u", base + "s:" + gid, st.TTL} {
			c.Add(a)
		}
		for _, a := range args {
			c.Add(a)
		}
	}
	begin(onredis.SaveScript, t.record, "1700000000000", gid, model.Submitted, t.row, t.row, t.row, t.row)
	if err := onredis.Word(st.Run.Finish(ctx, c, onredis.SaveScript)); err != nil {
		return err
	}
	for i, pos := range []string{"1", "3"} {
		if st.Spec.Accounts > 0 {
			st.Run.Begin(&c.Request, onredis.MoveScript, 2)
			for _, a := range []string{base + "a", base + "l:" + gid, t.accounts[(w*1000+2*int(seq)+i)%len(t.accounts)], []string{"-50", "50"}[i], []string{"01action", "02action"}[i], "", st.LedgerTTL} {
				c.Add(a)
			}
			if _, err := st.Run.Finish(ctx, c, onredis.MoveScript); err != nil {
				return err
			}
		}
		begin(onredis.BranchScript, model.Submitted, pos, t.done)
		if err := onredis.Word(st.Run.Finish(ctx, c, onredis.BranchScript)); err != nil {
			return err
		}
	}
	begin(onredis.ChangeScript, t.finish, model.Submitted, "1", gid, model.Succeed, st.FinalTTL)
	return onredis.Word(st.Run.Finish(ctx, c, onredis.ChangeScript))
}

// BenchmarkBaselineAgainstRedisBenchmark is the rate of baseline rows as a ratio to
// that of redis-benchmark with the same calls and connections.
func BenchmarkBaselineAgainstRedisBenchmark(b *testing.B) {
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		b.Skip("redis-benchmark is not on the PATH (Debian package redis-tools)")
	}
	srv := labtest.Redis(b)
	in := inputs(given("mode=baseline", "threads=50", "ceiling=off"))
	in.Duration = time.Hour
	p, _ := ready(b, srv.URL(), in)
	sp := p.Binder.(binder).Binder.(*baseline.Spec)
	for i, row := range sp.Rows {
		b.Run(row.Name, func(b *testing.B) {
			n := 100_000 * min(row.Depth, 10)
			spent := &bench.Spent{}
			theirs := bench.Side{Name: "redis-benchmark", Spent: spent, Rate: func() float64 {
				v := redisBenchmark(b, srv, spent, row.Depth, n, sp.RequestOf(&row))
				n = max(int(v*turn.Seconds()), 20_000)
				return v
			}}
			bench.InTurn(b, turns, bench.Within("baseline", turn, func() float64 { return engineRate(b, p, i) }).On(srv), theirs.On(srv))
		})
	}
}
