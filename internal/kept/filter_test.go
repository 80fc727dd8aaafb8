package kept

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestARunIsFoundByItsDateAsItIsShown(t *testing.T) {
	now := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	at := func(t time.Time) Item {
		return Item{Run: &rundir.Run{ID: "r", Name: "many threads", Started: t, Profile: "tx", Target: "redis://shop-7", Verdict: rundir.Verdict{State: "DEGRADED"}, Tags: map[string]string{"team": "blue", "tag": "base slow"}}}
	}
	today, before, long := at(now.Add(-107*time.Minute)), at(now.AddDate(0, 0, -1)), at(now.AddDate(0, -3, 0))
	for sought, want := range map[string][3]bool{
		"today": {true, false, false}, "18:13": {true, false, false}, "today 18:13": {true, false, false}, "18:1": {true, false, false}, "8:13": {}, "0:00": {}, "2026-11-23": {true, false, false},
		"yesterday": {false, true, false}, "sun": {false, true, true}, "aug": {false, false, true}, "2026-08": {false, false, true},
		"tx": {true, true, true}, "blue": {true, true, true}, "team=blue": {true, true, true}, "tag=slow": {true, true, true}, "tag=base slow": {true, true, true}, "tag=fast": {}, "tag:slow": {true, true, true}, "team:blue": {true, true, true}, "profile:tx": {true, true, true}, "verdict:degraded": {true, true, true}, "verdict:valid": {}, "tag:fast": {}, "redis:": {true, true, true}, "many": {true, true, true}, "shop-7": {true, true, true}, "degraded": {true, true, true}, "valid": {}, "redis valid": {}, "run": {true, true, true}, "sweep": {},
	} {
		assert.Equal(t, want, [3]bool{today.Holds(Sought{Text: sought, Now: now}), before.Holds(Sought{Text: sought, Now: now}), long.Holds(Sought{Text: sought, Now: now})}, sought)
	}
}

// A run is found by what was noted while it ran.
func TestARunIsFoundByItsMarks(t *testing.T) {
	marked := Item{Run: &rundir.Run{Marks: []rundir.Mark{{At: 3, Note: "Redis was killed here"}, {At: 5, Note: "redis restarted"}}}}
	other := Item{Run: &rundir.Run{Note: "killed it"}}
	for sought, want := range map[string][2]bool{
		"killed": {true, true}, "killed restarted": {true, false}, "mark=killed": {true, false}, "mark=": {true, false}, "mark=stopped": {}, "note=killed": {false, true},
	} {
		assert.Equal(t, want, [2]bool{marked.Holds(Sought{Text: sought}), other.Holds(Sought{Text: sought})}, sought)
	}
	require.NoError(t, Sought{Text: "mark=killed"}.Check([]Item{other}))
}

// A run is found by the product that its store was, by how its words begin: one on miniredis is none on Redis.
func TestARunIsFoundByItsProduct(t *testing.T) {
	is := func(store, product string) Item {
		return Item{Run: &rundir.Run{Store: rundir.Store{Name: store, Product: product}}}
	}
	for sought, want := range map[string][3]bool{"redis": {false, true, true}, "miniredis": {true, false, false}, "valk": {false, true, false}, "p99< redis": {}} {
		embedded, valkey, real := is("embedded", "miniredis"), is("redis", "Valkey"), is("redis", "redis")
		assert.Equal(t, want, [3]bool{embedded.Holds(Sought{Text: sought}), valkey.Holds(Sought{Text: sought}), real.Holds(Sought{Text: sought})}, sought)
	}
}

// A run is found by the classes of its errors.
func TestARunIsFoundByItsErrors(t *testing.T) {
	failed := Item{Run: &rundir.Run{Errors: []rundir.Error{{Class: "unreachable", Count: 3}}}}
	other := Item{Run: &rundir.Run{Errors: []rundir.Error{{Class: "timeout", Count: 1}}}}
	assert.Equal(t, []bool{true, false}, []bool{failed.Holds(Sought{Text: "unreach"}), other.Holds(Sought{Text: "unreach"})})
}

