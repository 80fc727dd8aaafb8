package effect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// course is a run whose seconds each have a rate and a p99 in hundredths of a millisecond, in which no call waits.
func course(changes []measure.Change, seconds ...[2]int64) *Course {
	c := &Course{Changes: changes, Segments: []Segment{{Settings: map[string]float64{"threads": 1}}}}
	for t, v := range seconds {
		c.Seconds = append(c.Seconds, Second{At: time.Duration(t) * time.Second, Length: 1, Count: float64(v[0]), idle: v[0] == 0, Times: []Times{{P99: float64(v[1] * 1e4), Service: float64(v[1] * 1e4)}}})
	}
	return c
}

// last is the effect of the last act.
func last(c *Course) Effect {
	e, _ := Last(c)
	return e
}

// A run ends in the middle of a second, which is none of those that an effect is told by.
func TestThePartOfASecondAtTheEndIsLeftOut(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: 4.4, EndedBy: "user", Operations: []rundir.Operation{{Op: "put"}}}}
	for at := range 5 {
		f.Series = append(f.Series, rundir.SeriesRow{T: at, Op: "put", Count: 100, Throughput: 100, ResponseP99: 5e6})
	}
	assert.Len(t, Of(f).Seconds, 4)
	f.Run.MeasuredS = 4.98
	assert.Len(t, Of(f).Seconds, 5, "as good as whole")
	f.Run.MeasuredS, f.Run.EndedBy = 4.4, rundir.StillRunning
	assert.Len(t, Of(f).Seconds, 5, "more is to come")
}

// steady are n seconds of about one rate and p99, in which chance has its part.
func steady(n int, rate, p99 int64) (out [][2]int64) {
	for i := range n {
		out = append(out, [2]int64{rate + []int64{0, 7, -6, 3, -4}[i%5], p99 + []int64{0, 1, -1}[i%3]*p99/100})
	}
	return out
}

// late is a segment in which the p99 of the only operation was so long, of which perfbench was late by so much.
func late(p99, by float64) (seg Segment) {
	seg.take(0, measure.Summary{Count: 8000, P50: 1000, P90: 1000, P95: 1000, P99: int64(p99)}, measure.Summary{P99: int64(by)})
	return seg
}

func TestAnEffectIsWhatCannotBeChance(t *testing.T) {
	turn := func(at float64, from, to float64) measure.Change {
		return measure.Change{At: time.Duration(at * float64(time.Second)), Name: "threads", From: from, To: to, By: "workbench"}
	}
	by := func(c measure.Change, who string) measure.Change {
		c.By = who
		return c
	}
	pause := func(at, to float64) measure.Change {
		return measure.Change{At: time.Duration(at * float64(time.Second)), Name: "paused", From: 1 - to, To: to}
	}
	join := func(parts ...[][2]int64) (out [][2]int64) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	noise := [][2]int64{{1000, 2000}, {400, 9000}, {1500, 3000}, {700, 5000}, {1100, 2000}, {600, 7000}, {1300, 3000}, {500, 6000}}
	stall := [][2]int64{{1000, 2000}, {0, 0}, {0, 0}}
	for _, c := range []struct {
		name    string
		changes []measure.Change
		seconds [][2]int64
		want    string
	}{
		{"twice as much", []measure.Change{turn(10.5, 1, 2)}, join(steady(11, 1000, 2000), steady(10, 2000, 4000)), "throughput 1k → 2k, p99 20 → 40 ms"},
		{"nothing moves", []measure.Change{turn(10, 1, 2)}, join(steady(10, 1000, 2000), steady(10, 1000, 2000)), "throughput 1k → 1k same, p99 20 → 20 ms same"},
		{"chance alone", []measure.Change{turn(8, 1, 2)}, join(noise, [][2]int64{{900, 3000}, {1600, 4000}, {500, 8000}, {800, 9000}, {1700, 2000}, {300, 6000}}), "throughput 888 → 967 (unsure), p99 50 → 60 ms (unsure)"},
		{"all that was before it", []measure.Change{turn(13, 1, 2)}, join(steady(10, 100, 2000), steady(3, 1000, 2000), steady(3, 1500, 2000)), "p99 20 → 20 ms same, throughput 308 → 1.5k (unsure)"},
		{"what comes later is no effect", []measure.Change{turn(10, 1, 2)}, join(steady(10, 1000, 2000), steady(10, 1500, 2000), stall, steady(5, 10, 90000)), "throughput 1k → 1.5k, p99 20 → 20 ms same"},
		{"too early to tell", []measure.Change{turn(10, 1, 2)}, join(steady(10, 1000, 2000), steady(2, 2000, 2000)), "measuring its effect: 2 of 3+ s"},
		{"a stall", []measure.Change{turn(10, 1, 2)}, join(steady(10, 1000, 2000), stall), "unsure: the store has not answered since"},
		{"a stall between two turns", []measure.Change{turn(10, 1, 2), turn(13, 2, 3)}, join(steady(10, 1000, 2000), stall, steady(10, 1000, 2000)), "unsure: the store did not answer before it"},
		{"a stall before", []measure.Change{turn(5, 1, 2)}, join(steady(2, 1000, 2000), stall, steady(5, 1000, 2000)), "throughput 601 → 1k (unsure), p99 20 → 20 ms (unsure)"},
		{"another change just before", []measure.Change{{At: 8 * time.Second, Name: "payload"}, turn(10, 1, 2)}, join(steady(10, 1000, 2000), steady(10, 2000, 2000)), "throughput 1k → 2k, p99 20 → 20 ms same"},
		{"an undo of what has lasted for a second", []measure.Change{turn(10, 1, 2), by(turn(11, 2, 1), "undo")}, join(steady(10, 1000, 2000), steady(1, 4000, 2000), steady(10, 1500, 2000)), "as before"},
		{"an undo is measured against what it takes back", []measure.Change{turn(5, 1, 2), by(turn(10, 2, 1), "undo")}, join(steady(5, 1000, 2000), steady(5, 2000, 2000), steady(8, 1000, 2000)), "throughput 2k → 1k, p99 20 → 20 ms same"},
		{"a pause", []measure.Change{turn(5, 1, 2), pause(10, 1)}, join(steady(10, 1000, 2000), stall), ""},
		{"a knob turned after a pause", []measure.Change{pause(4, 1), pause(8, 0), turn(9, 1, 2)}, join(steady(4, 1000, 2000), stall, steady(8, 2000, 2000)), "unsure: it needs at least 3 s before it, and had 1"},
		{"a tail that rises without end", []measure.Change{turn(10, 1, 2)}, join(steady(10, 1000, 7000), [][2]int64{{1000, 20000}, {1000, 52000}, {1000, 88000}, {1000, 131000}}), "so far throughput 1k → 1k same, p99 70 → 880 ms"},
		{"a drift is no leap", []measure.Change{turn(5, 1, 2)}, [][2]int64{{1000, 1000}, {1000, 1040}, {1000, 1080}, {1000, 1120}, {1000, 1160}, {1000, 1200}, {1000, 1240}, {1000, 1280}, {1000, 1320}, {1000, 1360}}, "throughput 1k → 1k same, p99 10.8 → 12.8 ms (unsure)"},
		{"long ago", []measure.Change{turn(4, 1, 2)}, steady(118, 1000, 2000), "throughput 1k → 999 same, p99 20 → 20.2 ms same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, ok := Last(course(c.changes, c.seconds...))
			require.True(t, ok)
			assert.Equal(t, c.want, e.Outcome(0))
		})
	}
}

