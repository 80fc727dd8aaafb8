package measure

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkCollect is what the collector's goroutine spends on one call of an open loop: beyond
// one call in so much time, all workers wait for it.
func BenchmarkCollect(b *testing.B) {
	c := NewCollector(Config{
		Tracks: []string{"t"}, Ops: []Operation{{"t", "get"}, {"t", "put"}}, OpTrack: []int{0, 0},
		Source: running{time.Now()}, Classify: func(error) uint8 { return 1 },
	})
	dice := rand.New(rand.NewPCG(1, 2))
	calls := make([]Call, 4096)
	for i := range calls {
		late, took := dice.Int64N(1e4), int64(dice.ExpFloat64()*1e6)
		calls[i] = Call{Op: uint16(i % 2), Due: -late, Late: late, End: took, Spent: took, Units: 1}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.add(&calls[i%len(calls)])
	}
	if c.win.accs[0].ops[0] == nil {
		b.Fatal("nothing was collected")
	}
}
