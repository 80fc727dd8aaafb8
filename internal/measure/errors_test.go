package measure

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFirstMessagesAreKeptAndOneOfEachClass(t *testing.T) {
	at := int64(0)
	l := errorLog{
		classes: []string{"", "timeout", "refused"}, ops: []Operation{{"t", "get"}, {"t", "put"}}, now: func() int64 { at++; return at },
		classify: func(err error) uint8 {
			switch text := err.Error(); {
			case strings.HasPrefix(text, "late"):
				return 1
			case strings.HasPrefix(text, "no"):
				return 2
			case text == "new":
				return 3
			}
			return 0 // whatever is wrong, it is no success
		},
	}
	assert.EqualValues(t, 1, l.note(1, errors.New("who knows")))
	for range 3 {
		for i := range 20 {
			assert.EqualValues(t, 1, l.note(0, fmt.Errorf("late by %d", i)))
		}
	}
	assert.EqualValues(t, 2, l.note(1, errors.New("no")), "its class is counted")
	assert.EqualValues(t, 2, l.note(1, errors.New("no, again")))
	assert.EqualValues(t, 3, l.note(0, errors.New("new")))
	all := l.messages()
	require.Len(t, all, maxMessages+2)
	assert.Equal(t, Message{Operation{"t", "put"}, "timeout", "who knows", 1}, all[0])
	assert.Equal(t, Message{Operation{"t", "get"}, "timeout", "late by 8", 10}, all[9])
	assert.Equal(t, Message{Operation{"t", "put"}, "refused", "no", 11}, all[10], "the first of its class, however many there were of others")
	assert.Equal(t, Message{Operation{"t", "get"}, "other", "new", 12}, all[11])
	all[0].Text = "changed"
	assert.Equal(t, "who knows", l.messages()[0].Text, "who has them may do with them what he likes")
}

// A long message is cut between letters, whatever their length.
func TestAMessageIsCutBetweenLetters(t *testing.T) {
	for _, letter := range []string{"a", "ä", "€", "🙂"} {
		for shift := range 4 {
			l := errorLog{ops: []Operation{{}}, now: func() int64 { return 0 }, classify: func(error) uint8 { return 1 }}
			l.note(0, errors.New(strings.Repeat("x", shift)+strings.Repeat(letter, maxMessageLen+1)))
			text := l.messages()[0].Text
			assert.True(t, utf8.ValidString(text), "%q", text[maxMessageLen-8:])
			cut, found := strings.CutSuffix(text, "…")
			assert.True(t, found)
			assert.LessOrEqual(t, len(cut), maxMessageLen)
			assert.Greater(t, len(cut), maxMessageLen-len(letter))
		}
	}
}

// A snapshot tells of each track what is under way, and the age of the oldest of it.
func TestASnapshotTellsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := oneOperation(nil)
		cfg.Tracks, cfg.Ops, cfg.OpTrack = []string{"t", "u"}, append(cfg.Ops, Operation{"u", "o"}), []int{0, 1}
		c := NewCollector(cfg)
		go c.Run()
		a, b, other := c.Shard(0), c.Shard(0), c.Shard(1)
		a.Started(cfg.Source.Now(), cfg.Source.Now())
		time.Sleep(300*time.Millisecond + settle)
		b.Started(cfg.Source.Now()-int64(time.Second), cfg.Source.Now())
		time.Sleep(tick)
		synctest.Wait()
		g := c.Snapshot().Gauges
		assert.Equal(t, 2, g[0].InFlight)
		assert.Equal(t, 400*time.Millisecond+settle, g[0].Oldest)
		assert.Equal(t, 1100*time.Millisecond, g[0].OldestDue, "the second had waited for a second")
		assert.Equal(t, Gauge{}, g[1])
		a.Ended()
		b.Ended()
		b.Again(cfg.Source.Now() - int64(1100*time.Millisecond))
		other.Started(cfg.Source.Now(), cfg.Source.Now())
		time.Sleep(tick)
		synctest.Wait()
		g = c.Snapshot().Gauges
		assert.Zero(t, g[0].InFlight, "what waits to be tried again is not under way")
		assert.Zero(t, g[0].Oldest)
		assert.Equal(t, 1200*time.Millisecond, g[0].OldestDue, "but it was due")
		assert.Equal(t, 100*time.Millisecond, g[1].Oldest)
		b.Started(cfg.Source.Now()-int64(1200*time.Millisecond), cfg.Source.Now())
		time.Sleep(tick)
		synctest.Wait()
		g = c.Snapshot().Gauges
		assert.Equal(t, 1, g[0].InFlight)
		assert.Equal(t, 100*time.Millisecond, g[0].Oldest, "an attempt is as old as it is")
		assert.Equal(t, 1300*time.Millisecond, g[0].OldestDue)
		b.Ended()
		time.Sleep(tick)
		synctest.Wait()
		assert.Zero(t, c.Snapshot().Gauges[0].OldestDue)
		for _, s := range []*Shard{a, b, other} {
			s.Close()
		}
		c.Close()
		assert.Zero(t, c.Snapshot().Gauges[0].InFlight)
	})
}

// forgetful tells of a track all but what is in flight, as the engine does.
type forgetful struct{ running }

func (forgetful) Gauges(dst []Gauge) { clear(dst) }

// A row and a point tell how old the oldest call was that was under way at their end, as
// does the point that is drawn at once of a run that has just begun.
func TestTheOldestCallUnderWayIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rows []time.Duration
		cfg := oneOperation(func(s *Second) error {
			rows = append(rows, s.Rows[0].Oldest)
			return nil
		})
		cfg.Source = forgetful{running{time.Now()}}
		c := NewCollector(cfg)
		go c.Run()
		busy, hung := c.Shard(0), c.Shard(0)
		hung.Started(0, 0)
		for range 24 {
			at := c.cfg.Source.Now()
			time.Sleep(100 * time.Millisecond)
			busy.Add(Call{Due: at, Start: at, End: at + 1, Units: 1})
			if at == int64(200*time.Millisecond) {
				synctest.Wait()
				s := c.Snapshot()
				assert.Equal(t, Step, s.Bucket)
				assert.Len(t, s.Timeline[0], 1, "after 300 ms there is a point")
				assert.EqualValues(t, 2, s.Timeline[0][0].Count)
			}
		}
		s := c.Snapshot()
		busy.Close()
		hung.Close()
		c.Close()
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, rows[:2])
		for i, p := range s.Timeline[0] {
			assert.Equal(t, time.Duration(i+1)*Step, p.Oldest)
		}
	})
}
