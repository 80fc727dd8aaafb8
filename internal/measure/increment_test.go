package measure

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What processes measured each by itself comes, merged, to what one would have measured:
// the same second by second, in each segment and in all, also when a part is late.
func TestPartsMergeIntoWhatOneProcessWouldHaveMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seconds := [2][]Second{}
		keep := func(of int) func(*Second) error {
			return func(s *Second) error {
				for i := range s.Intervals { // they hold during the call only
					in := &s.Intervals[i]
					clone := NewHistogram()
					clone.Merge(in.Response)
					in.Response = clone
				}
				seconds[of] = append(seconds[of], *s)
				return nil
			}
		}
		const workers = 3
		var mu sync.Mutex // of told
		told := map[int]int{}
		whole := oneOperation(keep(0))
		merged := oneOperation(keep(1))
		merged.Complete = func(second int) bool {
			mu.Lock()
			defer mu.Unlock()
			return told[second] == workers
		}
		one, sum := NewCollector(whole), NewCollector(merged)
		go one.Run()
		go sum.Run()
		union := one.Shard(0)
		var all []*Collector
		var shards []*Shard
		for range workers {
			cfg := oneOperation(nil)
			cfg.Increment = func(p *Increment) {
				var wire bytes.Buffer
				var came Increment
				require.NoError(t, gob.NewEncoder(&wire).Encode(p))
				require.NoError(t, gob.NewDecoder(&wire).Decode(&came))
				require.NoError(t, sum.Merge(came))
				mu.Lock()
				defer mu.Unlock()
				told[p.T]++
			}
			c := NewCollector(cfg)
			go c.Run()
			all, shards = append(all, c), append(shards, c.Shard(0))
		}
		dice := rand.New(rand.NewPCG(1, 2))
		for n := range 4000 {
			now := whole.Source.Now()
			s := Call{Start: now - dice.Int64N(int64(time.Second)), Units: int32(1 + n%3), End: now, Segment: uint16(n / 1500)}
			s.Due = s.Start - int64(n%2)*dice.Int64N(int64(time.Second))
			mine := shards[dice.IntN(workers)]
			if n%50 == 0 {
				s.Class = mine.Failed(0, errors.New("refused"))
				assert.Equal(t, s.Class, union.Failed(0, errors.New("refused")))
			}
			mine.Add(s)
			union.Add(s)
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		for i, c := range all {
			shards[i].Close()
			c.Close()
		}
		union.Close()
		want, got := one.Close(), sum.Close()
		require.NotZero(t, want.Ops[0].Calls)
		assert.Equal(t, want.Ops, got.Ops)
		assert.Equal(t, want.Errors, got.Errors)
		assert.Len(t, got.Messages, 1)
		for i := range 3 {
			assert.Equal(t, digested(&one.all, i), digested(&sum.all, i), "segment %d", i)
		}
		require.Equal(t, len(seconds[0]), len(seconds[1]))
		for i, s := range seconds[0] {
			require.Equal(t, s.Rows, seconds[1][i].Rows, "second %d", i)
			for k, in := range s.Intervals {
				assert.True(t, in.Response.Equals(seconds[1][i].Intervals[k].Response), "second %d", i)
			}
		}
	})
}

