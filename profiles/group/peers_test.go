//go:build peers

package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/bench/peers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
)

// Of BenchmarkAgainstRueidis: callers, bytes of a value, how long each side runs before the other
// has its turn, and how often.
const (
	benchThreads = 16
	benchPayload = 1024
	benchTurn    = 500 * time.Millisecond
	benchTurns   = 15
)

// BenchmarkAgainstRueidis is the rate of invocations that put an entry as a ratio to that of a loop
// that sends the same script with rueidis over as many connections, and to that without busy polling;
// apart, with a processor each for client and servers.
func BenchmarkAgainstRueidis(b *testing.B) {
	peers.OnRedis(b, func(b *testing.B, srv *labtest.Server) {
		group := func(target, namespace string) func() float64 {
			p := benchPlan(b, target, namespace, fmt.Sprintf("groupNames: g1\ng1: {operations: p, threadCount: %d, totalInvocationCount: 16000}\n"+
				"p: {map: m, testCase: put, payloadSize: %d, batchSize: 1, totalEntryCount: 16000}\n", benchThreads, benchPayload))
			return func() float64 { return profiletest.Rate(b, p, benchTurn) }
		}
		r := peers.Rueidis(b, srv)
		bench.InTurn(b, benchTurns,
			bench.Within("group", benchTurn, group(srv.URL(), "n")).On(srv),
			bench.Within("rueidis", benchTurn, func() float64 {
				return peers.PutOverRueidis(b, r, benchThreads, benchTurn, benchPayload)
			}).On(srv),
			bench.Within("sleeping", benchTurn, group(srv.URL()+"?busy_poll=off", "s")).On(srv))
	})
}
