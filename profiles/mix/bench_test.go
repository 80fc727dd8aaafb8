package mix

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Of BenchmarkAgainstBareLoops: callers, records, bytes of a value, how long each side runs
// before the other has its turn, and how often.
const (
	benchThreads = 16
	benchRecords = 10_000
	benchBytes   = 1024
	benchTurn    = 500 * time.Millisecond
	benchTurns   = 15
)

const benchWorkload = `
data: {record: {records: 10000, size: 1KiB}}
operations: {read: {get: record}, write: {put: record}}
mix: {read: 90, write: 10}
`

// BenchmarkAgainstBareLoops is the rate of calls of mix, which chooses keys, makes values and
// checks what it reads, as a ratio to that of a loop that makes the same calls with the bare
// client, over as many connections, with values that it does not make; and the processor time of
// either for a call, which of SQLite is the store's as well.
func BenchmarkAgainstBareLoops(b *testing.B) {
	for _, loop := range bareLoops {
		b.Run(loop.name, func(b *testing.B) {
			target, call := loop.open(b)
			plan := benchPlan(b, target, "mixbench", [2]string{"workload", benchWorkload})
			rnd := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // no secret
			for i := range benchRecords {
				require.NoError(b, call(b.Context(), bareKey(int64(i)), bareValue(rnd)))
			}
			ours := func() float64 { return profiletest.Rate(b, plan, benchTurn) }
			theirs := func() float64 { return bareRate(b, call) }
			sides := []bench.Side{bench.Within("mix", benchTurn, ours), bench.Within("bare", benchTurn, theirs)}
			bench.Warm(sides...)
			bench.InTurn(b, benchTurns, sides...)
		})
	}
}

// benchPlan makes a plan of values whose records are loaded.
func benchPlan(b *testing.B, target, namespace string, values ...[2]string) *workload.Plan {
	b.Helper()
	tg, d, err := drivers.Parse(target)
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), tg, store.OpenOptions{Threads: benchThreads})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	vs := workload.Values{}
	for _, v := range append(values, [][2]string{{"threads", fmt.Sprint(benchThreads)}, {"load", "auto"}, {"loaders", "16"}}...) {
		vs.Set(workload.Value{Name: v[0], Text: v[1], Origin: workload.OriginFlag})
	}
	in := workload.Inputs{Values: vs, Seed: 1, Namespace: namespace, Driver: d.Name, Duration: time.Hour}
	p, err := Design(in)
	require.NoError(b, err)
	p = profiletest.Bind(b, Name, p, c, in, "bench")
	require.NoError(b, p.Setup(b.Context(), nil))
	return p
}

func bareKey(n int64) string { return fmt.Sprintf("bare:%010d", n) }

// bareText is what bareValue cuts values from.
var bareText = func() string {
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = 'a' + byte(rand.IntN(26)) //nolint:gosec // no secret
	}
	return string(b)
}()

// bareValue is a value of benchBytes. It mostly differs from that before: databases do not write
// what is there.
func bareValue(rnd *rand.Rand) string {
	from := rnd.IntN(len(bareText) - benchBytes)
	return bareText[from : from+benchBytes]
}

// bareRate calls in a loop for a turn, and returns calls a second.
func bareRate(b *testing.B, call bareCall) float64 {
	b.Helper()
	keys := make([]string, benchRecords)
	for i := range keys {
		keys[i] = bareKey(int64(i))
	}
	return bench.Bare(b, benchThreads, benchTurn, func(w int) func() (int, error) {
		rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(w))) //nolint:gosec // no secret
		return func() (int, error) {
			key, value := keys[rnd.IntN(benchRecords)], ""
			if rnd.IntN(10) == 0 {
				value = bareValue(rnd)
			}
			return 1, call(b.Context(), key, value)
		}
	})
}
