package mix

import (
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// How long a side runs against another tool before the other has its turn, and how often.
const (
	peerTurn  = time.Second
	peerTurns = 5
)

// presetPlan makes a plan of a preset for the callers of a benchmark, in a namespace of its own.
func presetPlan(b *testing.B, target, preset string, others ...[2]string) *workload.Plan {
	b.Helper()
	vs, err := request.LoadPreset(Profile().Presets, preset)
	require.NoError(b, err)
	values := [][2]string{}
	for _, v := range vs {
		values = append(values, [2]string{v.Name, v.Text})
	}
	return benchPlan(b, target, "mix"+strings.ReplaceAll(preset, "/", ""), append(values, others...)...)
}

// ours is the side of a plan.
func ours(b *testing.B, plan *workload.Plan) bench.Side {
	return bench.Within("mix", peerTurn, func() float64 { return profiletest.Rate(b, plan, peerTurn) })
}

// mixes are the proportions of YCSB's workloads and how they request records; zipfian and scans
// of up to 100 as they are published, not as go-ycsb's files have them.
var mixes = map[string]string{
	"a": "readproportion=0.5 updateproportion=0.5 requestdistribution=zipfian",
	"b": "readproportion=0.95 updateproportion=0.05 requestdistribution=zipfian",
	"c": "readproportion=1 updateproportion=0 requestdistribution=zipfian",
	"d": "readproportion=0.95 updateproportion=0 insertproportion=0.05 requestdistribution=latest",
	"e": "readproportion=0 updateproportion=0 scanproportion=0.95 insertproportion=0.05 requestdistribution=zipfian minscanlength=1 maxscanlength=100",
	"f": "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5 requestdistribution=zipfian",
}

// BenchmarkAgainstGoYCSB is the rate of the presets ycsb/a to ycsb/f as a ratio to that of go-ycsb
// with the same records, mix, distribution and callers, and the processor time of either client
// for an operation. On Redis both keep records as hashes, which cannot be scanned, as ycsb/e does.
func BenchmarkAgainstGoYCSB(b *testing.B) {
	tool, err := exec.LookPath("go-ycsb")
	if err != nil {
		b.Skip("go-ycsb is not on the PATH: clone github.com/pingcap/go-ycsb, run make there, and add its folder bin to the PATH")
	}
	for _, name := range []string{"redis", "postgres"} {
		target := profiletest.Target(b, name)
		at, err := url.Parse(target)
		require.NoError(b, err)
		password, _ := at.User.Password()
		props := "redis.addr=" + at.Host + " redis.datatype=hash"
		driver := name
		if name == "postgres" {
			driver = "pg"
			props = fmt.Sprintf("pg.host=%s pg.port=%s pg.user=%s pg.password=%s pg.db=%s", at.Hostname(), at.Port(), at.User.Username(), password, strings.TrimPrefix(at.Path, "/"))
		}
		for _, letter := range []string{"a", "b", "c", "d", "e", "f"} {
			if name == "redis" && letter == "e" {
				continue
			}
			b.Run(name+"/"+letter, func(b *testing.B) {
				plan := presetPlan(b, target, "ycsb/"+letter, [2]string{"records", fmt.Sprint(benchRecords)})
				var other bench.Spent
				call := func(do string, n int) string {
					args := []string{do, driver}
					for p := range strings.FieldsSeq(fmt.Sprintf("%s %s recordcount=%d operationcount=%d threadcount=%d readallfields=true debug.pprof=127.0.0.1:0 table=ycsb%s", props, mixes[letter], benchRecords, n, benchThreads, letter)) {
						args = append(args, "-p", p)
					}
					return other.Run(b, exec.CommandContext(b.Context(), tool, args...), float64(n))
				}
				call("load", benchRecords)
				n := 5000
				bench.InTurn(b, peerTurns, ours(b, plan), bench.Side{Name: "go-ycsb", Spent: &other, Rate: func() float64 {
					out := call("run", n)
					took := regexp.MustCompile(`Run finished, takes (\S+)`).FindStringSubmatch(out)
					require.Len(b, took, 2, out)
					require.NotContains(b, out, "_ERROR", out)
					d, err := time.ParseDuration(took[1])
					require.NoError(b, err)
					rate := float64(n) / d.Seconds()
					n = max(int(rate*peerTurn.Seconds()), 1000)
					return rate
				}})
			})
		}
	}
}

// BenchmarkAgainstMemtier is the rate of the preset memtier as a ratio to that of memtier_benchmark
// without options, with as many connections.
func BenchmarkAgainstMemtier(b *testing.B) {
	tool, err := exec.LookPath("memtier_benchmark")
	if err != nil {
		b.Skip("memtier_benchmark is not on the PATH: clone github.com/redis/memtier_benchmark, run autoreconf -ivf, ./configure and make there, and add that folder to the PATH")
	}
	srv := labtest.Redis(b)
	at, err := url.Parse(srv.URL())
	require.NoError(b, err)
	plan := presetPlan(b, srv.URL(), "memtier")
	var other bench.Spent
	bench.InTurn(b, peerTurns, ours(b, plan), bench.Side{Name: "memtier", Spent: &other, Rate: func() float64 {
		out := other.Run(b, exec.CommandContext(b.Context(), tool, "-s", at.Hostname(), "-p", at.Port(), "-t", "4", "-c", fmt.Sprint(benchThreads/4), "--test-time", fmt.Sprint(int(peerTurn.Seconds())), "--hide-histogram"), 0)
		total := regexp.MustCompile(`(?m)^Totals\s+([0-9.]+)`).FindStringSubmatch(out)
		require.Len(b, total, 2, out)
		rate, err := strconv.ParseFloat(total[1], 64)
		require.NoError(b, err)
		other.Work += rate * peerTurn.Seconds()
		return rate
	}})
}
