package compare

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// A run whose settings were turned as it went is described beside one of a constant load, and not judged; two that
// were turned alike are.
func TestRunsOfAnotherLoadAreNotJudged(t *testing.T) {
	t.Parallel()
	run := func(changes int, turned map[string]Span) *Run {
		r := *read(t, rundirtest.NewFolder(day, "redis", 16, 1))
		r.Conditions.Changes, r.Conditions.Turned = changes, turned
		r.Conditions.Settings = maps.Clone(r.Conditions.Settings)
		r.Conditions.Settings["threads"], r.Conditions.Settings["rate"] = 8, 0
		return &r
	}
	ramp := run(9, map[string]Span{"threads": {8, 60}, "rate": {2000, 0}})
	c := Sets(one(ramp), one(run(0, nil)), Options{Unsure: Fail})
	answer := c.Answer(c.Parts[0])
	assert.Regexp(t, `^Not the same load: rate 2k – unlimited / unlimited, threads 8–60 / 8 \(A changed live\), so no figure is judged: run A again without its changes\. B beside A: entries/s .*, p50 .* and p99 `, answer)
	for _, f := range c.Parts[0].Findings {
		assert.Equal(t, Noted, f.Verdict, f.Figure)
	}
	assert.ErrorContains(t, c.Err(), "Not the same load", "a gate does not take it for the same")
	c = Sets(one(run(0, nil)), one(ramp), Options{})
	assert.Contains(t, c.Answer(c.Parts[0]), "(B changed live)")
	for name, b := range map[string]*Run{
		"in other steps": run(2, map[string]Span{"threads": {8, 60}, "rate": {2000, 0}}), "in other settings": run(9, map[string]Span{"threads": {8, 60}}),
	} {
		c = Sets(one(ramp), one(b), Options{})
		assert.Contains(t, c.Answer(c.Parts[0]), "(both changed live), so no", name)
	}
	for name, pair := range map[string][2]*Run{"alike": {ramp, ramp}, "never": {run(0, nil), run(0, nil)}, "only faults": {run(3, nil), run(0, nil)}} {
		c = Sets(one(pair[0]), one(pair[1]), Options{})
		assert.NotContains(t, c.Answer(c.Parts[0]), "Not the same load", name)
	}
}

// Two runs of constant loads that differ are judged, after saying in what their loads do.
func TestAnAnswerSaysFirstThatLoadsDiffer(t *testing.T) {
	t.Parallel()
	run := func(threads, rate, batch float64, sought Figure) *Run {
		r := *read(t, rundirtest.NewFolder(day, "redis", 16, 1))
		r.Conditions.Changes, r.Conditions.Turned, r.Conditions.Sought = 0, nil, sought
		r.Conditions.Settings = map[string]float64{"threads": threads, "a.threads": threads, "rate": rate, "a.batch": batch}
		return &r
	}
	answer := func(a, b *Run) string {
		c := Sets(one(a), one(b), Options{})
		return c.Answer(c.Parts[0])
	}
	assert.Regexp(t, `^Not the same load: a\.batch 1 / 5, threads 8 / 32\. (B|Unsure)`, answer(run(8, 0, 1, ""), run(32, 0, 5, "")))
	assert.NotContains(t, answer(run(8, 0, 1, ""), run(8, 0, 1, "")), "load")
	assert.NotContains(t, answer(run(8, 0, 1, MostThreads), run(32, 0, 1, MostThreads)), "load", "a search turns them")
}

// How far a setting was turned is known of the whole run, and of tracks only where it is not; no rate is the highest.
func TestHowFarSettingsWereTurned(t *testing.T) {
	t.Parallel()
	segment := func(threads, rate, batch float64) rundir.Segment {
		return rundir.Segment{Settings: map[string]float64{"threads": threads, "a.threads": threads, "rate": rate, "a.batch": batch, "paused": batch}}
	}
	got := turned(&rundir.Run{Segments: []rundir.Segment{segment(8, 0, 1), segment(60, 2000, 1), segment(16, 4000, 5)}})
	assert.Equal(t, map[string]Span{"threads": {8, 60}, "rate": {2000, 0}, "a.batch": {1, 5}}, got)
}

// A pause is no change of a setting, however many entries it has in the record.
func TestAPauseIsNoLiveChange(t *testing.T) {
	t.Parallel()
	f := rundirtest.NewFolder(day, "redis", 16, 1)
	f.Run.Changes = []rundir.Change{{At: 1, Name: "threads", From: 8, To: 9}, {At: 5, Name: "paused", To: 1}, {At: 9, Name: "paused", From: 1}}
	assert.Equal(t, 1, ConditionsOf(&f.Run).Changes)
}