// Seconds in which nothing was done because perfbench itself did not run are not laid to the store.
func TestAStallMayBePerfbenchsOwn(t *testing.T) {
	turn := func(at time.Duration) measure.Change {
		return measure.Change{At: at * time.Second, Name: "threads", From: 1, To: 2, By: "workbench"}
	}
	stall := [][2]int64{{1000, 2000}, {0, 0}, {0, 0}}
	for _, of := range []struct {
		changes []measure.Change
		seconds [][2]int64
		pause   measure.Pause
		want    string
	}{
		{[]measure.Change{turn(10)}, slices.Concat(steady(10, 1000, 2000), stall), measure.Pause{At: 11e9, For: 1500 * time.Millisecond}, "unsure: perfbench itself did not run after it"},
		{[]measure.Change{turn(10)}, slices.Concat(steady(10, 1000, 2000), stall), measure.Pause{At: 11e9, For: 900 * time.Millisecond}, "unsure: the store has not answered since"},
		{[]measure.Change{turn(10), turn(13)}, slices.Concat(steady(10, 1000, 2000), stall, steady(10, 1000, 2000)), measure.Pause{At: 10.5e9, For: 2500 * time.Millisecond}, "unsure: perfbench itself did not run before it"},
		{[]measure.Change{turn(10)}, slices.Concat(steady(10, 1000, 2000), stall), measure.Pause{At: 2e9, For: 3 * time.Second}, "unsure: the store has not answered since"},
	} {
		c := course(of.changes, of.seconds...)
		c.Pauses = []measure.Pause{of.pause}
		e := last(c)
		assert.Equal(t, of.want, e.Outcome(0))
	}
	kept := Of(&rundir.Folder{Run: rundir.Run{Observed: &verdict.Observed{PausesAt: []verdict.Pause{{AtS: 11, ForS: 1.5}}}}})
	assert.Equal(t, []measure.Pause{{At: 11e9, For: 1500 * time.Millisecond}}, kept.Pauses)
	live := Live(&measure.Snapshot{Pauses: kept.Pauses}, rundir.Verdict{}, nil)
	assert.Equal(t, kept.Pauses, live.Pauses)
}

// What was done within a few seconds is judged together: from before the first to after the last.
// So is what alone had too few seconds before it.
func TestQuickChangesAreJudgedTogether(t *testing.T) {
	turn := func(at time.Duration, name string, from, to float64) measure.Change {
		return measure.Change{At: at * time.Second, Name: name, From: from, To: to, By: "workbench"}
	}
	three := []measure.Change{turn(10, "threads", 1, 2), turn(11, "payload", 1024, 2048), turn(12, "batch", 1, 10)}
	e, _ := Last(course(three, slices.Concat(steady(10, 1000, 2000), steady(1, 9, 90000), steady(1, 7, 70000), steady(10, 2000, 4000))...))
	assert.Equal(t, "throughput 1k → 2k ×2, p99 20 → 40 ms ×2", e.Outcome(60))
	assert.Equal(t, "00:10–00:12", e.WhenAll())
	assert.Equal(t, "00:12", e.When(), "of the last one alone")
	assert.Equal(t, 10, e.before.seconds)

	e, _ = Last(course(three, slices.Concat(steady(10, 1000, 2000), steady(4, 2000, 4000))...))
	assert.Equal(t, "measuring its effect: 2 of 3+ s", e.Outcome(60))

	unsettled := func(n int, p99 int64) (out [][2]int64) {
		for i := range n {
			out = append(out, [2]int64{1000, p99 + []int64{0, 300, -250, 90, -180, 200}[i%6]})
		}
		return out
	}
	slow := []measure.Change{turn(20, "threads", 1, 2), turn(26, "threads", 2, 4)}
	s := course(slow, slices.Concat(steady(20, 1000, 1000), unsettled(6, 2000), unsettled(12, 2240))...)
	alone := s.of(measure.Acts(s.Changes), len(measure.Acts(s.Changes))-1, 0, math.MaxInt)
	assert.Equal(t, "throughput 1k → 1k same, p99 20.9 → 23.3 ms (unsure); it needs about 8 s before it, and had 6", alone.Outcome(95))
	e, _ = Last(s)
	assert.Len(t, e.With, 1)
	assert.Equal(t, "throughput 1k → 1k same, p99 10 → 23.3 ms", e.Outcome(40))
	assert.Equal(t, "threads 1 → 4 (2 changes)", e.What())

	apart := []measure.Change{slow[0], turn(35, "threads", 2, 4)}
	for n := 8; n < 30; n++ { // as a run goes on
		e, _ = Last(course(apart, slices.Concat(steady(20, 1000, 1000), unsettled(15, 2000), unsettled(n, 2100))...))
		assert.Len(t, e.With, 1, "told together by the first seconds after it, and then for good: %d", n)
	}

	s.Changes = []measure.Change{turn(20, "payload", 1024, 2048), slow[1]}
	e, _ = Last(s)
	assert.Empty(t, e.With, "what another knob did is told by the seconds that it had")

	s.Changes = append([]measure.Change{turn(8, "paused", 1, 0)}, slow...)
	e, _ = Last(s)
	assert.Len(t, e.With, 1, "a pause ends what is put together")
	s.Phases = []time.Duration{23 * time.Second}
	e, _ = Last(s)
	assert.Empty(t, e.With, "another phase began between them")
}

// The time before a change is over when it is made: its figures stay while those after it become more. Nor
// is what goes on slowly the change's own, although the mean of a long time before it is far from what comes after.
func TestWhatWasBeforeAChangeStays(t *testing.T) {
	turn := []measure.Change{{At: 20 * time.Second, Name: "payload", From: 1024, To: 2048}}
	var list [][2]int64
	for i := range int64(20) {
		list = append(list, [2]int64{1000 + 40*i, 2000})
	}
	for n := fewest; n < 2*window; n++ {
		e := last(course(turn, slices.Concat(list, steady(n, 500, 4000))...))
		f := e.Throughput()
		assert.InDelta(t, 1380, f.Before, 0.1)
		assert.Equal(t, min(n, 20), e.after.seconds)
	}
	for n := range int64(10) {
		list = append(list, [2]int64{1800 + 40*n, 2000})
		e := last(course(turn, list...))
		assert.False(t, e.rate.Moved(), "%s", e.Outcome(200))
	}
}

// What is sure of a change alone is not given up for what the last few did together, which nobody can tell.
func TestWhatIsSureAloneIsToldAlone(t *testing.T) {
	var wild [][2]int64
	for i := range 20 {
		wild = append(wild, [2]int64{[]int64{100, 900, 300, 1500}[i/2%4], []int64{400, 9000, 1500, 20000}[i/3%4]})
	}
	c := course([]measure.Change{{At: 20 * time.Second, Name: "threads", From: 8, To: 9}, {At: 23 * time.Second, Name: "threads", From: 9, To: 19}},
		slices.Concat(wild, [][2]int64{{550, 865}, {440, 841}, {698, 1290}, {367, 5990}, {416, 6090}, {469, 6200}}, wild)...)
	e := last(c)
	assert.Empty(t, e.With)
	assert.Equal(t, Worse, e.tail.Is)
}

// Three seconds before a change that differ from each other as much as it did are no measure of it, even
// where none of them reaches those after it.
func TestThreeUnevenSecondsAreNoMeasure(t *testing.T) {
	p50 := []float64{0.54, 0.99, 0.38, 1.94, 3.35, 2.91}
	c := course([]measure.Change{{At: 3 * time.Second, Name: "payload", From: 1024, To: 2048}}, steady(6, 1000, 0)...)
	for i := range c.Seconds {
		c.Seconds[i].Times = []Times{{P50: 1e6 * p50[i]}}
	}
	e := last(c)
	f := e.Latency()
	assert.Equal(t, "p50", f.Name())
	assert.Equal(t, Unsure, f.Is)

	for i, v := range []float64{0.54, 0.6, 0.5} {
		c.Seconds[i].Times[0].P50 = 1e6 * v
	}
	e = last(c)
	f = e.Latency()
	assert.Equal(t, Worse, f.Is)
}

