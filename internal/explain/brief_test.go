package explain

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// What held the run back is the first of the figures and the only one marked, and a line names it with its figure.
func TestTheLimitComesFirst(t *testing.T) {
	t.Parallel()
	f := recorded()
	sample(f, rundir.OfStore, "main_thread_cpu_cores", 0.89)
	p := Of(f).Parts[0]
	require.Len(t, p.Uses, 3)
	assert.Equal(t, rundir.Use{What: "store's main thread", Used: p.Uses[0].Used, Of: 1, Unit: "processors", Limit: true}, p.Uses[0])
	assert.InDelta(t, 0.89, p.Uses[0].Used, 1e-9)
	assert.False(t, p.Uses[1].Limit || p.Uses[2].Limit)
	assert.Equal(t, "the store's main thread: 0.89 of 1 processor", Brief(&p))
	assert.Equal(t, "The store's main thread held the run back.", p.Text)
	assert.Empty(t, Besides(&p), "the figures say it all")

	old := rundir.WhyPart{Resource: Client, Text: "The processors of perfbench held the run back.", Evidence: []string{"perfbench used 2 of 2"}}
	assert.Equal(t, Client, Limit(&old))
	assert.Equal(t, "The processors of perfbench held the run back", Brief(&old))
	assert.Equal(t, []string{"The processors of perfbench held the run back.", "Perfbench used 2 of 2."}, Besides(&old))
}

// Periods of a search are one, those that are alike, too, and of many the longest are listed.
func TestPeriodsAreListed(t *testing.T) {
	t.Parallel()
	w := &rundir.Why{}
	add := func(long float64, p rundir.WhyPart) {
		if n := len(w.Parts); n > 0 {
			p.From = w.Parts[n-1].To
		}
		p.To = p.From + long
		w.Parts = append(w.Parts, p)
	}
	search := rundir.WhyPart{Resource: Pacing, Limit: searchLimit, Hint: searchHint, Text: searchPace}
	add(10, search)
	add(5, rundir.WhyPart{Resource: Thread, Limit: "the store's main thread", Text: "Text."})
	add(10, search)
	list, others := Periods(w)
	assert.Zero(t, others)
	assert.Equal(t, []Period{{0, 25, searchLimit}}, list, "no times overlap")

	assert.Equal(t, searchPace+" From 00:10 to 00:15 of the run: Text.", Paragraph(w), "what a search set is said once")

	w = &rundir.Why{}
	for i := range 12 {
		add(float64(12-i), rundir.WhyPart{Limit: fmt.Sprint("limit ", i)})
	}
	list, others = Periods(w)
	assert.Equal(t, 4, others)
	require.Len(t, list, mostPeriods)
	assert.Equal(t, "limit 0", list[0].Text)
	assert.Equal(t, "limit 7", list[7].Text, "the shortest are left out")
}

// A run has one limit with the figures of all of its time, or says for how long each of several was there.
func TestARunHasOneLimit(t *testing.T) {
	t.Parallel()
	rate := func(from, to, of float64) rundir.WhyPart {
		return rundir.WhyPart{From: from, To: to, Resource: Pacing, Limit: "the requested rate", Hint: "no resource was at its limit", Uses: []rundir.Use{
			{What: "requested rate", Used: of, Of: of, Unit: "entries/s", Limit: true}, {What: "perfbench", Used: of / 1000, Of: 2, Unit: rundir.UsedProcessors},
		}}
	}
	full := rundir.WhyPart{From: 10, To: 25, Resource: Machine, Limit: "the processors of this machine", Uses: []rundir.Use{{What: "this machine", Used: 1.9, Of: 2, Unit: rundir.UsedProcessors, Limit: true}}}
	pause := rundir.WhyPart{From: 25, To: 30, Resource: Pacing, Limit: "a pause", Text: pausedText}
	for _, c := range []struct {
		want  string
		parts []rundir.WhyPart
	}{
		{"", nil},
		{"the requested rate: 1k of 1k entries/s; no resource was at its limit", []rundir.WhyPart{rate(0, 10, 1000)}},
		{"the requested rate: 1.75k of 1.75k entries/s; no resource was at its limit", []rundir.WhyPart{rate(0, 10, 1000), rate(10, 40, 2000)}},
		{"the requested rate for 10 s, then the processors of this machine for 15 s", []rundir.WhyPart{rate(0, 10, 1000), full, pause}},
		{"the requested rate for 20 s, the processors of this machine for 15 s", []rundir.WhyPart{rate(0, 10, 1000), full, rate(25, 35, 3000)}},
		{"a pause", []rundir.WhyPart{pause}},
		{"the processors of this machine", []rundir.WhyPart{full}},
	} {
		w := &rundir.Why{Parts: c.parts}
		assert.Equal(t, c.want, Limited(w, func(resource string) bool { return resource == Machine }))
	}
	dead := &rundir.Why{Parts: []rundir.WhyPart{full, rate(25, 60, 1000)}, Coincidences: []rundir.Coincidence{{At: 9, Until: 10.2, Outage: true}, {At: 30, Until: 36, Outage: true}, {At: 40, Until: 45}, {At: 59.8, Until: 70, Outage: true, Own: true}}}
	assert.Equal(t, "the requested rate for 29 s, the processors of this machine for 15 s, an outage for 6 s", Limited(dead, nil), "the rate held nothing back while nothing was done")
	periods, _ := Periods(dead)
	assert.Equal(t, []Period{{10, 25, "the processors of this machine: 1.9 of 2 processors"}, {25, 30, "the requested rate: 1k of 1k entries/s"}, {30, 36, "an outage"}, {36, 60, "the requested rate: 1k of 1k entries/s"}}, periods)
	dead.Coincidences[1].Own, dead.Coincidences[1].At, dead.Coincidences[1].Until = true, 20, 59.7
	assert.Equal(t, "the processors of this machine for 10 s, then perfbench itself did not run for 40 s", Limited(dead, nil))

	list := Limits(&rundir.Why{Parts: []rundir.WhyPart{rate(0, 10, 1000), full, rate(25, 35, 3000)}})
	main := Main(list)
	assert.InDelta(t, 2000, main.Uses[0].Used, 1e-9, "the mean of both periods")
	assert.InDelta(t, 2, main.Uses[1].Used, 1e-9)
	assert.Equal(t, "Used in the 20 s limited by the requested rate:", main.Meanwhile())
}
