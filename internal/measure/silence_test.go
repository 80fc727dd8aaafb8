package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSilencesAreKnownToHundredthsOfASecond(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	var d moments
	assert.Nil(t, d.silences(time.Hour), "nothing was done here at all")
	for at := 250 * ms; at < 10*time.Second; at += ms { // a thousand a second
		if at < 3140*ms || at >= 5140*ms {
			d.add(int64(at))
		}
	}
	d.add(int64(3 * time.Second)) // out of order
	d.add(-1)                     // in the warm-up
	assert.Equal(t, []Silence{{0, 250 * ms}, {3140 * ms, 5140 * ms}, {10 * time.Second, 11500 * ms}}, d.silences(11500*ms))
	assert.Equal(t, []Silence{{0, 250 * ms}, {3140 * ms, 5140 * ms}}, d.silences(10*time.Second))
}

// What failed, and what is only a part of other work, breaks no silence.
func TestWhatCountsBreaksASilence(t *testing.T) {
	t.Parallel()
	c := NewCollector(Config{
		Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}, {Track: "t", Op: "o-part"}}, OpTrack: []int{0, 0}, Parts: []bool{false, true},
		Timeout: 1, Classes: []string{"", "timeout"}, Classify: func(error) uint8 { return 1 }, Source: still{},
	})
	s := c.Shard(0)
	at := func(d time.Duration, op uint16, class uint8) {
		s.Add(Call{Op: op, Due: int64(d), Start: int64(d), End: int64(d), Class: class, Units: 1})
	}
	at(0, 0, 0)
	at(100*time.Millisecond, 0, 1)
	at(200*time.Millisecond, 1, 0)
	at(200*time.Millisecond, 1, 1) // the operation failed with it
	at(400*time.Millisecond, 0, 0)
	s.Close()
	go c.Run()
	c.Close()
	assert.EqualValues(t, 1, c.snap.Load().Failures())
	assert.Equal(t, []Silence{{10 * time.Millisecond, 400 * time.Millisecond}}, c.all.doneAt.silences(410*time.Millisecond))
	assert.Equal(t, []Silence{{0, 100 * time.Millisecond}, {110 * time.Millisecond, 410 * time.Millisecond}}, c.all.failedAt.silences(410*time.Millisecond))
}

// A store that answers without its records answers: nothing is done, and yet it is no outage.
func TestAnAnswerWithoutARecordIsAnAnswer(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	c := NewCollector(Config{
		Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}}, OpTrack: []int{0}, Parts: []bool{false},
		Timeout: 1, Lost: 2, Classes: []string{"", "timeout", "lost"}, Classify: func(error) uint8 { return 1 }, Source: still{},
	})
	s := c.Shard(0)
	for _, call := range []struct {
		at    time.Duration
		class uint8
	}{{0, 0}, {300 * ms, 1}, {500 * ms, 2}, {700 * ms, 2}, {900 * ms, 0}} {
		s.Add(Call{Due: int64(call.at), Start: int64(call.at), End: int64(call.at), Class: call.class, Units: 1})
	}
	s.Close()
	go c.Run()
	c.Close()
	answered := c.all.doneAt.or(&c.all.lostAt)
	assert.Equal(t, []Silence{{10 * ms, 900 * ms}}, c.all.doneAt.silences(910*ms))
	assert.Equal(t, []Silence{{10 * ms, 500 * ms}, {510 * ms, 700 * ms}, {710 * ms, 900 * ms}}, answered.silences(910*ms))
}

// Nothing is undone while nothing was to be done: an open loop of few calls is silent between them. A call that was due or
// under way, or calls that failed one after the other, tell that something was.
func TestASilenceWithoutACallIsNoneOfTheStore(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	type call struct {
		due, start, end time.Duration
		class           uint8
	}
	for name, c := range map[string]struct {
		calls        []call
		undone, lost []Silence
	}{
		"few calls":                     {calls: []call{{2595 * ms, 2595 * ms, 2605 * ms, 0}, {5 * time.Second, 5 * time.Second, 5001 * ms, 0}}, undone: []Silence{}},
		"one that failed":               {calls: []call{{900 * ms, 900 * ms, 901 * ms, 1}, {2595 * ms, 2595 * ms, 2605 * ms, 0}}, undone: []Silence{}},
		"a call under way":              {calls: []call{{1300 * ms, 1300 * ms, 3900 * ms, 0}}, undone: []Silence{{1300 * ms, 3900 * ms}}},
		"one that was due and waited":   {calls: []call{{1300 * ms, 3890 * ms, 3900 * ms, 0}}, undone: []Silence{{1300 * ms, 3900 * ms}}},
		"one that timed out":            {calls: []call{{1300 * ms, 1300 * ms, 3900 * ms, 1}, {5 * time.Second, 5 * time.Second, 5 * time.Second, 0}}, undone: []Silence{{1300 * ms, 3910 * ms}}},
		"calls that failed":             {calls: []call{{1300 * ms, 1300 * ms, 1300 * ms, 1}, {2400 * ms, 2400 * ms, 2400 * ms, 1}, {4 * time.Second, 4 * time.Second, 4 * time.Second, 0}}, undone: []Silence{{1300 * ms, 2410 * ms}}},
		"an answer without its records": {calls: []call{{1300 * ms, 1300 * ms, 2300 * ms, 2}, {3 * time.Second, 3 * time.Second, 3 * time.Second, 0}}, undone: []Silence{{1300 * ms, 2310 * ms}}, lost: []Silence{{1300 * ms, 2300 * ms}}},
	} {
		col := NewCollector(Config{
			Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}}, OpTrack: []int{0},
			Timeout: 1, Lost: 2, Classes: []string{"", "timeout", "lost"}, Classify: func(error) uint8 { return 1 }, Source: still{},
		})
		s := col.Shard(0)
		for _, x := range append([]call{{}}, c.calls...) {
			s.Add(Call{Due: int64(x.due), Start: int64(x.start), End: int64(x.end), Class: x.class, Units: 1})
		}
		s.Close()
		go col.Run()
		col.Close()
		const measured = 5 * time.Second
		assert.Equal(t, c.undone, col.all.openAt.within(col.all.doneAt.silences(measured)), name)
		if c.lost != nil {
			answered := col.all.doneAt.or(&col.all.lostAt)
			assert.Equal(t, c.lost, col.all.openAt.within(answered.silences(measured)), name)
		}
	}
}