// A run is found by what its row says casts doubt on it, and by an outage.
func TestARunIsFoundByTheCausesOfItsVerdict(t *testing.T) {
	doubtful := Item{Run: &rundir.Run{Verdict: rundir.Verdict{State: "DEGRADED", Causes: []string{"errors", "unstarted"}, Reasons: []string{"too many", "others"}}, Outages: []verdict.Outage{{From: 1, To: 3}}}}
	other := Item{Run: &rundir.Run{Verdict: rundir.Verdict{State: "DEGRADED", Causes: []string{"gc"}, Reasons: []string{"too often"}}}}
	for _, text := range []string{"errors", "error", "never sent", "unstarted", "DEGRADED: errors", "outage"} {
		assert.Equal(t, []bool{true, false}, []bool{doubtful.Holds(Sought{Text: text}), other.Holds(Sought{Text: text})}, text)
	}
}

// A run is found by what its row says of it, and as failed if it was anything of that kind.
func TestARunIsFoundByHowItWasJudged(t *testing.T) {
	wrong := Item{Run: &rundir.Run{ID: "r", Verdict: rundir.Verdict{State: "INVALID"}, Verification: workload.Verification{State: workload.Failed}}}
	cut := Item{Run: &rundir.Run{Verdict: rundir.Verdict{State: "DEGRADED"}, EndedBy: rundir.CutShort}}
	for sought, want := range map[string][2]bool{
		"failed": {true, false}, "verification failed": {true, false}, "invalid": {true, false}, "cut short": {false, true}, "degraded": {false, true},
	} {
		assert.Equal(t, want, [2]bool{wrong.Holds(Sought{Text: sought, Now: time.Now()}), cut.Holds(Sought{Text: sought, Now: time.Now()})}, sought)
	}
}

func TestDaysAreSaidAsPeopleDo(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"today 11:40":  now.Add(-20 * time.Minute),
		"today 00:00":  now.Add(-12 * time.Hour),
		"Sat 23:59":    now.Add(-12*time.Hour - time.Minute),
		"Tue 12:00":    now.Add(-5 * 24 * time.Hour),
		"27 Apr 12:00": now.Add(-6 * 24 * time.Hour),
		"3 Apr 12:00":  now.Add(-30 * 24 * time.Hour),
		"3 May 2025":   now.Add(-365 * 24 * time.Hour),
		"4 May 12:00":  now.Add(24 * time.Hour),
		"–":            {},
	} {
		assert.Equal(t, want, Day(at, now))
	}
}

