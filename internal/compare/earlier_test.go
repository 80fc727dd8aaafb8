package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// short is a run of so many seconds, of which these figures are made up.
func short(seconds float64, seed int64, figures map[Figure]Estimate) *Run {
	return &Run{
		Conditions: Conditions{ID: string(rune('a' + seed)), Profile: "ingestion", MeasuredS: seconds, Seed: seed, Started: day.Add(time.Duration(seed) * time.Minute)},
		Parts:      []Measured{{Figures: figures, Calls: 1e6}},
	}
}

// A run of fewer seconds than make batches shows no scatter, whatever its calls do.
func TestAShortRunDoesNotKnowItsError(t *testing.T) {
	f := rundirtest.NewFolder(day, "redis", 16, 1)
	for _, c := range []struct {
		seconds float64
		known   bool
	}{{4.9, false}, {5, true}} {
		f.Run.MeasuredS = c.seconds
		for _, m := range read(t, f).Parts {
			for _, figure := range []Figure{Throughput, P50, P99} {
				if e, ok := m.Figures[figure]; ok {
					assert.Equal(t, c.known, !math.IsNaN(e.SE), "%s of %g s", figure, c.seconds)
				}
			}
		}
	}
	a, b := *f, *rundirtest.NewFolder(day, "redis", 32, 2)
	a.Run.MeasuredS, b.Run.MeasuredS = 2, 2
	c := Sets(one(read(t, &a)), one(read(t, &b)), Options{})
	for _, p := range c.Parts {
		for figure, words := range verdicts(p) {
			assert.NotContains(t, []string{"better", "worse"}, words, "%s", figure)
		}
	}
	assert.Equal(t, "One run a side, of 2 s, cannot show what is chance.", c.Notes[0], "what would tell is said by the answer, once")
	assert.True(t, c.TooFew(c.Notes[0]))
	assert.Contains(t, c.Answer(c.Parts[0]), "two more runs of each (--repeat 3), or runs of 30 s, would tell more")
	assert.True(t, c.Parts[0].Open())
}

// Earlier runs of the same plan on the same machine tell how much runs differ, and no
// others do.
func TestEarlierRunsTellHowMuchRunsDiffer(t *testing.T) {
	at := func(v float64, seed int64) *Run {
		return short(2, seed, map[Figure]Estimate{Throughput: {Value: v, SE: math.NaN(), DF: math.Inf(1)}})
	}
	history := []*Run{at(100, 1), at(103, 2), at(99, 3), at(102, 4), at(98, 5), at(101, 6), at(100, 7)}
	word := func(a, b *Run, earlier []*Run) Verdict {
		return Sets(one(a), one(b), Options{Earlier: earlier}).Parts[0].Findings[0].Verdict
	}
	a, near, far := at(100, 20), at(104, 21), at(130, 22)
	assert.Equal(t, Unsure, word(a, far, nil))
	assert.Equal(t, Unsure, word(a, far, history[:2]), "two runs tell nothing")
	assert.Equal(t, Unsure, word(a, near, history))
	assert.Equal(t, Better, word(a, far, history))
	assert.Equal(t, Worse, word(far, a, append(history, a, far)), "the two themselves do not count")

	// Runs elsewhere, of other settings or another length, and those that lost data.
	others := []*Run{at(500, 8), at(9, 9), at(60, 10), at(300, 11)}
	a.Conditions.Machine, others[0].Conditions.Machine = map[string]string{"host": "this"}, map[string]string{"host": "another"}
	others[1].Conditions.Settings, a.Conditions.Settings = map[string]float64{"threads": 3}, map[string]float64{}
	others[2].Conditions.MeasuredS, others[3].Conditions.Failed = 60, true
	assert.Equal(t, history, earlier(one(a), one(far), append(others, history...)).Runs)
}

// Of pairs of short runs with nothing between them, no more than are promised are called
// better or worse, where the history of the plan is known.
func TestShortRunsWithAHistoryRaiseFewAlarms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 11))
	const trials = 600
	for _, c := range []struct{ runs, atMost int }{{3, 5}, {7, 5}, {20, 5}} {
		alarms := 0
		for range trials {
			run := func(seed int64) *Run {
				by := math.Exp(0.04 * rnd.NormFloat64())
				figures := map[Figure]Estimate{Throughput: {Value: 1e4 * by}, P50: {Value: 1e6 / by}, P99: {Value: 4e6 / by * math.Exp(0.1*rnd.NormFloat64())}}
				for f, e := range figures {
					e.SE, e.DF = math.NaN(), math.Inf(1)
					figures[f] = e
				}
				return short(2, seed, figures)
			}
			var before []*Run
			for i := range c.runs {
				before = append(before, run(int64(i)))
			}
			for _, f := range Sets(one(run(40)), one(run(41)), Options{Earlier: before}).Parts[0].Findings {
				if f.Verdict == Better || f.Verdict == Worse {
					alarms++
					break
				}
			}
		}
		t.Logf("%d earlier runs: %d alarms of %d", c.runs, alarms, trials)
		assert.LessOrEqual(t, alarms, trials*c.atMost/100, "%d earlier runs", c.runs)
	}
}

// A baseline of an earlier version may claim to know more than a short run can.
func TestABaselineOfShortRunsDoesNotKnowItsError(t *testing.T) {
	e := Estimate{Value: 100, SE: 1, DF: 3}
	data, err := Baseline([]*Run{short(2, 1, map[Figure]Estimate{Throughput: e, Errors: {Value: 0.1, SE: 0.01, DF: math.Inf(1)}}), short(60, 2, map[Figure]Estimate{Throughput: e})})
	require.NoError(t, err)
	runs, err := ReadBaseline(data)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(runs[0].Parts[0].Figures[Throughput].SE))
	assert.InDelta(t, 0.01, runs[0].Parts[0].Figures[Errors].SE, 1e-9)
	assert.InDelta(t, 1, runs[1].Parts[0].Figures[Throughput].SE, 1e-9)
}

// A run of the same plan as a side that differs from it by half of a certain change casts doubt on that, though one
// is too few to say how much runs differ.
func TestAnotherRunOfASideMayContradictAChange(t *testing.T) {
	run := func(id int64, threads, rate float64) *Run {
		r := short(10, id, map[Figure]Estimate{Throughput: {Value: rate, SE: rate / 100, DF: 8}})
		r.Conditions.Settings = map[string]float64{"threads": threads}
		return r
	}
	a, b := run(1, 2, 300e3), run(2, 8, 600e3)
	compared := func(others ...*Run) string {
		c := Sets(one(a), one(b), Options{Earlier: others})
		assert.Equal(t, Better, c.Parts[0].Findings[0].Verdict)
		said := c.contradicted(others)
		if said != "" {
			assert.Contains(t, c.Cautions, said)
		}
		return said
	}
	assert.Empty(t, compared(a, b, run(3, 2, 290e3), run(4, 8, 450e3), run(5, 16, 100e3)), "they differ by less, or are of another plan")
	const text = "another run of the same plan as B had 250k /s, not 600k; more runs of each would tell more than these two"
	assert.Equal(t, text, compared(run(3, 2, 450e3), run(4, 8, 250e3), run(5, 8, 300e3)), "the one that differs most")
	failed := run(4, 8, 250e3)
	failed.Conditions.Failed = true
	assert.Empty(t, compared(failed))
	assert.Empty(t, compared(run(3, 2, 290e3), run(4, 2, 295e3), run(5, 2, 305e3), run(6, 8, 250e3)), "three tell how much runs differ")
}