// A call that never ended, and what waited for it, were due and under way all the same: so say the gauges of each second.
func TestWhatNeverEndedWasDue(t *testing.T) {
	t.Parallel()
	var of Gauge
	src := &gauged{of: &of}
	c := NewCollector(Config{Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}}, OpTrack: []int{0}, Classes: []string{""}, Classify: func(error) uint8 { return 1 }, Source: src})
	for second, waiting := range []int64{0, 3, 7, 0} {
		of.Backlog = waiting
		c.closeOpen(int64(second+1)*int64(time.Second), false)
	}
	assert.Equal(t, []Silence{{1990 * time.Millisecond, 3 * time.Second}}, c.all.openAt.within([]Silence{{0, 4 * time.Second}}))
}

// gauged is a source whose only track is as it says.
type gauged struct {
	still
	of *Gauge
}

func (g *gauged) Gauges(dst []Gauge) { dst[0] = *g.of }

// Processes that carry out a run together are silent when all of them are.
func TestSilencesOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	var one, two, all moments
	for at := time.Duration(0); at < 20*time.Second; at += ms {
		if at < 7*time.Second || at >= 9120*ms {
			one.add(int64(at))
		}
		if at < 7340*ms || at >= 8990*ms {
			two.add(int64(at))
		}
	}
	for second := range 20 {
		for _, d := range []*moments{&one, &two} {
			from, words := d.part(second)
			assert.True(t, fits(second, from, words))
			assert.LessOrEqual(t, len(words), 16)
			all.merge(from, words)
		}
	}
	assert.Equal(t, []Silence{{7340 * ms, 8990 * ms}}, all.silences(20*time.Second))
	assert.False(t, fits(3, 1<<30, []uint64{1}), "a time to come")
	assert.False(t, fits(3, -1, []uint64{1}))
	from, words := all.part(-3)
	assert.True(t, fits(-3, from, words), "in the warm-up")
}

// A silence is the process's own if it did not run for most of it.
func TestASilenceMayBeTheProcesssOwn(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	q := Silence{From: 45830 * ms, To: 46960 * ms}
	pauses := []Pause{{At: int64(44 * time.Second), For: time.Second}, {At: int64(45800 * ms), For: 100 * ms}, {At: int64(45920 * ms), For: 1036 * ms}, {At: int64(46957 * ms), For: time.Second}}
	assert.Equal(t, 70*ms+1036*ms+3*ms, q.Paused(pauses))
	assert.True(t, Own(q.Paused(pauses), q.To-q.From))
	assert.False(t, Own(q.Paused(pauses[:2]), q.To-q.From))
}

// A call that lasted long takes no longer to note than a short one, once what it covers is known: in an overload all
// calls last long.
func TestASpanIsNotedOnce(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	var d moments
	d.span(0, 60*second)
	d.last = 0
	d.span(0, 60*second)
	assert.Zero(t, d.last, "no slot is set again")
	d.span(59*second, 60*second+int64(SilenceSlot))
	assert.Equal(t, 6002, d.last, "only the next one")
	var one, other moments
	for _, s := range [][2]int64{{5, 9}, {20, 30}, {1, 3}, {8, 21}, {40, 41}, {-7, 0}, {2, 60}, {70, 70}} {
		one.span(s[0]*int64(SilenceSlot), s[1]*int64(SilenceSlot))
		for at := max(s[0], 0); at <= s[1]; at++ {
			other.add(at * int64(SilenceSlot))
		}
		assert.Equal(t, other.slots, one.slots, "%v", s)
	}
}