// What two changes close together did was told, and became unsure: it keeps its figures.
func TestWhatWasToldTogetherStaysTogether(t *testing.T) {
	c := course([]measure.Change{{At: 6 * time.Second, Name: "payload", From: 1024, To: 2048}, {At: 7 * time.Second, Name: "batch", From: 1, To: 2}},
		[][2]int64{{1000, 1000}, {1000, 1500}, {1000, 900}, {1000, 1600}, {1000, 1100}, {1000, 1400}, {1000, 1}, {1000, 1700}, {1000, 1200}, {1000, 1800}, {1000, 1300}, {1000, 2000}, {1000, 1500}, {1000, 1900}}...)
	c.Over = true
	list := Effects(c)
	assert.Equal(t, "see the next one", list[0].Told(200))
	assert.Equal(t, "with payload 1 KiB → 2 KiB: throughput 1k (1k–1k) → 1k (1k–1k) same, p99 per second 14 (9–16) → 17 (12–20) ms (unsure); it needs about 17 s before it, and had 6", list[1].Told(200))
}

// A knob and a fault are judged each by the seconds that it had, and the healing of a fault is no part
// of what a knob did after it.
func TestAFaultAndAKnobAreJudgedApart(t *testing.T) {
	segment := 0
	at := func(ms int, name string, from, to float64) measure.Change {
		segment++
		return measure.Change{At: time.Duration(ms) * time.Millisecond, Name: name, From: from, To: to, By: measure.ByTimetable, Segment: segment}
	}
	list := Effects(course(
		[]measure.Change{at(3004, "threads", 8, 12), at(6003, "fault-delay", 0, 20), at(12002, "fault-delay", 20, 0), at(13500, "threads", 12, 16)},
		slices.Concat(steady(3, 1000, 200), steady(3, 1500, 200), steady(6, 100, 2200), steady(2, 1500, 200), steady(6, 3000, 200))...,
	))
	require.Len(t, list, 4)
	assert.Equal(t, "throughput 1k → 1.5k, p99 2 → 2 ms same", list[0].Told(0))
	assert.Equal(t, "throughput 1.5k → 100, p99 2 → 22 ms", list[1].Told(0))
	assert.Equal(t, "unsure: it needs at least 3 s after it, and had 1", list[2].Told(0))
	assert.Equal(t, "unsure: it needs at least 3 s before it, and had 1", list[3].Told(0))
	for _, e := range list {
		assert.Empty(t, e.With)
	}
}

// What was done with another act says with which.
func TestATableNamesWhatWasDoneTogether(t *testing.T) {
	list := Effects(course(
		[]measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}, {At: 12 * time.Second, Name: "batch", From: 1, To: 10}},
		slices.Concat(steady(12, 1000, 2000), steady(8, 2000, 2000))...,
	))
	assert.Equal(t, "see the next one", list[0].Told(80))
	assert.Equal(t, "with threads 1 → 2: throughput 1k → 2k ×2, p99 20 → 20 ms same", list[1].Told(80))
	assert.Equal(t, "with the one before: throughput 1k → 2k, p99 20 → 20 ms same", list[1].Told(30))
}

// A throughput that is sure is told although p99 is not.
func TestWhatIsSureIsToldBesideWhatIsNot(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "rate", From: 2000, To: 2500}}, append(steady(10, 2000, 2000), steady(10, 2500, 2200)...)...)
	s.Segments = []Segment{late(20e6/0.66, 20e6)}
	s.Segments[0].Settings = map[string]float64{"rate": 2000}
	told := last(s)
	assert.Equal(t, "throughput 2k → 2.5k as asked, p99 20 → 22 ms (unsure); 66 % of its p99 is perfbench's own lateness", told.Outcome(120))
	assert.Equal(t, "throughput 2k → 2.5k, p99 20 → 22 ms (unsure)", told.Outcome(0))
}

// A p99 that cannot be judged leaves p50, which is judged by the same rule.
func TestP50IsToldWhereP99CannotBeJudged(t *testing.T) {
	// A fault delays each call by 20 ms at a rate: calls queue up. Before it, p99 went up and down.
	begun := func(p50, p99 []float64) *Course {
		c := course([]measure.Change{{At: 4 * time.Second, Name: "fault-delay", To: 20}}, steady(8, 2000, 0)...)
		c.Over = true
		for i := range c.Seconds {
			c.Seconds[i].Times = []Times{{P50: 1e6 * p50[i], P99: 1e6 * p99[i]}}
		}
		return c
	}
	p50 := []float64{0.2, 0.21, 0.19, 0.2, 100, 210, 279, 350}
	p99 := []float64{5, 400, 8, 230, 150, 260, 330, 420}
	c := begun(p50, p99)
	e := last(c)
	latency := e.Latency()
	assert.Equal(t, Worse, latency.Is)
	assert.Equal(t, "p50", latency.Name())
	assert.Equal(t, "throughput 2k → 2k same, p50 200 µs → 279 ms ×1.4k; p99 unsure: it needs about 16 s before it, and had 4", e.Outcome(120))
	assert.Equal(t, "throughput 2k → 2k same, p50 200 µs → 279 ms", e.Outcome(0))

	// Too few calls for a p99: screens show none, and so is none here.
	calls := func(n int64) (seg Segment) {
		seg.take(0, measure.Summary{Count: n, P50: 2e5, P99: 4e8}, measure.Summary{Count: n})
		return seg
	}
	c.Segments = []Segment{calls(8000), calls(900)}
	c.Segments[0].To, c.Segments[1].From = 4*time.Second, 4*time.Second
	e = last(c)
	assert.Equal(t, "throughput 2k → 2k same, p50 200 µs → 279 ms ×1.4k; p99 takes 1000 calls on either side", e.Outcome(120))
	c.Segments = []Segment{calls(8000), calls(19)}
	c.Segments[0].To, c.Segments[1].From = 4*time.Second, 4*time.Second
	e = last(c)
	assert.Empty(t, e.Latency().Is, "nor is there a p50")

	// A p99 that perfbench made itself says nothing of the store, and p50 does.
	c = begun(p50, []float64{300, 310, 305, 300, 400, 410, 420, 415})
	c.Segments = []Segment{late(300e6, 270e6), late(400e6, 240e6)}
	c.Segments[0].To, c.Segments[1].From = 4*time.Second, 4*time.Second
	e = last(c)
	assert.Equal(t, "throughput 2k → 2k same, p50 200 µs → 279 ms ×1.4k; p99 unsure: 90 % of it is perfbench's own lateness", e.Outcome(120))
	for _, seg := range c.Segments {
		seg.times[0], seg.late[0] = measure.Summary{Count: 8000, P50: 28e7, P99: 3e8}, measure.Summary{P50: 2e8, P99: 27e7}
	}
	e = last(c)
	assert.Equal(t, Unsure, e.Latency().Is, "p50 is mostly perfbench's own lateness, too")
}

// An operation that has too few calls for its p99 is no part of that of the slowest.
func TestAnOperationWithoutP99IsNotTheSlowest(t *testing.T) {
	c := course([]measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}}, steady(20, 1000, 0)...)
	for i := range c.Seconds {
		c.Seconds[i].Times = []Times{{Op: 0, P50: 1e6, P99: float64(2e6 + i/10*2e6)}, {Op: 1, P50: 5e5, P99: float64(i%4) * 9e8}}
	}
	seg := Segment{}
	seg.take(0, measure.Summary{Count: 9000, P50: 1e6, P90: 1e6, P95: 1e6, P99: 2e6}, measure.Summary{})
	seg.take(1, measure.Summary{Count: 90, P50: 5e5, P90: 9e8, P95: 9e8, P99: 9e8}, measure.Summary{})
	c.Segments = []Segment{seg}
	e := last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 2 → 4 ms ×2", e.Outcome(60))
}

