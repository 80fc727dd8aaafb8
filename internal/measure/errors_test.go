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
)

// Of each class of an operation, the first messages that differ are kept, however many failures of
// others came before; numbers make no difference.
func TestTheFirstMessagesOfEachKindAreKept(t *testing.T) {
	at := int64(0)
	cfg := &Config{Classes: []string{"", "timeout", "refused"}, Ops: []Operation{{"t", "get"}, {"t", "put"}}, Source: &clockOnly{&at}, Classify: func(err error) uint8 {
		switch text := err.Error(); {
		case strings.HasPrefix(text, "late"):
			return 1
		case strings.HasPrefix(text, "no"):
			return 2
		case text == "new":
			return 3
		}
		return 0 // whatever is wrong, it is no success
	}}
	l := newErrorLog(cfg)
	assert.EqualValues(t, 1, l.note(1, errors.New("who knows")))
	for i := range 3 * lookedAll {
		assert.EqualValues(t, 1, l.note(0, fmt.Errorf("late by %d of 127.0.0.1:%d", i, 40_000+i)))
	}
	for i := range lookedEach {
		l.note(0, fmt.Errorf("late, and refused by %d", i))
	}
	for _, text := range []string{"no", "no, again", "no 1", "no 2", "nor this", "not that", "nothing more"} {
		assert.EqualValues(t, 2, l.note(1, errors.New(text)), "its class is counted")
	}
	assert.EqualValues(t, 3, l.note(0, errors.New("new")))
	var got []string
	for _, m := range l.messages() {
		got = append(got, m.Op+" "+m.Class+": "+m.Text)
	}
	assert.Equal(t, []string{
		"put timeout: who knows", "get timeout: late by 0 of 127.0.0.1:40000", got[2],
		"put refused: no", "put refused: no, again", "put refused: no 1", "put refused: nor this", "put refused: not that", "get other: new",
	}, got)
	assert.Regexp(t, `^get timeout: late, and refused by \d+$`, got[2], "one that comes after a thousand others is seen, too")
	all := l.messages()
	assert.EqualValues(t, 2, all[1].At)
	all[0].Text = "changed"
	assert.Equal(t, "who knows", l.messages()[0].Text, "who has them may do with them what he likes")
	other := newErrorLog(cfg)
	for _, m := range l.messages() {
		other.add(m)
		other.add(m)
	}
	assert.Equal(t, l.messages(), other.messages(), "another process tells of them once")
}

// clockOnly is a source of nothing but times.
type clockOnly struct{ at *int64 }

func (c *clockOnly) Now() int64     { *c.at++; return *c.at }
func (*clockOnly) Gauges([]Gauge)   {}
func (*clockOnly) Control() Control { return Control{} }

// A long message is cut between letters, whatever their length.
func TestAMessageIsCutBetweenLetters(t *testing.T) {
	for _, letter := range []string{"a", "ä", "€", "🙂"} {
		for shift := range 4 {
			l := newErrorLog(&Config{Ops: []Operation{{}}, Source: &clockOnly{new(int64)}, Classify: func(error) uint8 { return 1 }})
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
		assert.Equal(t, 400*time.Millisecond, g[0].Oldest.Round(tick))
		assert.Equal(t, 1100*time.Millisecond, g[0].OldestDue.Round(tick), "the second had waited for a second")
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
		assert.Equal(t, 1200*time.Millisecond, g[0].OldestDue.Round(tick), "but it was due")
		assert.Equal(t, 100*time.Millisecond, g[1].Oldest.Round(tick))
		b.Started(cfg.Source.Now()-int64(1200*time.Millisecond), cfg.Source.Now())
		time.Sleep(tick)
		synctest.Wait()
		g = c.Snapshot().Gauges
		assert.Equal(t, 1, g[0].InFlight)
		assert.Equal(t, 100*time.Millisecond, g[0].Oldest.Round(tick), "an attempt is as old as it is")
		assert.Equal(t, 1300*time.Millisecond, g[0].OldestDue.Round(tick))
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

// A row and a point tell how old the oldest call was that was under way at their end.
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
			if at == int64(1100*time.Millisecond) {
				synctest.Wait()
				s := c.Snapshot()
				assert.Equal(t, time.Second, s.Bucket)
				assert.Len(t, s.Timeline[0], 1, "the point of the first second is there just after it")
				assert.EqualValues(t, 10, s.Timeline[0][0].Count)
			}
		}
		s := c.Snapshot()
		busy.Close()
		hung.Close()
		c.Close()
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, rows[:2])
		for i, p := range s.Timeline[0] {
			assert.Equal(t, time.Duration(i+1)*time.Second, p.Oldest)
		}
	})
}
