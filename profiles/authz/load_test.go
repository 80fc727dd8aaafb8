package authz

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An interrupted load goes on where it was: of what is marked nothing is handed
// out again.
func TestLoadsGoOnWhereTheyWere(t *testing.T) {
	kinds := []kind{{"users", 250, 0}, {"memberships", 90, 2}}
	var l loader
	l.begin(kinds, 100, map[string]bool{"users-0": true, "users-2": true, "memberships-0": true})
	assert.EqualValues(t, 100+50+90, l.before)
	for i := 100; i < 200; i++ {
		it, ok := l.claim(t.Context())
		require.True(t, ok)
		require.Equal(t, item{kind: 0, i: i}, it)
		batch, complete := l.stored(it)
		assert.Equal(t, 1, batch)
		assert.Equal(t, i == 199, complete)
		assert.Zero(t, l.end(it, 1, true, nil))
	}
	_, ok := l.claim(t.Context())
	assert.False(t, ok)
	assert.True(t, l.over())

	var whole loader
	whole.begin(kinds, 100, map[string]bool{"users-0": true, "users-1": true, "users-2": true, "memberships-0": true})
	assert.True(t, whole.over(), "all of it is there")
	var none loader
	assert.False(t, none.over(), "it has not begun")
}

// What failed is handed out again, before the next kind begins; whoever waits for
// that goes on once it is stored.
func TestFailedItemsAreTriedAgainBeforeTheNextKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l loader
		l.begin([]kind{{"users", 2, 0}, {"groups", 1, 1}}, 2, nil)
		first, _ := l.claim(t.Context())
		second, _ := l.claim(t.Context())
		got := make(chan item, 2)
		go func() {
			for range 2 {
				it, ok := l.claim(t.Context())
				assert.True(t, ok)
				got <- it
				if it.kind == 0 {
					_, complete := l.stored(it)
					assert.True(t, complete)
					l.end(it, 9, true, nil)
				}
			}
		}()
		l.stored(second)
		l.end(second, 5, true, nil)
		synctest.Wait()
		assert.Empty(t, got, "the kind has not ended")
		away := errors.New("away")
		assert.EqualValues(t, 7, l.end(first, 7, false, away))
		assert.Equal(t, first, <-got)
		assert.Equal(t, item{kind: 1, i: 0}, <-got)
	})
}

// An item whose batch could not be marked is handed out again for the mark alone.
func TestBatchThatCannotBeMarked(t *testing.T) {
	var l loader
	l.begin([]kind{{"users", 1, 0}}, 10, nil)
	for n := range 3 {
		it, ok := l.claim(t.Context())
		require.True(t, ok)
		assert.Equal(t, n > 0, it.stored)
		_, complete := l.stored(it)
		require.True(t, complete)
		if n < 2 {
			assert.EqualValues(t, 3, l.end(it, int64(3+n), true, errors.New("away")), "since the first time")
			assert.False(t, l.over())
			continue
		}
		assert.Zero(t, l.end(it, 9, true, nil))
	}
	assert.True(t, l.over())
}

// A load that gets no answer is stuck; one that works, fails or has nothing under way
// is not taken for that.
func TestSilenceIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l loader
		l.begin([]kind{{"users", 3, 0}}, 3, nil)
		stuck := func() int { _, n, _ := l.stuck(); return n }
		for range 2 {
			it, _ := l.claim(t.Context())
			assert.Zero(t, stuck(), "it has just been looked at")
			time.Sleep(silence - 1)
			assert.Zero(t, stuck())
			l.stored(it)
			l.end(it, 1, true, nil)
			assert.Zero(t, stuck(), "an item has ended")
			time.Sleep(2 * silence)
			assert.Zero(t, stuck(), "nobody waits for anything")
		}
		it, _ := l.claim(t.Context())
		from := time.Now()
		stuck()
		time.Sleep(2 * silence)
		kind, n, since := l.stuck()
		assert.Equal(t, []any{"users", 1}, []any{kind, n})
		assert.WithinRange(t, since, from.Add(-2*silence), from)
		l.end(it, 7, false, errors.New("no"))
		assert.Equal(t, 1, stuck(), "it fails")
	})
}

// How long a load goes on in which nothing works: without a duration the drain decides, and
// with one two minutes or, once the time is up, the drain.
func TestWhenALoadIsGivenUp(t *testing.T) {
	at := func(d time.Duration) int64 { return int64(d) }
	for name, c := range map[string]struct {
		duration, drain time.Duration
		since, now      time.Duration
		want            bool
	}{
		"a long drain":         {0, 10 * time.Minute, time.Minute, 10 * time.Minute, false},
		"a long drain is over": {0, 10 * time.Minute, time.Minute, 12 * time.Minute, true},
		"a short drain":        {0, time.Second, time.Minute, 62 * time.Second, true},
		"amid its time":        {time.Hour, time.Second, time.Minute, 2 * time.Minute, false},
		"amid its time, late":  {time.Hour, 10 * time.Minute, time.Minute, 4 * time.Minute, true},
		"after its time":       {time.Hour, time.Second, time.Hour - time.Minute, time.Hour + 2*time.Second, true},
		"just after its time":  {time.Hour, 10 * time.Second, time.Hour - time.Minute, time.Hour + 2*time.Second, false},
	} {
		s := &spec{duration: c.duration, drain: c.drain}
		assert.Equal(t, c.want, s.hopeless(at(c.since), at(c.now)), name)
	}
}