// A percentile is of one operation on both sides, the one that had the highest on either, and says of which.
func TestAPercentileIsOfOneOperation(t *testing.T) {
	c := course([]measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}}, steady(20, 1000, 0)...)
	c.Names = named(3, func(op int) (measure.Operation, int64) {
		return []measure.Operation{{Track: "a", Op: "get"}, {Track: "a", Op: "put"}, {Track: "b", Op: "scan"}}[op], 1
	})
	set := func(f func(i int) []float64) {
		for i := range c.Seconds {
			c.Seconds[i].Times = nil
			for op, ms := range f(i) {
				if ms > 0 {
					c.Seconds[i].Times = append(c.Seconds[i].Times, Times{Op: op, P50: 1e5, P99: 1e6 * ms})
				}
			}
		}
	}
	set(func(i int) []float64 { return []float64{20, []float64{100, 10}[i/10]} })
	e := last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 of a.put 100 → 10 ms −90 %", e.Outcome(60), "it was the slowest, and is no longer")
	set(func(i int) []float64 { return []float64{20, []float64{10, 200}[i/10]} })
	e = last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 of a.put 10 → 200 ms ×20", e.Outcome(60))
	assert.Contains(t, e.Outcome(1000), "p99 of a.put per second 10 (10–10) → 200 (200–200) ms")
	assert.Equal(t, "throughput 1k → 1k same, p99 a.put 10 → 200 ms", e.Outcome(46), "without room its name is shorter, never left out")
	seg := Segment{}
	for op, n := range map[int]int64{0: 90_000, 1: 1_000} {
		seg.take(op, measure.Summary{Count: n, P50: 1e5, P90: 2e5, P95: 3e5, P99: 200e6}, measure.Summary{})
	}
	c.Segments = []Segment{seg}
	e = last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 of a.get 20 → 20 ms same", e.Outcome(60), "one in ninety calls does not stand for the run")
	seg.times[1] = measure.Summary{Count: 900, P50: 1e5, P90: 2e5, P95: 3e5, P99: 200e6}
	e = last(c)
	assert.Equal(t, "a.get", e.tail.Of(), "nor hides that of the others where it has too few")
	c.Segments = nil
	set(func(i int) []float64 {
		return []float64{20 + float64(i%2), 19 + float64(3*(i%2)), []float64{0, 500}[i/10]}
	})
	e = last(c)
	assert.Equal(t, "a.put", e.tail.Of(), "what is on one side only has nothing to compare")
	assert.InDelta(t, 22e6, e.tail.Before, 1)

	c.Names = named(2, func(op int) (measure.Operation, int64) { return measure.Operation{Op: "get"}, int64(op) })
	e = last(c)
	assert.NotContains(t, e.Outcome(1000), " of ", "only one was called")
}

func TestANameInShortIsWhatTellsAnOperationFromTheOthers(t *testing.T) {
	tracks := map[int]string{0: "eligibility.putall", 1: "profile.putall"}
	assert.Equal(t, []string{"eligibility", "profile"}, []string{brief(tracks, 0), brief(tracks, 1)})
	one := map[int]string{0: "a.get", 1: "a.put", 2: "b.get", 3: "b.del"}
	assert.Equal(t, []string{"a.get", "put", "b.get", "del"}, []string{brief(one, 0), brief(one, 1), brief(one, 2), brief(one, 3)})
	assert.Equal(t, "get", brief(map[int]string{0: "get", 1: "put"}, 0))
}

// With room, both figures are told before and after, each from its lowest to its highest
// second.
func TestAnEffectIsTwoFiguresWithTheirRanges(t *testing.T) {
	turn := []measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}}
	e, _ := Last(course(turn, append(steady(10, 1000, 2000), steady(10, 2000, 4000)...)...))
	var seconds []string
	for _, f := range e.Figures() {
		seconds = append(seconds, f.Seconds())
	}
	assert.Equal(t, []string{"994–1.01k → 1.99k–2.01k", "19.8–20.2 → 39.6–40.4 ms"}, seconds)
	assert.Equal(t, "throughput 1k (994–1.01k) → 2k (1.99k–2.01k) ×2, p99 per second 20 (19.8–20.2) → 40 (39.6–40.4) ms ×2", e.Outcome(math.MaxInt))
	assert.Equal(t, "throughput 1k → 2k ×2, p99 20 → 40 ms ×2", e.Outcome(60))
	assert.Equal(t, "throughput 1k → 2k, p99 20 → 40 ms", e.Outcome(36))

	e, _ = Last(course(turn, append(append(steady(10, 1000, 2000), [2]int64{}, [2]int64{}), steady(8, 2000, 4000)...)...))
	assert.Equal(t, "1k (994–1.01k) → 1.6k (0–2.01k)", e.rate.Ranges(), "a mean is of the seconds without anything, too, and so is its range")
}

// At a rate, throughput is what was asked for, and p99 decides.
func TestAtARateP99Decides(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "rate", From: 1000, To: 2000}}, append(steady(10, 1000, 2000), steady(10, 2000, 4000)...)...)
	s.Segments = []Segment{{Settings: map[string]float64{"rate": 1000}}}
	e, _ := Last(s)
	assert.Equal(t, "p99 20 → 40 ms ×2, throughput 1k → 2k as asked", e.Outcome(60))
}

// A p99 that is mostly perfbench's own lateness says nothing about the store, however clear its change.
func TestOwnLatenessIsNoEffect(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "payload", From: 1000, To: 2000}}, append(steady(10, 1000, 8000), steady(10, 1000, 2000)...)...)
	s.Segments = []Segment{late(80e6, 76.8e6), late(80e6, 0)}
	for i := range s.Segments { // that of another operation is none of it
		s.Segments[i].take(1, measure.Summary{Count: 8000, P99: 1000}, measure.Summary{P99: 990})
	}
	s.Segments[0].To, s.Segments[1].From = 10*time.Second, 10*time.Second
	e := last(s)
	assert.Equal(t, "throughput 1k → 1k same, p99 80 → 20 ms (unsure); 96 % of its p99 is perfbench's own lateness", e.Outcome(120))
	s.Segments[0] = late(80e6, 8e6)
	s.Segments[0].To = 10 * time.Second
	e = last(s)
	assert.Equal(t, "throughput 1k → 1k same, p99 80 → 20 ms −75 %", e.Outcome(60))

	// A fault makes each call take 20 ms where most of a short p99 was lateness: that is sure.
	s = course([]measure.Change{{At: 10 * time.Second, Name: "fault-delay", To: 20}}, append(steady(10, 1000, 100), steady(10, 1000, 2100)...)...)
	s.Segments = []Segment{late(1e6, 1e6), late(21e6, 1e6)}
	s.Segments[0].To, s.Segments[1].From = 10*time.Second, 10*time.Second
	e = last(s)
	assert.Contains(t, e.Outcome(120), "→ 21 (20.8–21.2) ms ×21")
	s.Segments[1] = late(21e6, 19e6)
	s.Segments[1].From = 10 * time.Second
	e = last(s)
	assert.Contains(t, e.Outcome(120), "(unsure); 100 % of its p99 is perfbench's own lateness")
}

