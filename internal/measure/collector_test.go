package measure

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// running is the source of a run that began at a moment.
type running struct{ began time.Time }

func (r running) Now() int64     { return int64(time.Since(r.began)) }
func (running) Gauges([]Gauge)   {}
func (running) Control() Control { return Control{} }

// oneOperation collects the operation o of a track t.
func oneOperation(sink func(*Second) error) Config {
	return Config{
		Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}}, OpTrack: []int{0},
		Classes: []string{"", "timeout", "refused"}, Timeout: 1, Classify: func(error) uint8 { return 2 },
		Source: running{time.Now()}, Sink: sink,
	}
}

// Batches that fill, batches that are looked into while they fill, and those that are
// handed over half full: each sample is counted once, whoever reads meanwhile.
func TestEverySampleIsCountedOnceWhileOthersRead(t *testing.T) {
	const workers, each = 4, 3*batchSize + 7
	synctest.Test(t, func(t *testing.T) {
		inSeconds := int64(0) // the collector's goroutine alone writes it
		cfg := oneOperation(func(s *Second) error {
			for _, r := range s.Rows {
				inSeconds += r.Count
			}
			return nil
		})
		c := NewCollector(cfg)
		go c.Run()
		var work, read sync.WaitGroup
		over := make(chan struct{})
		read.Go(func() {
			for seen := int64(0); ; {
				s := c.Snapshot()
				assert.GreaterOrEqual(t, s.Ops[0].Count, seen, "what was counted stays counted")
				seen = s.Ops[0].Count
				select {
				case <-over:
					return
				case <-time.After(7 * time.Millisecond):
				}
			}
		})
		for range workers {
			work.Go(func() {
				s := c.Shard(0)
				defer s.Close()
				for range each {
					at := cfg.Source.Now()
					s.Started(at, at)
					time.Sleep(3 * time.Millisecond)
					s.Add(Call{Due: at, Start: at, End: cfg.Source.Now(), Units: 2})
					s.Ended()
				}
			})
		}
		work.Wait()
		close(over)
		read.Wait()
		got := c.Close().Ops[0]
		assert.EqualValues(t, 2*workers*each, got.Count)
		assert.EqualValues(t, workers*each, got.Calls)
		assert.EqualValues(t, 2*workers*each, inSeconds, "the seconds add up to the whole")
		assert.InDelta(t, 3*time.Millisecond, got.Response.P50, float64(3*time.Microsecond))
	})
}

func TestABatchThatIsExactlyFullLosesNothing(t *testing.T) {
	for _, n := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize} {
		c := NewCollector(oneOperation(nil))
		s := c.Shard(0)
		for range n {
			s.Add(Call{End: 5, Units: 1})
		}
		s.Close()
		go c.Run()
		assert.EqualValues(t, n, c.Close().Ops[0].Count)
	}
}

func TestFailuresAreCountedAndOnlyTimeoutsTimed(t *testing.T) {
	c := NewCollector(oneOperation(nil))
	s := c.Shard(0)
	class := s.Failed(0, errors.New("connection refused"))
	assert.EqualValues(t, 2, class)
	s.Add(Call{End: 5, Units: 1, Class: class})
	s.Add(Call{End: 7000, Units: 1, Class: 1})
	s.Add(Call{End: 5, Units: 1})
	s.Close()
	go c.Run()
	r := c.Close()
	assert.EqualValues(t, 1, r.Ops[0].Count, "a failure is no throughput")
	assert.EqualValues(t, 2, r.Ops[0].Errors)
	assert.EqualValues(t, 2, r.Ops[0].Calls)
	assert.GreaterOrEqual(t, r.Ops[0].Response.Max, int64(7000))
	assert.Equal(t, "connection refused", r.Messages[0].Text)
}

func TestTheNewestOperationUnderWayIsKnown(t *testing.T) {
	c := NewCollector(oneOperation(nil))
	a, b := c.Shard(0), c.Shard(0)
	assert.EqualValues(t, none, c.Newest())
	a.Started(3, 3)
	b.Started(9, 9)
	assert.EqualValues(t, 9, c.Newest())
	b.Ended()
	assert.EqualValues(t, 3, c.Newest())
	a.Ended()
	assert.EqualValues(t, none, c.Newest())
	a.Close()
	b.Close()
	go c.Run()
	c.Close()
}

// What failed in a second is there by class, and all of it together is what failed in the run.
func TestFailuresAreCountedBySecondAndClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bySecond []int64
		sum := int64(0)
		var last *Result
		cfg := oneOperation(func(s *Second) error {
			n := int64(0)
			for _, f := range s.Failed {
				assert.Equal(t, "refused", f.Class)
				n += f.Count
			}
			errs := int64(0)
			for _, r := range s.Rows {
				errs += r.Errors
			}
			assert.Equal(t, errs, n, "second %d", s.T)
			bySecond, sum, last = append(bySecond, n), sum+n, s.Result
			return nil
		})
		c := NewCollector(cfg)
		go c.Run()
		s := c.Shard(0)
		began := time.Now()
		for i := range 45 {
			time.Sleep(100 * time.Millisecond)
			at := int64(time.Since(began))
			call := Call{Due: at - 1, Start: at - 1, End: at, Units: 1}
			if i%3 == 0 {
				call.Class = s.Failed(0, errors.New("no"))
			}
			s.Add(call)
		}
		s.Close()
		c.Close()
		assert.EqualValues(t, 15, sum, "%v", bySecond)
		assert.EqualValues(t, 15, last.Errors[0].Count)
		assert.Greater(t, len(bySecond), 4)
	})
}

// The errors of a snapshot are of one moment, by operation and by class: also those of the second in
// progress, and of the next.
func TestErrorsOfASnapshotAreOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCollector(oneOperation(nil))
		go c.Run()
		s := c.Shard(0)
		for n := range 40 {
			for range 100 {
				now := c.cfg.Source.Now()
				s.Add(Call{Start: now, Due: now, End: now, Class: s.Failed(0, errors.New("no"))})
			}
			time.Sleep(70 * time.Millisecond)
			synctest.Wait()
			sum := int64(0)
			for _, e := range c.Snapshot().Errors {
				sum += e.Count
			}
			assert.Equal(t, c.Snapshot().Ops[0].Errors, sum, "after %d", n)
			assert.True(t, sum > 0 || n == 0, "after %d", n)
		}
		s.Close()
		c.Close()
	})
}
