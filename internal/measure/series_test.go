package measure

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However long a run: its timeline is short, leaves nothing out, keeps warm-up apart,
// and what has been shown of it and of the last two minutes does not change.
func TestATimelineStaysShortAndLeavesNothingOut(t *testing.T) {
	c := NewCollector(oneOperation(nil))
	type shown struct {
		recent, was []Row
		line, drawn []Point
		seconds     int
	}
	var all []shown
	const warm, length = 45, 4000
	for n := -warm; n < length; n++ {
		c.view.remember(0, Row{T: n, Gauge: Gauge{Oldest: time.Duration(n % 13)}, Count: int64(n % 7), Errors: int64(n % 3), Seconds: 1, ResponseP99: int64(n % 101), ResponseMax: int64(n % 1009)}, false)
		if n%97 == 0 {
			width, lines := c.view.timelines()
			require.LessOrEqual(t, len(lines[0]), maxPoints)
			seconds := int(width / time.Second)
			require.Zero(t, seconds&(seconds-1), "buckets double")
			all = append(all, shown{c.view.recent[0], slices.Clone(c.view.recent[0]), lines[0], slices.Clone(lines[0]), n + warm + 1})
		}
	}
	for _, s := range all {
		require.Equal(t, s.was, s.recent)
		require.Equal(t, s.drawn, s.line)
		sum := Point{}
		for i, p := range s.line {
			require.Equal(t, p.At < 0, p.Warmup)
			require.True(t, i == 0 || s.line[i-1].At < p.At)
			sum.Oldest = max(sum.Oldest, p.Oldest)
			sum.Count, sum.Errors, sum.Seconds = sum.Count+p.Count, sum.Errors+p.Errors, sum.Seconds+p.Seconds
			sum.ResponseMax = max(sum.ResponseMax, p.ResponseMax)
		}
		want := Point{Seconds: float64(s.seconds)}
		for n := -warm; n < s.seconds-warm; n++ {
			want.Count, want.Errors, want.ResponseMax = want.Count+int64(n%7), want.Errors+int64(n%3), max(want.ResponseMax, int64(n%1009))
			want.Oldest = max(want.Oldest, time.Duration(n%13))
		}
		require.Equal(t, want, sum)
	}
	last := all[len(all)-1]
	assert.Len(t, last.recent, recentSeconds)
	assert.Equal(t, last.seconds-warm-1, last.recent[recentSeconds-1].T)
}

// Timelines of operations that began at different times are told in buckets of one width.
func TestTimelinesHaveOneWidth(t *testing.T) {
	cfg := oneOperation(nil)
	cfg.Ops, cfg.OpTrack = append(cfg.Ops, Operation{"t", "late"}, Operation{"t", "never"}), []int{0, 0, 0}
	c := NewCollector(cfg)
	for n := range 1000 {
		c.view.remember(0, Row{T: n, Count: 1}, false)
		if n >= 901 {
			c.view.remember(1, Row{T: n, Count: 1}, false)
		}
	}
	width, lines := c.view.timelines()
	assert.Equal(t, 4*time.Second, width)
	assert.Equal(t, []Point{{At: 900 * time.Second, Count: 3}, {At: 904 * time.Second, Count: 4}}, lines[1][:2])
	assert.Empty(t, lines[2])
	for _, line := range lines[:2] {
		for _, p := range line {
			assert.Zero(t, p.At%width)
		}
	}
}

// A journal on a disk that hangs holds up the collector, not the clock: what ended
// meanwhile belongs to its own seconds, and what was measured is not taken for warm-up.
func TestASinkThatHangsMovesNoSampleToAnotherSecond(t *testing.T) {
	for name, stall := range map[string]int{"in warm-up": -3, "while measuring": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counts := map[int]int64{}
				cfg := oneOperation(func(s *Second) error {
					for _, r := range s.Rows {
						counts[s.T] += r.Count
					}
					if s.T == stall {
						time.Sleep(5500 * time.Millisecond)
					}
					return nil
				})
				cfg.Start = -int64(4 * time.Second)
				cfg.Source = running{time.Now().Add(4 * time.Second)}
				c := NewCollector(cfg)
				go c.Run()
				s := c.Shard(0)
				for range 12 * 5 {
					at := cfg.Source.Now()
					time.Sleep(200 * time.Millisecond)
					s.Add(Call{Due: at, Start: at, End: cfg.Source.Now() - 1, Units: 1, Warm: at < 0})
				}
				s.Close()
				got := c.Close()
				want := map[int]int64{}
				for second := -4; second < 8; second++ {
					want[second] = 5
				}
				delete(counts, 8) // the moment of the end, in which nothing happens
				assert.Equal(t, want, counts)
				assert.EqualValues(t, 40, got.Ops[0].Count)
			})
		})
	}
}

// What is left over at the end of a run joins the last second and the last step, so that
// its few calls, the slowest of all, make no peak of their own.
func TestARestJoinsWhatWasBefore(t *testing.T) {
	c := NewCollector(oneOperation(nil))
	row := Row{T: 21, Count: 1000, Seconds: 1, ResponseP50: 3, ResponseP99: 5, ResponseMax: 9, ServiceP99: 4}
	c.view.remember(0, row, false)
	before, was := c.view.recent[0], c.view.lines[0].points
	c.view.remember(0, Row{T: 22, Count: 8, Errors: 1, Seconds: 0.05, ResponseP50: 100, ResponseP99: 192, ResponseMax: 192, ServiceP99: 192}, true)
	assert.Equal(t, []Row{{T: 21, Count: 1008, Errors: 1, Seconds: 1.05, ResponseP50: 3, ResponseP99: 5, ResponseMax: 192, ServiceP99: 4}}, c.view.recent[0])
	require.Len(t, c.view.lines[0].points, 1)
	got := c.view.lines[0].points[0]
	assert.Equal(t, []int64{1008, 3, 5, 192}, []int64{got.Count, got.ResponseP50, got.ResponseP99, got.ResponseMax})
	assert.Equal(t, []Row{row}, before, "what was shown does not change")
	assert.EqualValues(t, 1000, was[0].Count)
	assert.True(t, isRest(int64(22*time.Second), int64(22*time.Second+50*time.Millisecond)))
	assert.False(t, isRest(int64(22*time.Second), int64(22*time.Second+time.Second/5)))
	assert.False(t, isRest(0, 1), "a run that is over at once has nothing else")
}