// A part comes from elsewhere: what does not fit the run is refused.
func TestAPartThatDoesNotFitIsRefused(t *testing.T) {
	c := NewCollector(oneOperation(nil))
	bad := packed{Index: []uint16{countsLen}, Count: []int64{1}}
	for name, p := range map[string]Increment{
		"another operation":           {Rows: []IncrementRow{{Op: 1}}},
		"failures of another":         {Classes: []IncrementClass{{Op: 1}}},
		"a bucket that there is none": {Rows: []IncrementRow{{Times: packedTimes{Closed: bad}}}},
		"buckets without counts":      {Rows: []IncrementRow{{Times: packedTimes{Open: [4]packed{{Index: []uint16{1}}}}}}},
		"a second that no run has":    {T: math.MaxInt64 - 1},
		"a warm-up that no run has":   {T: math.MinInt64},
		"a negative count":            {Rows: []IncrementRow{{Times: packedTimes{Count: -5}}}},
		"negative errors":             {Rows: []IncrementRow{{Times: packedTimes{Errors: -5}}}},
		"a count that overflows":      {Rows: []IncrementRow{{Times: packedTimes{Count: math.MaxInt64}}}},
		"a negative bucket":           {Rows: []IncrementRow{{Times: packedTimes{Closed: packed{Index: []uint16{1}, Count: []int64{-1}}}}}},
		"buckets that overflow":       {Rows: []IncrementRow{{Times: packedTimes{Closed: packed{Index: []uint16{1, 2}, Count: []int64{math.MaxInt64, math.MaxInt64}}}}}},
		"a bucket twice":              {Rows: []IncrementRow{{Times: packedTimes{Closed: packed{Index: []uint16{1, 1}, Count: []int64{1, 1}}}}}},
		"negative beyond":             {Rows: []IncrementRow{{Times: packedTimes{Closed: packed{Beyond: -1}}}}},
		"an operation twice":          {Rows: []IncrementRow{{}, {}}},
		"negative failures":           {Classes: []IncrementClass{{Count: -1}}},
		"tracks that there are none":  {Gauges: make([]Gauge, 9)},
		"spans that there are none":   {Spans: make([]Span, 9)},
		"a span that overflows":       {Spans: []Span{{From: math.MinInt64, To: math.MaxInt64}}},
		"a negative backlog":          {Gauges: []Gauge{{Backlog: -1}}},
		"negative unstarted":          {Unstarted: [][]int64{{-1}}},
		"threads that ran backwards":  {Did: [][]int64{{-1}}},
		"a message that is too long":  {Messages: []Message{{Text: strings.Repeat("x", 5000)}}},
		"too many messages":           {Messages: make([]Message, 5000)},
	} {
		assert.Error(t, c.Merge(p), name)
	}
	assert.NoError(t, c.Merge(Increment{Rows: []IncrementRow{{Times: packedTimes{Count: 1}}}}))
}

// What a second of many workers, with twenty operations each, costs the coordinator beside
// the way there: reading it, adding it up and closing the second. A second is one round, so
// that ns/op are ns a second of a run.
func BenchmarkASecondOfWorkers(b *testing.B) {
	const ops = 20
	cfg := Config{Tracks: []string{"t"}, Source: running{time.Now()}, Sink: func(*Second) error { return nil }, Classify: func(error) uint8 { return 1 }}
	for i := range ops {
		cfg.Ops, cfg.OpTrack = append(cfg.Ops, Operation{"t", string(rune('a' + i))}), append(cfg.OpTrack, 0)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	one := NewCollector(cfg)
	for range 20_000 {
		start := int64(0)
		one.add(&Call{Op: uint16(dice.IntN(ops)), Start: start, Due: start - dice.Int64N(1e6), End: int64(dice.ExpFloat64() * 1e6), Units: 1})
	}
	var wire bytes.Buffer
	require.NoError(b, gob.NewEncoder(&wire).Encode(one.part(&one.win.accs[0])))
	cfg.Complete = func(int) bool { return true }
	for _, workers := range []int{60, 240, 1000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			sum := NewCollector(cfg)
			b.ReportAllocs()
			for b.Loop() {
				for range workers {
					var p Increment
					require.NoError(b, gob.NewDecoder(bytes.NewReader(wire.Bytes())).Decode(&p))
					p.T = sum.win.second
					require.NoError(b, sum.Merge(p))
				}
				sum.takeParts()
				sum.closeOpen(sum.win.end, false)
			}
			b.ReportMetric(float64(wire.Len()), "bytes/worker")
		})
	}
}

// digested is what a whole has of a segment.
func digested(a *whole, i int) []any {
	totals, all := a.segment(i).digest(a.cfg, &a.union)
	return []any{totals, all}
}
