package engine

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An hour with an error of its own text in every other call take no more
// memory than the first ten minutes: the series is thinned, recent seconds drop
// out, and of the messages that differ in more than numbers five are kept.
func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	tier.Full(t, "TestLoopAllocatesNothing counts what a call allocates")
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	synctest.Test(t, func(t *testing.T) {
		call := func(_ context.Context, it *workload.Iteration) error {
			if it.Seq%2 == 0 {
				return fmt.Errorf("error number %s", letters.Replace(strconv.FormatInt(it.Seq, 10)))
			}
			return nil
		}
		var early, late int64
		r := start(t, onePhase(time.Hour, pool("p", workload.Settings{Threads: 2, Rate: 2}, call)), func(o *Options) {
			o.Sink = func(s *measure.Second) error {
				switch s.T {
				case 600:
					early = heap()
				case 3600 - 10:
					late = heap()
				}
				return nil
			}
		})
		res := result(t, r)
		snap := r.Snapshot()
		assert.InDelta(t, 3600, res.Ops[0].Count, 2)
		assert.InDelta(t, 3600, res.Errors[0].Count, 2)
		assert.Len(t, res.Messages, 5)
		assert.LessOrEqual(t, len(snap.Timeline[0]), 480)
		assert.Equal(t, 8*time.Second, snap.Bucket, "an hour in at most 480 buckets")
		assert.LessOrEqual(t, len(snap.Recent[0]), 120)
		total := int64(0)
		for _, p := range snap.Timeline[0] {
			total += p.Count
		}
		assert.Equal(t, res.Ops[0].Count, total, "thinning loses no counts")
		assert.Less(t, late-early, int64(2<<20), "%d bytes after ten minutes, %d at the end", early, late)
	})
}