// A word finds what it says, on the command line and in the workbench: a verdict is no part of
// another.
func TestVerdictsAreFound(t *testing.T) {
	at := func(state, ended string, missed ...string) Item {
		r := &rundir.Run{Verdict: rundir.Verdict{State: state}, EndedBy: ended}
		for _, m := range missed {
			r.Verdict.Thresholds = append(r.Verdict.Thresholds, rundir.Threshold{Expr: m})
		}
		return Item{Run: r}
	}
	half := Item{Sweep: &sweep.Kept{Result: &sweep.Result{Rounds: 1, Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2"}}}, Runs: []sweep.Run{{Verdict: "VALID"}}}}}
	list := []Item{at("VALID", "count"), at("INVALID", "count"), at("VALID", "count", "p99<1ms"), at("DEGRADED", "interrupt"), at("INVALID", "fault: it broke"), at("DEGRADED", rundir.CutShort), at("VALID", rundir.StillRunning), half}
	for word, want := range map[string][]int{
		"valid": {0, 2}, "degraded": {3, 5}, "invalid": {1, 4}, "failed": {2, 4}, "missed": {2}, "interrupted": {3}, "cut-short": {5}, "running": {6}, "unfinished": {7},
	} {
		var is, holds []int
		for i := range list {
			if list[i].Is(word) {
				is = append(is, i)
			}
			if list[i].Holds(Sought{Text: word, Now: time.Now()}) {
				holds = append(holds, i)
			}
		}
		assert.Equal(t, want, is, word)
		assert.Equal(t, want, holds, word)
	}
	assert.Len(t, VerdictWords(), 9, "each is tried above")
	assert.Equal(t, []string{"VALID", "INVALID", "VALID · threshold missed", "DEGRADED · interrupted", "INVALID · ended by a fault", "DEGRADED · cut short", "still running", "VALID · 1 of 2 done"}, judged(list))
	assert.Equal(t, []Class{Good, Bad, Bad, Doubtful, Bad, Doubtful, Going, Going}, classes(list))
	require.ErrorContains(t, Filter{Verdicts: []string{"vald"}}.Check(), `verdict: "vald" is not known`)
	require.ErrorContains(t, Filter{Kinds: []string{"sweeps"}}.Check(), `kind: "sweeps" is not known`)
	require.NoError(t, Filter{Verdicts: []string{"valid", Failed}, Kinds: Kinds}.Check())
	assert.Len(t, Filter{Verdicts: []string{"degraded", Missed}}.Of(list), 3)
	assert.Len(t, Filter{Kinds: []string{Sweep}}.Of(list), 1)
}

func judged(list []Item) (out []string) {
	for i := range list {
		out = append(out, list[i].Judged())
	}
	return out
}

func classes(list []Item) (out []Class) {
	for i := range list {
		out = append(out, list[i].Class())
	}
	return out
}

func TestFilters(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	entry := func(id string, daysOld int, tags map[string]string) rundir.Run {
		return rundir.Run{ID: id, Profile: "tx", Target: "redis://host:6379", Store: rundir.Store{Name: "redis"}, Started: now.AddDate(0, 0, -daysOld), Tags: tags}
	}
	runs := []rundir.Run{entry("a", 0, map[string]string{"x": "1", "y": "2"}), entry("b", 3, map[string]string{"x": "1"}), entry("c", 9, nil)}
	swept := sweep.Kept{ID: "s", When: now.AddDate(0, 0, -5), Result: &sweep.Result{Profile: "tx", Target: "redis://host:6379", Rounds: 1, Runs: []sweep.Run{{ID: "a"}, {ID: "b"}, {ID: "gone"}}}}
	list := Items(runs, []sweep.Kept{swept}, nil)
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{Filter{}, "absc"},
		{Filter{Tags: map[string]string{"x": "1"}}, "abs"},
		{Filter{Tags: map[string]string{"x": "1", "y": "2"}}, "a"},
		{Filter{Tags: map[string]string{"x": ""}}, ""},
		{Filter{Profile: "ingestion"}, ""},
		{Filter{Target: "host", Since: now.AddDate(0, 0, -3)}, "ab"},
		{Filter{Target: "redis", Profile: "tx"}, "absc"},
		{Filter{Sought: Sought{Text: "today", Now: now}}, "a"},
	} {
		got := ""
		for _, i := range c.f.Of(list) {
			got += i.ID()
		}
		assert.Equal(t, c.want, got, "%+v", c.f)
	}
}

// A list says what each thing is, and what came out.
func TestAnswers(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	points := func(r *sweep.Result) Item {
		for i, p := range r.Points {
			r.Runs = append(r.Runs, sweep.Run{Point: i, Done: p.Done, Verdict: "VALID"})
		}
		r.Unit, r.Rounds = "entries", 1
		return Item{Sweep: &sweep.Kept{Result: r}}
	}
	threads := sweep.Axis{Name: "threads", Values: []string{"1", "8"}}
	rates := sweep.Axis{Name: "rate", Values: []string{"1000", "8000"}}
	ours := rundir.Sought{Over: "rate", TooMuch: 50}
	ours.Limit.By = "perfbench"
	found := func(s rundir.Sought) Item { return Item{Run: &rundir.Run{Unit: "sagas", Sought: &s}} }
	held := found(rundir.Sought{Over: "rate", Found: 8400, Done: 8200, P99: 7})
	rate, p99, _ := held.Figures()
	assert.Equal(t, []float64{8200, 7}, []float64{rate, float64(p99)}, "of the level that held")
	for _, c := range []struct {
		i          Item
		kind, want string
	}{
		{Item{Run: &rundir.Run{}}, OneRun, "–"},
		{Item{Run: &rundir.Run{EndedBy: rundir.StillRunning, Changes: []rundir.Change{{By: measure.BySearch}}}}, Search, "running"},
		{Item{Run: &rundir.Run{EndedBy: rundir.StillRunning, Of: rundir.OfSearch}}, Search, "running"},
		{Item{Run: &rundir.Run{EndedBy: rundir.CutShort, Of: rundir.OfSearch}}, OneRun, "–"},
		{found(rundir.Sought{Over: "rate", Found: 8400, TooMuch: 8700, Complete: true}), Search, "8.4k x/s"},
		{found(rundir.Sought{Over: "rate", Found: 8400, TooMuch: 16800}), Search, "8.4k x/s, ended early"},
		{found(rundir.Sought{Over: "rate", Found: 8400}), Search, "≥ 8.4k x/s"},
		{found(rundir.Sought{Over: "rate", Found: 8400, Done: 8200}), Search, "≥ 8.4k x/s"},
		{found(rundir.Sought{Over: "rate", Found: 8400, TooMuch: 8600, Done: 8100, Behind: 300, Complete: true}), Search, "8.1k x/s"},
		{found(rundir.Sought{Over: "rate", TooMuch: 50, Complete: true}), Search, "below 50 x/s"},
		{found(ours), Search, "not known"},
		{found(rundir.Sought{Over: "rate"}), Search, "none tried"},
		{found(rundir.Sought{Over: "threads", Found: 32, TooMuch: 40, Complete: true}), Search, "32 threads"},
		{points(&sweep.Result{Axes: []sweep.Axis{threads}, Points: []sweep.Point{{Values: []string{"1"}, Done: num(100)}, {Values: []string{"8"}, Done: num(700)}}, Lines: []sweep.Line{{Knee: 8}}}), Sweep, "knee seems at 8 threads (700 x/s)"},
		{points(&sweep.Result{Axes: []sweep.Axis{threads}, Points: []sweep.Point{{Values: []string{"1"}, Done: num(100)}, {Values: []string{"8"}, Done: num(700)}}}), Sweep, "best 700 x/s (threads 8)"},
		{points(&sweep.Result{Axes: []sweep.Axis{rates}, Points: []sweep.Point{{Values: []string{"1000"}, Done: num(1000)}, {Values: []string{"8000"}, Done: num(5000)}}}), Sweep, "knee 1k x/s"},
		{points(&sweep.Result{Axes: []sweep.Axis{rates}, Points: []sweep.Point{{Values: []string{"1000"}, Done: num(1000)}, {Values: []string{"8000"}, Done: num(8000)}}}), Sweep, "no knee up to 8k x/s"},
		{points(&sweep.Result{Axes: []sweep.Axis{rates}, Points: []sweep.Point{{Values: []string{"1000"}, Done: num(100)}, {Values: []string{"8000"}, Done: num(100)}}}), Sweep, "no rate was met"},
		{points(&sweep.Result{Crash: sweep.PowerCut, Axes: []sweep.Axis{threads}, Points: []sweep.Point{{Values: []string{"1"}, Loss: &sweep.Loss{Known: 1, Lossy: 1}}, {Values: []string{"8"}, Loss: &sweep.Loss{Known: 1}}}}), Sweep, "1 of 2 lost writes"},
	} {
		assert.Equal(t, c.want, c.i.Answer("x"))
		assert.Equal(t, c.kind, c.i.Kind())
	}
	early := found(rundir.Sought{Over: "rate", Found: 8400, TooMuch: 16800})
	assert.Equal(t, "8.4k/s?", early.Brief(), "of a search that ended early")
	firm := func(r *sweep.Result) Item { // each point with three runs
		i := points(r)
		for n := range r.Points {
			r.Points[n].Runs = 3
		}
		return i
	}
	three := sweep.Axis{Name: "threads", Values: []string{"1", "8", "16"}}
	many := func() *sweep.Result {
		return &sweep.Result{Axes: []sweep.Axis{three}, Points: []sweep.Point{{Values: []string{"1"}, Done: num(100)}, {Values: []string{"8"}, Done: num(700)}, {Values: []string{"16"}, Done: num(710)}}, Lines: []sweep.Line{{Knee: 8}}}
	}
	certain := firm(many())
	assert.Equal(t, "knee 8 threads (700 x/s), best 710 x/s (threads 16)", certain.Answer("x"))
	certain.Sweep.Points[1].P99, certain.Sweep.Points[2].P99 = 8, 16
	rate, p99, _ = certain.Figures()
	assert.Equal(t, []float64{700, 8}, []float64{rate, float64(p99)}, "of the knee, which is named")
	most := points(&sweep.Result{Axes: []sweep.Axis{threads}, Points: []sweep.Point{{Values: []string{"1"}, Done: num(100)}, {Values: []string{"8"}, Done: num(700)}}})
	assert.Equal(t, "700/s", most.Brief())
	swept := points(&sweep.Result{Axes: []sweep.Axis{threads}, Points: []sweep.Point{{Values: []string{"1"}, Done: num(100)}, {Values: []string{"8"}, Done: num(700)}}, Lines: []sweep.Line{{Knee: 8}}})
	assert.Equal(t, "knee 8?", swept.Brief())
	unsure := many()
	unsure.Lines[0] = sweep.Line{KneeLow: num(8), KneeHigh: num(16), Doubt: "the runs vary too much to tell which"}
	doubted := firm(unsure)
	assert.Equal(t, []string{"knee unsure (8 to 16 threads), best 710 x/s (threads 16)", "knee 8–16?"}, []string{doubted.Answer("x"), doubted.Brief()})
	unsure.Points[2].P99 = 16
	_, p99, _ = doubted.Figures()
	assert.Zero(t, p99, "of no point, where none is named")
	unsure.Lines[0].KneeHigh = nil
	assert.Equal(t, "knee ≥ 8?", doubted.Brief())
	unsure.Lines[0].KneeLow = num(1)
	assert.Equal(t, "knee unsure", doubted.Brief())
	repeats := Item{Group: &Group{Kind: Repeat, Answer: "700 ± 20", Rate: 700}}
	assert.Equal(t, []string{"700 ± 20 x/s", "700/s", Repeat}, []string{repeats.Answer("x"), repeats.Brief(), repeats.Kind()})
}

// A sweep is worth what its runs are, and one that is complete is not valid for that.
func TestASweepIsJudgedByItsRuns(t *testing.T) {
	r := sweep.Result{Rounds: 1, Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2"}}}, Runs: []sweep.Run{{Verdict: "VALID"}, {Point: 1, Verdict: "DEGRADED"}}}
	i := Item{Sweep: &sweep.Kept{Result: &r}}
	assert.Equal(t, "DEGRADED · 1 of 2 runs", i.Judged())
	assert.Equal(t, Doubtful, i.Class())
	r.Runs[0].Verdict = "INVALID"
	assert.Equal(t, "INVALID · 2 of 2 runs", i.Judged())
	assert.Equal(t, Bad, i.Class())
	r.Crash = sweep.PowerCut
	for n := range r.Runs {
		r.Runs[n].Causes = []string{"verification"}
	}
	assert.Equal(t, "VALID", i.Judged(), "what a crash does by itself is no doubt")
	i.Of = []*rundir.Run{{Verdict: rundir.Verdict{State: "VALID", Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}}}}
	assert.Equal(t, "VALID · threshold missed", i.Judged())
	assert.Equal(t, []string{"p99<1ms"}, i.Missed())
	assert.Equal(t, Bad, i.Class())
}

func TestEachWordWithoutANameFindsItsRun(t *testing.T) {
	i := Item{Run: &rundir.Run{Tags: map[string]string{rundir.BareTag: "baseline knobs,late", "host": "big one"}}}
	for value, want := range map[string]bool{"late": true, "late baseline": true, "late,early": false, "baseline": true, "knobs": true, "baseline knobs": true, "knob": false} {
		assert.Equal(t, want, Filter{Tags: map[string]string{rundir.BareTag: value}}.wants(&i), value)
	}
	assert.False(t, Filter{Tags: map[string]string{"host": "big"}}.wants(&i))
}

// A time of day is that at which a run was started, not a part of it.
func TestATimeOfDayIsNoneOfSeconds(t *testing.T) {
	at := func(hour, minute, second int) *Item {
		return &Item{Run: &rundir.Run{Started: time.Date(2026, 11, 23, hour, minute, second, 0, time.UTC)}}
	}
	for sought, want := range map[string][2]bool{"09:02": {true, false}, "9:02": {true, false}, "09:0": {true, true}, "09:": {true, true}, "02": {true, true}, "09:09:02": {false, true}} {
		s := Sought{Text: sought, Now: time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)}
		assert.Equal(t, want, [2]bool{at(9, 2, 30).Holds(s), at(9, 9, 2).Holds(s)}, sought)
	}
}

// The times of a day have their seconds if two of them need these, so that they are all as long.
func TestTheTimesOfADayAreAllAsLong(t *testing.T) {
	now := time.Date(2026, 5, 3, 18, 0, 0, 0, time.UTC)
	began := func(day, minute, second int) Item {
		return Item{Run: &rundir.Run{Started: time.Date(2026, 5, day, 14, minute, second, 0, time.UTC)}}
	}
	list := []Item{began(3, 27, 8), began(3, 27, 2), began(3, 5, 9), began(2, 27, 2), began(2, 28, 3)}
	m := MomentsOf(list)
	var got []string
	for i := range list {
		got = append(got, m.Of(&list[i], now))
	}
	assert.Equal(t, []string{"today 14:27:08", "today 14:27:02", "today 14:05:09", "Sat 14:27", "Sat 14:28"}, got)
}
