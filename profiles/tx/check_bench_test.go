package tx

import (
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

// BenchmarkLinearizable has each mode on a Redis with and without --check linearizable, in turn:
// the ratio is what of the throughput is left.
func BenchmarkLinearizable(b *testing.B) {
	const turn = time.Second
	for name, words := range map[string][]string{
		"saga": {"mode=saga", "threads=8", "checkInterval=0s"},
		"pbm":  {"mode=pbm", "mapNames=eligibility", "testCase=tx", "eligibility.threadCount=8", "payload=64", "zipf=0.9"},
	} {
		b.Run(name, func(b *testing.B) {
			url := labtest.Redis(b).URL()
			side := func(check string) bench.Side {
				in := inputs(given(append(words, "check="+check)...))
				in.Namespace, in.Duration = check, time.Hour
				p, _ := ready(b, url, in)
				return bench.Within(check, turn, func() float64 { return profiletest.Rate(b, p, turn) })
			}
			sides := []bench.Side{side(histories.Check), side(common.CheckValues)}
			bench.Warm(sides...)
			for range b.N {
				bench.InTurn(b, 15, sides...)
			}
		})
	}
}
