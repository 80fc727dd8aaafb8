package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// tried carries out a plan at 10/s, evenly, whose call of each iteration fails as often as fails
// says, after 5 ms, and otherwise takes 5 ms; it returns the figures of the operation and of each
// attempt when it began.
func tried(t *testing.T, c workload.Client, rate float64, fails int, with error) (measure.Totals, map[int64][]int64) {
	t.Helper()
	began := map[int64][]int64{}
	call := func(ctx context.Context, it *workload.Iteration) error {
		began[it.Seq] = append(began[it.Seq], it.Now())
		if err := takes(5*time.Millisecond)(ctx, it); err != nil {
			return err
		}
		if len(began[it.Seq]) <= fails {
			return with
		}
		return nil
	}
	track := pool("p", workload.Settings{Threads: 1, Rate: rate}, call)
	track.Iterations = 100
	r := start(t, onePhase(0, track), func(o *Options) {
		o.Client, o.Retryable = c, func(class uint8) bool { return class <= 2 }
		o.Classify = func(err error) uint8 {
			if errors.Is(err, context.DeadlineExceeded) {
				return 1
			}
			return classify(err)
		}
	})
	res := result(t, r)
	require.Len(t, res.Ops, 1)
	for _, s := range res.Segments {
		for _, a := range s.Accounts {
			assert.InDelta(t, a.Worked.Seconds(), (a.Calls + a.Pauses).Seconds(), 1e-3)
		}
	}
	return res.Ops[0], began
}

func TestFailedCallsAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		client                         workload.Client
		fails                          int
		with                           error
		count, calls, errors, attempts int64
	}{
		"a patient client":       {workload.Client{}, 1, errGone, 0, 0, 100, 100},
		"once is enough":         {workload.Client{Retries: 3}, 1, errGone, 100, 100, 0, 200},
		"the last one works":     {workload.Client{Retries: 3}, 3, errTimeout, 100, 100, 0, 400},
		"none works":             {workload.Client{Retries: 3}, 4, errGone, 0, 0, 100, 400},
		"what will never work":   {workload.Client{Retries: 3}, 1, errors.New("no"), 0, 0, 100, 100},
		"too little patience":    {workload.Client{Deadline: 3 * time.Millisecond, Retries: 1}, 0, nil, 0, 100, 100, 200},
		"a deadline that is met": {workload.Client{Deadline: 6 * time.Millisecond, Retries: 1}, 0, nil, 100, 100, 0, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, began := tried(t, c.client, 10, c.fails, c.with)
				assert.Equal(t, c.count, got.Count, "worked")
				assert.Equal(t, c.errors, got.Errors, "failed")
				assert.Equal(t, c.calls, got.Calls, "timed")
				assert.Equal(t, c.attempts, c.count+got.Errors+got.Retries, "attempts")
				sum := int64(0)
				for _, list := range began {
					sum += int64(len(list))
				}
				assert.Equal(t, c.attempts, sum)
			})
		})
	}
}

// What was tried again was due when its first attempt was, at a rate or without one, and none of
// its wait is lateness of ours.
func TestResponseTimesCountAllAttempts(t *testing.T) {
	for _, rate := range []float64{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			got, _ := tried(t, workload.Client{Retries: 2}, rate, 2, errTimeout)
			assert.EqualValues(t, 100, got.Calls)
			assert.InDelta(t, 15e6, got.Response.P50, 2e4, "three attempts")
			assert.InDelta(t, 5e6, got.Service.P50, 1e4, "the last one")
			assert.Zero(t, got.Lateness.Max)
		})
	}
}

// Pauses before retries are drawn from none to a limit that doubles.
func TestRetriesBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, began := tried(t, workload.Client{Retries: 3, Backoff: 8 * time.Millisecond}, 2, 3, errTimeout)
		require.Len(t, began, 100)
		for retry, most := range []float64{8e6, 16e6, 32e6} {
			sum := 0.0
			for _, list := range began {
				pause := float64(list[retry+1]-list[retry]) - 5e6
				assert.GreaterOrEqual(t, pause, 0.0)
				assert.Less(t, pause, most)
				sum += pause
			}
			assert.InDelta(t, most/2, sum/100, 0.15*most, "retry %d", retry)
		}
	})
}

// A budget of 20 % lets every fifth iteration try again.
func TestRetriesKeepToTheirBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := tried(t, workload.Client{Retries: 3, Budget: 0.2}, 10, 9, errTimeout)
		assert.InDelta(t, 20, got.Retries, 1)
		assert.EqualValues(t, 100, got.Errors)
	})
}

// In time is what was answered before its deadline had passed since it was due: of three attempts
// that take 5 ms each, within 16 ms, and not within 14 ms.
func TestAnswersInTime(t *testing.T) {
	for deadline, want := range map[time.Duration]int64{16 * time.Millisecond: 100, 14 * time.Millisecond: 0} {
		synctest.Test(t, func(t *testing.T) {
			got, _ := tried(t, workload.Client{Deadline: deadline, Retries: 2}, 10, 2, errTimeout)
			assert.EqualValues(t, 100, got.Count)
			assert.Equal(t, want, got.InTime)
			got, _ = tried(t, workload.Client{Deadline: 4 * time.Millisecond}, 10, 0, nil)
			assert.EqualValues(t, 100, got.Errors)
			assert.Zero(t, got.InTime, "given up at the very moment")
		})
	}
}

// A live change, such as the begin of a fault, does not take the pauses before retries from calls
// that are under way.
func TestALiveChangeLeavesTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, worked := 0, time.Duration(0)
		call := func(_ context.Context, it *workload.Iteration) error {
			m := it.Begin(0)
			attempts++
			err := error(errGone)
			if it.Now() > int64(3*time.Second) {
				err, worked = nil, time.Duration(it.Now())
			}
			return it.End(m, 1, err)
		}
		track := workload.Track{
			Name: "p", Ops: []string{"call"}, Start: workload.Settings{Threads: 1}, Iterations: 1,
			NewTask: func(int) (workload.Task, error) { return workload.TaskFunc(call), nil },
		}
		r := start(t, onePhase(0, track), func(o *Options) {
			o.Client, o.Retryable = workload.Client{Retries: 100, Backoff: 50 * time.Millisecond}, func(uint8) bool { return true }
		})
		time.Sleep(10 * time.Millisecond)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Payload++; return s })
		res := result(t, r)
		assert.EqualValues(t, 1, res.Ops[0].Count)
		assert.Zero(t, res.Ops[0].Errors)
		assert.Greater(t, worked, 3*time.Second)
		assert.Less(t, attempts, 40, "they were not made at once")
	})
}

// What is tried again is as old as it was due, also between two attempts, while what is under
// way is as old as its attempt.
func TestWhatIsTriedAgainGrowsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		track := pool("p", workload.Settings{Threads: 1}, func(ctx context.Context, it *workload.Iteration) error {
			_ = takes(5*time.Millisecond)(ctx, it)
			return errGone
		})
		track.Iterations = 1
		r := start(t, onePhase(0, track), func(o *Options) {
			o.Client, o.Retryable = workload.Client{Retries: 9, Backoff: time.Second}, func(uint8) bool { return true }
		})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		g := r.Snapshot().Gauges[0]
		assert.InDelta(t, 3, g.OldestDue.Seconds(), 0.2)
		assert.Less(t, g.Oldest, time.Second)
		result(t, r)
		assert.Zero(t, r.Snapshot().Gauges[0].OldestDue)
	})
}
