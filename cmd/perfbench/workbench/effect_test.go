package workbench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// What the workbench has said of each change at the end of a run is what its results say.
func TestResultsJudgeAChangeAsTheRunDid(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		of, err := b.starter.Start(t.Context(), putting("duration", "45s", "warmup", "2s", "threads", "2"))
		require.NoError(t, err)
		turn := func(at time.Duration, f func(*workload.Settings)) {
			until(func() bool { return of.Run.Snapshot().At >= at })
			of.Control.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
				f(&s)
				return s
			})
		}
		until(func() bool { return of.Run.Progress().Stage == screen.Measuring })
		turn(10*time.Second, func(s *workload.Settings) { s.Payload *= 2 })
		turn(11200*time.Millisecond, func(s *workload.Settings) { s.Rate = 30 })
		turn(30*time.Second, func(s *workload.Settings) { s.Threads = 4 })
		<-of.Run.Done()
		require.NoError(t, of.Run.Outcome().Err)
		f, err := rundir.Load(of.Run.Outcome().Dir)
		require.NoError(t, err)

		said := effect.Effects(effect.Live(of.Run.Snapshot(), of.Run.Verdict(), nil))
		kept := effect.Effects(effect.Of(f))
		require.Len(t, said, 3)
		require.Len(t, kept, 3)
		for i := range kept {
			live, over := &said[i], &kept[i]

			assert.Equal(t, live.Text(), over.Text())
			assert.Equal(t, live.When(), over.When())
			assert.Equal(t, live.Missing() == "", over.Missing() == "")
			for _, pair := range [][2]effect.Figure{{live.Throughput(), over.Throughput()}, {live.Latency(), over.Latency()}} {
				assert.Equal(t, pair[0].Is, pair[1].Is, over.Text())
				assert.Equal(t, pair[0].Ranges(), pair[1].Ranges(), over.Text())
			}
		}
		assert.NotEqual(t, effect.Unsure, kept[1].Throughput().Is, kept[1].Told(200))
	})
}