// A throughput that follows its rate does so by no chance, whatever its seconds were like.
func TestThroughputThatFollowsItsRateIsSure(t *testing.T) {
	uneven := func(around int64) [][2]int64 {
		return [][2]int64{{around / 2, 2000}, {around * 3 / 2, 2000}, {around, 2000}, {around / 2, 2000}, {around * 3 / 2, 2000}}
	}
	s := course([]measure.Change{{At: 5 * time.Second, Name: "rate", From: 2000, To: 2500}}, slices.Concat(uneven(2000), uneven(2500), uneven(2500))...)
	s.Segments = []Segment{{Settings: map[string]float64{"rate": 2000}}}
	e, _ := Last(s)
	assert.Equal(t, "p99 20 → 20 ms same, throughput 2k → 2.5k as asked", e.Outcome(60))
	assert.Equal(t, Asked, e.Throughput().Is)
	s.Changes[0].To = 8000
	e, _ = Last(s)
	assert.Equal(t, Unsure, e.Throughput().Is, "it does not follow")
	s.Changes = []measure.Change{{At: 5 * time.Second, Name: "feed.rate", From: 1500, To: 1750}, {At: 5 * time.Second, Name: "profile.rate", From: 500, To: 750}}
	e, _ = Last(s)
	assert.Equal(t, Asked, e.Throughput().Is, "a change of each track adds up")
	s.Changes = []measure.Change{{At: 5 * time.Second, Name: "rate", From: 2000, To: 2500}, {At: 6 * time.Second, Name: "threads", From: 1, To: 2}}
	e, _ = Last(s)
	require.Len(t, e.With, 1)
	assert.Equal(t, Asked, e.Throughput().Is, "whatever else was turned")
}

// A throughput that comes to the rate that was set where there had been no limit is what was asked for.
func TestThroughputThatComesToItsFirstRateIsSure(t *testing.T) {
	uneven := func(around int64) [][2]int64 {
		return [][2]int64{{around / 2, 2000}, {around * 3 / 2, 2000}, {around, 2000}, {around / 2, 2000}, {around * 3 / 2, 2000}}
	}
	s := course([]measure.Change{{At: 5 * time.Second, Name: "rate", To: 2500}}, slices.Concat(uneven(4000), uneven(2550), uneven(2550))...)
	s.Segments = []Segment{{To: 5 * time.Second, Settings: map[string]float64{"rate": 0}}, {From: 5 * time.Second, Settings: map[string]float64{"rate": 2500}}}
	is := func() Judgement { e, _ := Last(s); return e.Throughput().Is }
	assert.Equal(t, Asked, is())
	s.Segments[1].Settings["rate"] = 2800
	assert.Equal(t, Unsure, is(), "it is too low")
	s.Segments[1].Settings["rate"] = 2500
	s.Seconds[6].Count *= 3
	assert.Equal(t, Asked, is(), "a second had some of what was before it")
	s.Seconds[6].Count /= 3
	s.Changes = []measure.Change{{At: 3 * time.Second, Name: "rate", To: 2000}, {At: 5 * time.Second, Name: "rate", From: 2000, To: 2500}}
	assert.Equal(t, Asked, is(), "it was turned twice")
	s.Changes = []measure.Change{{At: 5 * time.Second, Name: "feed.rate", To: 2500}}
	s.Segments[1].Settings = map[string]float64{"feed.rate": 2500, "profile.rate": 0}
	assert.Equal(t, Unsure, is(), "one track has no limit")
}

// Where less is done than the rate asks for and the backlog grows, that is told first, and is not as asked.
func TestARateThatIsNotKeptUpWithIsTold(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "rate", From: 2000, To: 2500}}, append(steady(10, 2000, 2000), steady(10, 2430, 4000)...)...)
	s.Segments = []Segment{{To: 10 * time.Second, Settings: map[string]float64{"rate": 2000}}, {From: 10 * time.Second, Settings: map[string]float64{"rate": 2500}}}
	assert.Equal(t, Asked, last(s).rate.Is)
	for i := range 10 {
		s.Seconds[10+i].Backlog = int64(70 * (i + 1))
	}
	e := last(s)
	assert.Equal(t, Better, e.Throughput().Is)
	assert.Equal(t, "asked 2.5k, got 2.43k; p99 20 → 40 ms ×2, throughput 2k → 2.43k +22 %", e.Outcome(80))
	assert.Equal(t, "asked 2.5k, got 2.43k; p99 20 → 40 ms", e.Outcome(40))
	for i := range 9 { // only the last second has one
		s.Seconds[10+i].Backlog = 0
	}
	e = last(s)
	assert.Equal(t, Asked, e.Throughput().Is)
	assert.Empty(t, e.Short())
}

// A rate that nobody turned is held: throughput is the same, however uneven its seconds are.
func TestThroughputAtAHeldRateIsTheSame(t *testing.T) {
	uneven := [][2]int64{{1000, 2000}, {3000, 2000}, {2000, 2000}, {1100, 2000}, {2900, 2000}}
	s := course([]measure.Change{{At: 5 * time.Second, Name: "threads", From: 8, To: 9}}, slices.Concat(uneven, uneven)...)
	e := last(s)
	assert.Equal(t, Unsure, e.Throughput().Is)
	s.Segments = []Segment{{Settings: map[string]float64{"rate": 2000}}}
	e = last(s)
	assert.Equal(t, Same, e.Throughput().Is)
	s.Changes[0] = measure.Change{At: 5 * time.Second, Name: "rate", From: 2000, To: 4000}
	s.Segments = []Segment{{To: 5 * time.Second, Settings: map[string]float64{"rate": 2000}}, {From: 5 * time.Second, Settings: map[string]float64{"rate": 4000}}}
	e = last(s)
	assert.Equal(t, Unsure, e.Throughput().Is, "it does not follow")
}

// What is unsure says when it will be known, or what that would take.
func TestWhatIsUnsureSaysWhatItLacks(t *testing.T) {
	unsettled := func(n int, p99 int64) (out [][2]int64) {
		for i := range n {
			out = append(out, [2]int64{1000, p99 + []int64{0, 300, -250, 90, -180, 200}[i%6]})
		}
		return out
	}
	for _, c := range []struct {
		name          string
		before, after int
		p99           int64
		want          string
	}{
		{"soon", 30, 5, 2240, "throughput 1k → 1k same, p99 20.9 → 22.4 ms (unsure); known in about 10 s"},
		{"too few before", 6, 6, 2240, "throughput 1k → 1k same, p99 20.9 → 23.3 ms (unsure); it needs about 8 s before it, and had 6"},
		{"too small", 30, 30, 2050, "throughput 1k → 1k same, p99 20.9 → 21.4 ms (unsure); turn it further"},
	} {
		t.Run(c.name, func(t *testing.T) {
			turn := []measure.Change{{At: time.Duration(c.before) * time.Second, Name: "threads", From: 1, To: 2}}
			e, _ := Last(course(turn, append(unsettled(c.before, 2000), unsettled(c.after, c.p99)...)...))
			assert.Equal(t, c.want, e.Outcome(95))
		})
	}
}

// Where a few slow seconds make the p99 of all calls, which other panels show, it stands beside that of the median
// second; where there is little room, numbers go first.
func TestSlowSecondsAreToldBesideTheMedianOne(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}}, append(steady(10, 1000, 8000), steady(10, 1000, 2000)...)...)
	s.Segments = []Segment{late(80e6, 0), late(900e6, 0)}
	s.Segments[0].To, s.Segments[1].From = 10*time.Second, 10*time.Second
	e := last(s)
	const slow = "p99 of all its calls since is 900 ms: some seconds were slow"
	assert.Equal(t, "throughput 1k → 1k same, p99 80 → 20 ms −75 %; "+slow, e.Outcome(110))
	assert.Equal(t, "throughput 1k → 1k same, p99 80 → 20 ms −75 %", e.Outcome(60))
	assert.Equal(t, slow, e.Slow())
	s.Segments[1] = late(30e6, 0)
	s.Segments[1].From = 10 * time.Second
	e = last(s)
	assert.Empty(t, e.Slow(), "about as much")
}

