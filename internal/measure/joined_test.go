package measure

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is one of several that share a rate: how its calls come, and from when on in the second
// of two segments.
type process struct {
	gap    func() float64 // in means
	begins func(due int64) (start, late int64)
	turns  int64
}

// tell has the parts of a process for each second of a minute of 400 calls a second.
func (p process) tell() (seconds [][]IncrementArrivals, own *arrivals) {
	own = &arrivals{news: new([openSpans]spanCounts)}
	second := int64(time.Second)
	for due := p.gap() * 2.5e6; due < 60e9; due += p.gap() * 2.5e6 {
		for int64(due) > int64(len(seconds)+1)*second {
			seconds = append(seconds, own.part(0))
		}
		start, late := p.begins(int64(due))
		c := &Call{Due: int64(due), Start: start, Late: late}
		if int64(due) >= p.turns {
			c.Segment = 1
		}
		own.add(c)
	}
	return append(seconds, own.part(0)), own
}

// What processes tell of each second says the same of each as it knows itself, also if they do
// not begin a segment at one time; and what they say together is how the store sees calls come.
func TestArrivalsAtSeveralProcesses(t *testing.T) {
	prompt := func(due int64) (int64, int64) { return due + 30_000, 30_000 }
	heaped := func(due int64) (int64, int64) { // 40 ms of calls at once
		at := (due/40e6 + 1) * 40e6
		return at, at - due
	}
	poisson := func(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 9)).ExpFloat64 }
	even := func() float64 { return 1 }
	for name, c := range map[string]struct {
		all         []process
		dispersion  float64
		late        []float64
		lateOfWhole float64
	}{
		"independent":   {[]process{{poisson(1), prompt, 30e9}, {poisson(2), prompt, 30.02e9}, {poisson(3), prompt, 29.9e9}}, 1, []float64{0, 0, 0}, 0},
		"even":          {[]process{{even, prompt, 30e9}, {even, prompt, 30.004e9}, {even, prompt, 29.99e9}}, 0, []float64{0, 0, 0}, 0},
		"one is uneven": {[]process{{poisson(1), prompt, 30e9}, {poisson(2), heaped, 30e9}, {poisson(3), prompt, 30e9}}, 1, []float64{0, 0.5, 0}, 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			var each []Joined
			var parts [][][]IncrementArrivals
			var own []*arrivals
			for _, p := range c.all {
				told, knows := p.tell()
				each, parts, own = append(each, Joined{}), append(parts, told), append(own, knows)
			}
			var all Joined
			for second := range parts[0] {
				for i, told := range parts {
					all.Add(told[second])
					each[i].Add(told[second])
				}
			}
			for segment := range 2 {
				for i := range each {
					want, ok := own[i].in(segment)
					require.True(t, ok)
					got, ok := each[i].In(0, segment)
					require.True(t, ok)
					assert.Equal(t, want.Span, got.Span)
					assert.InDelta(t, want.Spans, got.Spans, 2)
					assert.InDelta(t, want.Mean, got.Mean, 0.02)
					assert.InDelta(t, want.Asked, got.Asked, 0.01)
					assert.InDelta(t, c.late[i], got.Late, 0.2*c.late[i]+0.01, "process %d", i+1)
				}
				got, ok := all.In(0, segment)
				require.True(t, ok)
				assert.Equal(t, 10*time.Millisecond, got.Span, "together they have enough in the shortest")
				assert.InDelta(t, 12, got.Mean, 0.2)
				assert.InDelta(t, c.dispersion, got.Asked, 0.12)
				assert.InDelta(t, c.lateOfWhole, got.Late, 0.2*c.lateOfWhole+0.01)
			}
			told := all.All([]string{"puts"})
			require.Len(t, told, 2)
			assert.Equal(t, []int{0, 1}, []int{told[0].Segment, told[1].Segment})
			assert.Equal(t, "puts", told[1].Track)
		})
	}
}

// Nothing is lost but what can have no place, and no other process can have the sums grow without
// bounds.
func TestArrivalsThatCannotBe(t *testing.T) {
	fine := IncrementArrivals{First: 3, From: 3, Counts: []int64{1, 1, 1, 2, 2, 2}}
	assert.True(t, fine.sound(0, 1))
	for name, bad := range map[string]IncrementArrivals{
		"no such track":      {Track: 1},
		"before measurement": {First: -1},
		"before the segment": {First: 5, From: 4},
		"to come":            {From: 1 << 40},
		"half a span":        {Counts: []int64{1, 2}},
		"fewer than none":    {Counts: []int64{1, 1, -1}},
		"more than can be":   {Counts: []int64{1, 1, 1 << 40}},
		"too many":           {Counts: make([]int64, perSpan*(openSpans+1))},
	} {
		assert.False(t, bad.sound(0, 1), name)
	}
	var j Joined
	j.Add([]IncrementArrivals{{Segment: 2, First: 3, From: 3, Counts: []int64{1, 1, 1}}, {Segment: 0, First: 3, From: 3, Counts: []int64{1, 1, 1}}})
	assert.Empty(t, j.All([]string{"puts"}))
	_, ok := j.In(4, 0)
	assert.False(t, ok)
}
