package replay

import (
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// written is a capture of calls at moments, on so many connections in turn.
func written(t *testing.T, timing capture.Timing, connections int, at ...time.Duration) *Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.capture")
	w, err := capture.Create(path, capture.Header{Store: "redis", Source: "x", How: "x", Started: time.Unix(1, 0), Timing: timing}, 0)
	require.NoError(t, err)
	for i, when := range at {
		c := capture.Call{At: when, Conn: int64(i%connections) + 1, Args: []capture.Arg{capture.TextArg("SET"), capture.TextArg("k" + strconv.Itoa(i)), {Kind: capture.Size, Size: i}}, Keys: []int{1}}
		require.NoError(t, w.Add(&c))
	}
	require.NoError(t, w.Close("end"))
	r, err := Open(path, Options{})
	require.NoError(t, err)
	return r
}

// all are the moments of a recording, as seconds of its pace.
func all(t *testing.T, r *Recording) (out []float64) {
	t.Helper()
	require.NoError(t, r.items(nil, func(i *item, _ []capture.Arg) error {
		out = append(out, i.moment/r.perSecond)
		return nil
	}))
	return out
}

func TestMomentsAreThoseOfTheRecording(t *testing.T) {
	ms := time.Millisecond
	r := written(t, capture.Exact, 2, 100*ms, 150*ms, 140*ms, 400*ms, 1100*ms)
	assert.InDeltaSlice(t, []float64{0, 0.05, 0.05, 0.3, 1}, all(t, r), 1e-9)
	assert.Equal(t, time.Second, r.Length)
	assert.InDelta(t, 5, r.Rate(), 1e-9)

	var at []time.Duration
	for i := range 4000 {
		at = append(at, time.Duration(i/1000)*time.Second)
	}
	seconds := written(t, capture.Seconds, 3, at...)
	got := all(t, seconds)
	assert.Equal(t, got, all(t, seconds), "always the same")
	within := [10]int{}
	for i, x := range got {
		if i > 0 {
			assert.GreaterOrEqual(t, x, got[i-1])
		}
		assert.InDelta(t, float64(i/1000)+0.5, x+0.0005, 0.5005, "it stays in its second")
		within[int((x-float64(i/1000))*10)%10]++
	}
	for _, n := range within {
		assert.InDelta(t, 400, n, 80, "spread over the second")
	}

	order := written(t, capture.Unknown, 1, make([]time.Duration, 1000)...)
	assert.Zero(t, order.Rate())
	assert.IsIncreasing(t, all(t, order))
}

func TestHowManyCallsWereMadeIsKnown(t *testing.T) {
	var at []time.Duration
	for i := range 10_000 {
		at = append(at, time.Duration(i*i)*time.Microsecond)
	}
	r := written(t, capture.Exact, 7, at...)
	for i, x := range all(t, r) {
		assert.EqualValues(t, i+1, r.when.count(x*r.perSecond))
	}
	rare := index{every: 64, n: r.when.n, end: r.when.end} // as of a recording that is too long for all of them
	for i := int64(0); i < rare.n; i += rare.every {
		rare.marks = append(rare.marks, r.when.marks[i])
	}
	for i, x := range all(t, r) {
		assert.InDelta(t, i+1, rare.count(x*r.perSecond), 64)
	}
	assert.EqualValues(t, 2, everyOf(mostMarks+1))
	assert.EqualValues(t, 10_000, r.when.count(1e9))
	assert.Zero(t, r.when.count(-1))
}

// A thread that does not get on holds up nobody, as far as there is room; what is read ahead is
// bounded, and ends when nobody wants it.
func TestReadingAheadIsBounded(t *testing.T) {
	tier.Slow(t, tier.Computes)
	n := 3 * chunks * chunkCalls
	r := written(t, capture.Exact, 2, make([]time.Duration, n)...)
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(r, dealing{to: 2, of: 2}, r.when, true)
		stale := make(chan struct{})
		time.AfterFunc(time.Hour, func() { close(stale) })
		got, known := 0, true
		for {
			var more bool
			if _, more, known = l.Next(0, stale); !more || !known {
				break
			}
			_, c := l.pop(0)
			require.NotNil(t, c)
			got++
		}
		assert.False(t, known, "the other thread has all that there is room for")
		assert.InDelta(t, chunks*chunkCalls, got, 4*chunkCalls)
		assert.EqualValues(t, got, l.Made())
		assert.Less(t, l.through(), int64(len(l.all)))
		_, c := l.pop(0)
		assert.Nil(t, c)
		l.close()
	})
}