// What would settle it is said in a few words where there is no room for more of them, but not of a run that is over.
func TestWhatWouldSettleItIsSaidInFewWords(t *testing.T) {
	turn := []measure.Change{{At: 30 * time.Second, Name: "threads", From: 1, To: 2}}
	seconds := func(after int) (out [][2]int64) {
		for i := range 30 + after {
			p99 := int64(2000)
			if i >= 30 {
				p99 = 2240
			}
			out = append(out, [2]int64{1000, p99 + []int64{0, 300, -250, 90, -180, 200}[i%6]})
		}
		return out
	}
	c := course(turn, seconds(5)...)
	e := last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 20.9 → 22.4 ms (unsure); 10 s more", e.Outcome(65))
	c.Over = true
	e = last(c)
	assert.Equal(t, "throughput 1k → 1k same, p99 20.9 → 22.4 ms (unsure); needs 15 s", e.Outcome(65))
	c.Over = false
	for i := range c.Seconds { // neither figure is sure
		c.Seconds[i].Count += []float64{0, 150, -125, 45, -90, 100}[i%6]
	}
	e = last(c)
	assert.Equal(t, "unsure: throughput 1.01k → 996, p99 20.9 → 22.4 ms; turn it further", e.Outcome(72))
	c.Changes[0].Name = "fault-delay"
	e = last(c)
	assert.False(t, e.further(), "nobody turns a fault further")
}

// A phase that begins is another load: it is no part of what a knob did.
func TestAnEffectEndsWithItsPhase(t *testing.T) {
	s := course([]measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2}}, append(append(steady(10, 1000, 2000), steady(4, 1500, 2000)...), steady(6, 9000, 100)...)...)
	s.Phases = []time.Duration{14 * time.Second}
	e, _ := Last(s)
	assert.Equal(t, "throughput 1k → 1.5k, p99 20 → 20 ms same", e.Outcome(0))
}

func TestPressesCloseTogetherAreOneChange(t *testing.T) {
	at := func(ms int, from, to float64) measure.Change {
		return measure.Change{At: time.Duration(ms) * time.Millisecond, Name: "threads", From: from, To: to}
	}
	s := course([]measure.Change{at(2000, 1, 16), at(15200, 16, 17), at(15900, 17, 18)}, append(steady(16, 100, 1000), steady(4, 200, 1000)...)...)
	e, ok := Last(s)
	require.True(t, ok)
	assert.InDelta(t, 16, e.From, 0)
	assert.InDelta(t, 18, e.To, 0)
	assert.Equal(t, 13, e.before.seconds)
	assert.Equal(t, 4, e.after.seconds)
	assert.False(t, math.IsNaN(e.after.rate))
}

func TestAChangeOfSeveralTracksIsToldWhole(t *testing.T) {
	phase := workload.Phase{}
	for _, name := range []string{"feed", "profile", "claims"} {
		phase.Tracks = append(phase.Tracks, workload.Track{Name: name, Start: workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100}})
	}
	plan := &workload.Plan{Knobs: []workload.Knob{workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("entries")}, Phases: []workload.Phase{phase}}
	at := func(ms int, name string, from, to float64, by string) measure.Change {
		return measure.Change{At: time.Duration(ms) * time.Millisecond, Name: name, From: from, To: to, By: by}
	}
	for _, c := range []struct {
		name    string
		changes []measure.Change
		want    string
	}{
		{"one track", []measure.Change{at(0, "feed.payload", 1024, 2048, "workbench")}, "feed payload 1 KiB → 2 KiB"},
		{
			"all tracks, each from where it stands",
			[]measure.Change{at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, "")},
			"payload 1 KiB–10 KiB → 2 KiB–20 KiB",
		},
		{
			"twice",
			[]measure.Change{
				at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, ""),
				at(300, "feed.payload", 2048, 4096, ""), at(300, "profile.payload", 20480, 40960, ""), at(300, "claims.payload", 8192, 16384, ""),
			},
			"payload 1 KiB–10 KiB → 4 KiB–40 KiB",
		},
		{
			"two of three",
			[]measure.Change{at(0, "profile.threads", 16, 20, ""), at(100, "feed.threads", 16, 8, "")},
			"feed, profile threads 16 → 8–20",
		},
		{
			"a total after a track",
			[]measure.Change{at(0, "feed.threads", 16, 8, ""), at(100, "threads", 40, 41, "")},
			"threads 40 → 41",
		},
		{
			"a total taken back",
			[]measure.Change{at(0, "feed.rate", 3000, 1250, "undo"), at(0, "profile.rate", 2000, 1250, "undo"), at(0, "claims.rate", 1000, 500, "undo")},
			"undo: rate 6\u2009000 → 3\u2009000",
		},
		{
			"a limit for each track",
			[]measure.Change{at(0, "feed.rate", 0, 1250, ""), at(0, "profile.rate", 0, 1000, ""), at(0, "claims.rate", 0, 750, "")},
			"rate unlimited → 3\u2009000",
		},
		{
			"no limit is the highest rate",
			[]measure.Change{at(0, "feed.rate", 0, 500, ""), at(0, "profile.rate", 100, 500, ""), at(0, "claims.rate", 100, 500, "")},
			"rate 100–unlimited → 500",
		},
		{
			"a reset",
			[]measure.Change{at(0, "feed.threads", 20, 16, "reset"), at(0, "feed.batch", 5, 100, "reset"), at(0, "profile.batch", 5, 100, "reset")},
			"every knob reset",
		},
		{
			"another knob just before",
			[]measure.Change{at(10000, "threads", 20, 16, ""), at(10100, "feed.batch", 5, 100, ""), at(10100, "profile.batch", 5, 100, ""), at(10100, "claims.batch", 5, 100, "")},
			"threads 20 → 16, batch 5 → 100 together",
		},
		{
			"there and back",
			[]measure.Change{at(10000, "threads", 16, 32, ""), at(12500, "threads", 32, 16, "undo")},
			"threads back to 16 (2 changes)",
		},
		{
			"many",
			[]measure.Change{at(10000, "threads", 16, 32, ""), at(10500, "payload", 1024, 2048, ""), at(10900, "batch", 1, 10, ""), at(11200, "payload", 2048, 4096, "")},
			"threads, payload, batch (4 changes)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := course(c.changes, steady(20, 1000, 2000)...)
			run.Segments[0].Settings = workload.ByName(plan.Knobs, plan.Tracks(), workload.Starts(plan.Tracks()))
			e, ok := Last(run)
			require.True(t, ok)
			assert.Equal(t, c.want, e.What())
		})
	}
}

// A change that came back to where it was says so.
func TestChangesInWords(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to float64
		want     string
	}{
		{"rate", 2500, 2000, "rate 2\u2009500 → 2\u2009000"},
		{"feed.payload", 1024, 2048, "feed payload 1 KiB → 2 KiB"},
		{"payload", 1024, 1024, "payload back to 1 KiB"},
		{"paused", 0, 1, "paused"},
		{"feed.paused", 1, 0, "feed resumed"},
		{"fault-delay", 0, 5, "delay:5ms"},
		{"fault-delay", 5, 0, "delay healed"},
		{"fault-kill", 0, 2, "kill:primary"},
		{"fault-pause", 0, 1, "pause"},
	} {
		assert.Equal(t, c.want, Turned(c.name, c.from, c.to, nil))
	}
	assert.Equal(t, "threads 32", Brief(measure.Change{Name: "threads", From: 16, To: 32}, nil))
	assert.Equal(t, "delay healed", Brief(measure.Change{Name: "fault-delay", From: 5}, nil))
}

func TestAFaultIsNamedAsItIsAskedFor(t *testing.T) {
	loss := workload.FaultKinds()[2]
	act := func(name string, to float64) measure.Act {
		return measure.Act{Change: measure.Change{Name: name, To: to}}
	}
	e := Effect{Act: act(loss.Setting(), 0), With: []measure.Act{act("threads", 0), act(loss.Setting(), 1)}}
	assert.Equal(t, "loss, threads", e.Knobs())
}

