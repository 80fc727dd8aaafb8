package tx

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/testing/bench"
)

// BenchmarkSagaAgainstDTM is the rate of sagas without accounts as a ratio to that of
// dtm's own benchmark server under ab with as many clients, in turn, on one machine and
// one Redis. The server is named with PERFBENCH_TEST_DTM_BENCH, as the URL that ab
// asks for (http://127.0.0.1:8083/api/busi_bench/benchEmptyUrl), its Redis with
// PERFBENCH_TEST_DTM_REDIS; what is written there stays, as what dtm writes does, until
// that server wipes its store at its next start. docs/tx-saga.md says how to come by one.
func BenchmarkSagaAgainstDTM(b *testing.B) {
	url, ab := originals(b)
	store := os.Getenv("PERFBENCH_TEST_DTM_REDIS")
	if store == "" {
		b.Skip("PERFBENCH_TEST_DTM_REDIS does not name the Redis of dtm")
	}
	for _, threads := range []int{10, 50} {
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			in := inputs(given("mode=saga", "accounts=off", fmt.Sprint("threads=", threads)))
			in.Duration, in.Namespace = time.Hour, "sdtm"
			p, _ := ready(b, store, in)
			bench.InTurn(b, turns, bench.Within("sagas", turn, func() float64 { return engineRate(b, p, 0) }), underAB(b, ab, url, threads))
		})
	}
}

// BenchmarkOriginalAgainstAB is the rate at which perfbench drives dtm's own benchmark
// server as a ratio to that of ab with as many clients, in turn: what the clock that
// both stand under costs.
func BenchmarkOriginalAgainstAB(b *testing.B) {
	url, ab := originals(b)
	for _, threads := range []int{10, 50} {
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			in := benchInputs(fmt.Sprint("threads=", threads))
			in.Duration = time.Hour
			p, _ := ready(b, strings.Replace(url, "http", "dtm+bench", 1), in)
			bench.InTurn(b, turns, bench.Within("original", turn, func() float64 { return engineRate(b, p, 0) }), underAB(b, ab, url, threads))
		})
	}
}

// originals are the URL of dtm's own benchmark server and the tool that its report used.
func originals(b *testing.B) (url, ab string) {
	b.Helper()
	if url = os.Getenv("PERFBENCH_TEST_DTM_BENCH"); url == "" {
		b.Skip("PERFBENCH_TEST_DTM_BENCH names no benchmark server of dtm")
	}
	ab, err := exec.LookPath("ab")
	if err != nil {
		b.Skip("ab is not on the PATH (Debian package apache2-utils)")
	}
	return url, ab
}

// underAB is the side of ab with so many clients; a turn is requests for about so long.
func underAB(b *testing.B, ab, url string, clients int) bench.Side {
	spent := &bench.Spent{}
	return bench.Side{Name: "ab", Spent: spent, Rate: func() float64 { return abRate(b, spent, ab, url, clients) }}
}

// abRate is requests a second under ab with so many clients, for about a turn.
func abRate(b *testing.B, spent *bench.Spent, ab, url string, clients int) float64 {
	b.Helper()
	n := int(dtmRate * turn.Seconds())
	out := spent.Run(b, exec.CommandContext(b.Context(), ab, "-q", "-n", strconv.Itoa(n), "-c", strconv.Itoa(clients), url), float64(n))
	rate, err := 0.0, error(nil)
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(line, "Requests per second:"); ok {
			rate, err = strconv.ParseFloat(strings.Fields(v)[0], 64)
		}
		if strings.HasPrefix(line, "Non-2xx") {
			b.Fatalf("ab: %s", line)
		}
	}
	if err != nil || rate == 0 {
		b.Fatalf("ab printed no rate: %q", out)
	}
	return rate
}