// On a crowded machine a difference is sure only where it is more than others may make, and windows
// that differ from each other before a change make a difference unsure.
func TestWhatMayBeNoiseIsUnsure(t *testing.T) {
	turn := []measure.Change{{At: 30 * time.Second, Name: "payload", From: 1024, To: 2048}}
	crowd := func(after ...[2]int64) Effect {
		c := course(turn, append(steady(30, 19_700, 240), after...)...)
		c.Crowded = true
		return last(c)
	}
	e := crowd(steady(20, 32_000, 122)...)
	assert.Equal(t, "throughput 19.7k → 32k (unsure), p99 2.4 → 1.22 ms (unsure); other processes use this machine, which may be as much as that", e.Outcome(150))
	e = crowd(steady(20, 4_000, 131_000)...)
	assert.Equal(t, "throughput 19.7k → 4k −80 %, p99 2.4 ms → 1.31 s ×546", e.Outcome(70))

	drifting := slices.Concat(steady(8, 20_000, 240), steady(8, 30_000, 240), steady(8, 21_000, 240), steady(6, 29_000, 240), steady(15, 36_000, 240))
	e = last(course(turn, drifting...))
	assert.Equal(t, Unsure, e.Throughput().Is)
	assert.Equal(t, Same, e.Latency().Is)
	assert.NotEmpty(t, e.Lacks())
}

// What was sure and is not after more seconds, or as others are on the machine, says so, and what it was: it
// is neither kept nor dropped in silence. What was never sure is just that.
func TestWhatIsNoLongerSureSaysSo(t *testing.T) {
	turn := []measure.Change{{At: 16 * time.Second, Name: "threads", From: 1, To: 2}}
	wild := [][2]int64{{700, 2000}, {1400, 2020}, {650, 1990}, {1450, 2000}}
	seconds := slices.Concat(steady(16, 1000, 2000), steady(8, 1500, 2000), wild, wild)
	list := make([]Effect, len(seconds)+1)
	for n := 17; n <= len(seconds); n++ { // as a run goes on
		list[n] = last(course(turn, seconds[:n]...))
		list[n].Since(&list[n-1])
	}
	assert.Equal(t, "so far throughput 1k → 1.5k +50 %, p99 20 → 20 ms same", list[20].Outcome(95))
	sure := list[24]
	assert.Equal(t, "throughput 1k → 1.5k +50 %, p99 20 → 20 ms same", sure.Outcome(95))
	now := list[len(seconds)]
	require.Equal(t, Unsure, now.Throughput().Is)
	assert.Contains(t, now.Outcome(200), " (unsure now); its seconds vary too much to tell: turn it further; throughput was sure after 8 s (1k → 1.5k)")
	assert.Equal(t, "p99 20 → 20 ms same, throughput 1k → 1.28k (unsure now)", now.Outcome(55))
	assert.NotContains(t, now.Outcome(0), "now", "numbers are not cut for it")
	fresh := last(course(turn, seconds...))
	assert.NotContains(t, fresh.Outcome(200), "now")

	c := course(turn, seconds[:24]...)
	c.Crowded = true
	crowded := last(c)
	crowded.Since(&sure)
	assert.Contains(t, crowded.Outcome(200), " (unsure now); other processes use this machine, which may be as much as that; throughput was sure after 8 s (1k → 1.5k)")
	sure.Since(&crowded)
	assert.NotContains(t, sure.Outcome(200), "now", "it is again")

	together := fresh
	together.With = []measure.Act{fresh.Act}
	together.Since(&sure)
	assert.NotContains(t, together.Outcome(200), "now", "it is another effect")
}

// Every change of a run has its effect: those too close to the next one are told with that.
func TestEachChangeHasItsEffect(t *testing.T) {
	turn := func(at int, name string, from, to float64) measure.Change {
		return measure.Change{At: time.Duration(at) * time.Second, Name: name, From: from, To: to, By: "workbench", Segment: at / 10}
	}
	c := course([]measure.Change{turn(10, "threads", 1, 2), turn(20, "payload", 1024, 65536), turn(21, "batch", 1, 2), turn(31, "paused", 0, 1)},
		slices.Concat(steady(10, 1000, 2000), steady(10, 2000, 2000), steady(1, 5000, 90), steady(10, 500, 8000), steady(2, 1, 1))...)
	c.Over = true
	var told []string
	for _, e := range Effects(c) {
		told = append(told, e.Text()+": "+e.Told(70))
	}
	assert.Equal(t, []string{
		"threads 1 → 2: throughput 1k → 2k ×2, p99 20 → 20 ms same",
		"payload 1 KiB → 64 KiB: see the next one",
		"batch 1 → 2: with payload 1 KiB → 64 KiB: throughput 2k → 500, p99 20 → 80 ms",
		"paused: ",
	}, told)
}

// A change is judged by what was before something else happened to the store, and so is the next one.
func TestAnOutageIsNoEffectOfAChangeBeforeIt(t *testing.T) {
	at := func(s int) time.Duration { return time.Duration(s)*time.Second + 20*time.Millisecond }
	turn := func(s int, from, to float64) measure.Change {
		return measure.Change{At: at(s), Name: "rate", From: from, To: to, By: "workbench"}
	}
	down := [][2]int64{{12000, 100}, {0, 0}, {0, 0}, {0, 0}, {7000, 9000}} // as calls fail at once, none is behind
	ran := func(seconds int, changes ...measure.Change) *Course {
		list := slices.Concat(steady(10, 221000, 5000), steady(8, 20200, 100), down, steady(10, 20200, 100), steady(10, 10000, 100))
		c := course(changes, list[:seconds]...)
		c.outages()
		return c
	}
	e := last(ran(17, turn(10, 0, 20000)))
	require.Equal(t, Worse, e.Throughput().Is)
	for _, seconds := range []int{18, 19, 20, 21, 22, 23, 33} {
		e := last(ran(seconds, turn(10, 0, 20000)))
		assert.Equal(t, Worse, e.Throughput().Is, "%d: %s", seconds, e.Outcome(200))
		assert.Equal(t, Better, e.Latency().Is, "%d: %s", seconds, e.Outcome(200))
		assert.InDelta(t, 20200, e.Throughput().After, 1000, "%d", seconds)
	}
	e = last(ran(43, turn(10, 0, 20000), turn(33, 20000, 10000)))
	assert.Equal(t, Worse, e.Throughput().Is, e.Outcome(200))
	assert.InDelta(t, 20200, e.Throughput().Before, 20, "without the outage before it")

	e = last(ran(23, turn(16, 0, 20000)))
	assert.Equal(t, Unsure, e.Throughput().Is, "one that comes at once may be what the change did: %s", e.Outcome(200))
}

// A store that stood still and was fast until what had waited was done has changed nothing: neither before
// a turn nor after it, nor after a fault.
func TestWhatAStopHeldUpIsNoEffect(t *testing.T) {
	at := func(s int) time.Duration { return time.Duration(s)*time.Second + 20*time.Millisecond }
	// 500 a second; none from 9.4 to 15.2, of which the backlog is worked off until 17.
	ran := func(changes ...measure.Change) *Course {
		c := course(changes, steady(40, 500, 100)...)
		c.Segments[0].Settings["rate"] = 500
		for i, n := range []float64{200, 0, 0, 0, 0, 0, 110, 3690, 500} {
			c.Seconds[9+i].Count = n
		}
		for i, n := range []int64{300, 800, 1300, 1800, 2300, 2800, 3190, 0, 0} {
			c.Seconds[9+i].Backlog = n
		}
		c.catchUps()
		return c
	}
	threads := func(s int) measure.Change {
		return measure.Change{At: at(s), Name: "threads", From: 1, To: 2, By: "workbench"}
	}
	for _, s := range []int{15, 16, 22, 36} {
		e := last(ran(threads(s)))
		assert.Equal(t, Same, e.Throughput().Is, "%d: %s", s, e.Outcome(200))
		assert.InDelta(t, 500, e.Throughput().Before, 10, "%d", s)
		assert.InDelta(t, 500, e.Throughput().After, 10, "%d", s)
	}
	c := ran(measure.Change{At: at(10), Name: "fault-pause", To: 1, By: "timetable"}, measure.Change{At: at(15), Name: "fault-pause", From: 1, By: "timetable"})
	e := last(c)
	assert.InDelta(t, 500, e.Throughput().After, 10, "%s", e.Outcome(200))
	assert.True(t, c.CatchesUp(16*time.Second, 17*time.Second))
	assert.False(t, c.CatchesUp(17*time.Second, 40*time.Second))
	assert.False(t, c.CatchesUp(0, 15*time.Second), "it has not begun")

	slow := ran(threads(8)) // a stop after a turn may be what it did
	assert.True(t, slow.Seconds[12].stood)
	late := last(slow)
	assert.Equal(t, Unsure, late.Throughput().Is)

	behind := course(nil, steady(10, 500, 100)...) // what is too much for a store is no stop
	for i := range behind.Seconds {
		behind.Seconds[i].Backlog = int64(100 * i)
	}
	behind.catchUps()
	assert.False(t, behind.CatchesUp(0, time.Minute))
}

// A change of more than ten times is sure where no second after it comes near one before it, however much these
// differ, and also if nothing was done in one.
func TestAClearChangeIsSure(t *testing.T) {
	turn := []measure.Change{{At: 6 * time.Second, Name: "threads", From: 10, To: 3000}}
	uneven := [][2]int64{{40_000, 19_000}, {50_000, 31_700}, {58_000, 38_100}, {35_000, 9_700}, {51_000, 3_000}, {45_000, 35_400}}
	e := last(course(turn, slices.Concat(uneven, [][2]int64{{800, 104_000}, {0, 0}, {5_000, 326_000}, {28_000, 395_000}, {13_000, 433_000}, {5_000, 510_000}})...))
	assert.Equal(t, "so far p99 317 ms → 3.95 s ×12, throughput 46.5k → 8.63k (unsure); nothing was done for a while", e.Outcome(100))
	e = last(course(turn, slices.Concat(uneven, [][2]int64{{800, 70_000}, {0, 0}, {5_000, 326_000}, {28_000, 395_000}})...))
	assert.Equal(t, Unsure, e.Latency().Is, "that is near")
	e = last(course(turn, slices.Concat(uneven, [][2]int64{{800, 104_000}, {0, 0}, {5_000, 136_000}, {28_000, 195_000}})...))
	assert.Equal(t, Unsure, e.Latency().Is, "that is less than ten times as much")
}

// Seconds that differ by several times and resemble their neighbours are hardly ever taken for a change.
func TestUnevenSecondsAreNoChange(t *testing.T) {
	const tries = 2000
	r := rand.New(rand.NewPCG(1, 2))
	alarms := 0
	for range tries {
		var seconds [][2]int64
		v := r.NormFloat64()
		for range 12 {
			v = 0.6*v + 0.8*r.NormFloat64()
			seconds = append(seconds, [2]int64{1000, int64(5000 * math.Exp(v))})
		}
		e := last(course([]measure.Change{{At: 6 * time.Second, Name: "threads", From: 1, To: 2}}, seconds...))
		if f := e.Latency(); f.Moved() {
			alarms++
		}
	}
	assert.Less(t, float64(alarms)/tries, 0.05)
}

// What leaves every knob as it was has no effect, whatever happened at that time.
func TestWhatIsAsBeforeHasNoEffect(t *testing.T) {
	turn := func(at time.Duration, name string, from, to float64) measure.Change {
		return measure.Change{At: at, Name: name, From: from, To: to, By: "workbench"}
	}
	second := time.Second
	told := func(changes ...measure.Change) string {
		e := last(course(changes, slices.Concat(steady(20, 1000, 2000), steady(10, 1000, 4000))...))
		return e.Outcome(0)
	}
	assert.Equal(t, "as before", told(turn(20*second, "payload", 10, 20), turn(20*second+second/2, "payload", 20, 10)), "one act")
	assert.Equal(t, "as before", told(turn(19*second, "payload", 10, 20), turn(21*second, "payload", 20, 10)), "two together")
	assert.Equal(t, "throughput 1k → 1k same, p99 20 → 40 ms", told(turn(20*second, "threads", 10, 20), turn(20*second+second/2, "threads", 20, 11)))
	assert.Equal(t, "throughput 1k → 1k same, p99 20 → 40 ms", told(turn(10*second, "threads", 10, 20), turn(20*second, "threads", 20, 10)), "each had its seconds")
	assert.Equal(t, "throughput 1k → 1k same, p99 20 → 40 ms", told(turn(20*second, "fault-delay", 0, 20), turn(20*second+second/2, "fault-delay", 20, 0)), "a store may remember a fault")
}

// A larger payload does not have more done, nor a smaller one less.
func TestWhatAPayloadDoesNotDoIsUnsure(t *testing.T) {
	told := func(knob string, to float64, rate, p99 int64) string {
		c := course([]measure.Change{{At: 10 * time.Second, Name: knob, From: 10, To: to, By: "workbench"}}, slices.Concat(steady(10, 1000, 2000), steady(10, rate, p99))...)
		c.Over = true
		e := last(c)
		return e.Outcome(math.MaxInt)
	}
	const odd = "; the payload alone would not do that: turn it back to see"
	assert.Equal(t, "throughput 1k (994–1.01k) → 1.3k (1.29k–1.31k) (unsure), p99 per second 20 (19.8–20.2) → 10 (9.9–10.1) ms (unsure)"+odd, told("payload", 20, 1300, 1000))
	assert.Equal(t, "throughput 1k (994–1.01k) → 700 (694–707) (unsure), p99 per second 20 (19.8–20.2) → 40 (39.6–40.4) ms (unsure)"+odd, told("payload", 5, 700, 4000))
	for _, plain := range []string{told("payload", 20, 700, 4000), told("payload", 20, 700, 1000), told("payload", 5, 1300, 1000), told("threads", 20, 1300, 1000)} {
		assert.NotContains(t, plain, "unsure")
	}
}

// A rate that is set or lifted changes what response times count, so that service times are compared.
func TestARateIsJudgedByServiceTimes(t *testing.T) {
	did := func(knob string, from, to float64) Effect {
		c := course([]measure.Change{{At: 10 * time.Second, Name: knob, From: from, To: to, By: "workbench"}}, slices.Concat(steady(10, 1000, 2000), steady(10, 1000, 90000))...)
		for i := range c.Seconds {
			c.Seconds[i].Times[0].Service = 3e6
		}
		return last(c)
	}
	set, lifted, more, threads := did("rate", 0, 1000), did("rate", 1000, 0), did("rate", 1000, 2000), did("threads", 0, 2)
	assert.Contains(t, set.Counts(), "also count the wait for a free thread")
	assert.Contains(t, lifted.Counts(), "no call waits for a free thread")
	assert.Empty(t, more.Counts())
	assert.Empty(t, threads.Counts())
	assert.Equal(t, "throughput 1k → 1k same, service p99 3 → 3 ms same", set.Outcome(60))
	assert.Contains(t, lifted.Outcome(60), "service p99 3 → 3 ms same")
	assert.Contains(t, more.Outcome(80), "p99 20 → 900 ms")
	assert.NotContains(t, threads.Outcome(80), "service")
}
