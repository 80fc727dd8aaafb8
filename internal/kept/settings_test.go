package kept

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// A list tells its runs apart by what they began with, where that differs, and says nothing of what
// a search looked for.
func TestTheSettingsInWhichRunsDiffer(t *testing.T) {
	run := func(settings map[string]float64) *Item { return &Item{Run: &rundir.Run{Settings: settings}} }
	a := run(map[string]float64{"threads": 8, "rate": 0, "a.payload": 1024, "b.payload": 10240})
	b := run(map[string]float64{"threads": 16, "rate": 0, "payload": 1024})
	none := run(nil)
	sweep := &Item{}
	s := SettingsOf([]*Item{sweep, none, a, b}, Sought{})
	assert.Equal(t, []string{"threads", "", "payload", ""}, s.Heads(), "a rate that is the same is left out")
	assert.Equal(t, []string{"8", "", "1 KiB, 10 KiB", ""}, s.Of(a))
	assert.Equal(t, []string{"16", "", "1 KiB", ""}, s.Of(b))
	assert.Equal(t, []string{"", "", "", ""}, s.Of(sweep))
	assert.Equal(t, []string{"", "", "", ""}, s.Of(none))

	b.Run.Settings["rate"] = 2000
	s = SettingsOf([]*Item{a, b}, Sought{})
	assert.Equal(t, []string{"", "2k"}, []string{s.Of(a)[1], s.Of(b)[1]}, "a run without a rate has nothing there")
	b.Run.Settings["rate"] = 0
	b.Run.Profile = "another"
	assert.Equal(t, []string{"", "", "", ""}, SettingsOf([]*Item{a, b}, Sought{}).Heads(), "runs of other profiles are other ones in any case")
	b.Run.Profile = ""

	b.Run.Sought = &rundir.Sought{Over: "threads"}
	assert.Equal(t, []string{"", "", "payload", ""}, SettingsOf([]*Item{a, b}, Sought{}).Heads())
	assert.Equal(t, []string{"", "", "", ""}, SettingsOf([]*Item{a, a}, Sought{}).Heads())
}

// A run is found by what it was asked to do: the whole of a value, with or without its track.
func TestARunIsFoundByItsValues(t *testing.T) {
	run := Item{Run: &rundir.Run{
		ID: "261123-321532-tx-redis", Profile: "tx", Store: rundir.Store{Name: "redis"}, Verdict: rundir.Verdict{State: "VALID"},
		Settings:   map[string]float64{"threads": 8, "writers.threads": 6, "payload": 1024, "rate": 0},
		Parameters: map[string]string{"keyOrder": "uniform", "warmup": "5s", "preset": "small"},
	}}
	for sought, want := range map[string]bool{
		"threads=8": true, "threads 8": true, "THREADS=8": true, "tx threads 8 redis": true, "threads=6": false, "threads>=8": true, "threads > 8": false, "threads<9 writers.threads=6": true, "writers.threads>6": false, "writers.threads=6": true,
		"threads=32": false, "threads 32": false, "threads=": true, "missing=": false, "threads=80": false, "threads": false,
		"payload=1KiB": true, "payload=1024": true, "payload 1 kib redis": true, "rate=unlimited": true,
		"keyorder=uniform": true, "keyOrder zipfian": false, "warmup=5s preset=small": true, "warmup=5": false,
		"store=redis profile=tx": true, "store=embedded": false, "verdict=valid": true, "verdict=invalid": false, "name=": false, "kind=run": true, "rate>1M": true, "rate<1M": false, "payload>=1KiB": true, "payload<1k": false,
		"errors=0": true, "errors>0": false, "errors>": true, "p99<1s": false, "p99>1s": false,
	} {
		assert.Equal(t, want, run.Holds(Sought{Text: sought}), sought)
	}
	assert.False(t, (&Item{Group: &Group{}}).Holds(Sought{Text: "threads=8"}))
}

// What a filter asks for has a column, also where all runs that pass it are alike.
func TestWhatAFilterAsksForIsShown(t *testing.T) {
	run := &Item{Run: &rundir.Run{Settings: map[string]float64{"threads": 8, "a.threads": 6, "b.threads": 2}, Parameters: map[string]string{"keyOrder": "uniform"}, Tags: map[string]string{"team": "blue"}, MeasuredS: 10}}
	for text, want := range map[string]string{"team=blue": "blue", "redis threads=8": "8", "a.threads>2": "6", "keyorder=uniform": "uniform", "errors=0": "", "missing=1": ""} {
		assert.Equal(t, want, SettingsOf([]*Item{run}, Sought{Text: text}).Of(run)[len(Told)], text)
	}
	other := &Item{Run: &rundir.Run{Settings: map[string]float64{"threads": 4}}}
	assert.Equal(t, []string{"threads", "", "", ""}, SettingsOf([]*Item{run, other}, Sought{Text: "threads=8"}).Heads(), "once")
}

// A run is found by the values that it was turned to as well, and the list says that it had them later; what a
// search tried finds none.
func TestARunIsFoundByWhatItWasTurnedTo(t *testing.T) {
	turned := &Item{Run: &rundir.Run{Profile: "tx", Settings: map[string]float64{"threads": 8, "rate": 1000}, Segments: []rundir.Segment{
		{Settings: map[string]float64{"threads": 8, "rate": 1000}}, {Settings: map[string]float64{"threads": 18, "rate": 1000}, SettingsEnd: map[string]float64{"threads": 24, "rate": 0}}, {Settings: map[string]float64{"threads": 12, "rate": 2000}},
	}}}
	whole := &Item{Run: &rundir.Run{Profile: "tx", Settings: map[string]float64{"threads": 18, "rate": 0}}}
	for text, want := range map[string][2]string{
		"threads=18": {"8 → 18", "18"}, "threads>8": {"8 → 18 …", "18"}, "threads>=8": {"8–24", "18"}, "tx": {"8–24", "18"}, "rate>=1k": {"1k – unlimited", "unlimited"}, "rate=unlimited": {"1k – unlimited", "unlimited"}, "rate>5k": {"1k → unlimited", "unlimited"},
	} {
		s := SettingsOf([]*Item{turned, whole}, Sought{Text: text})
		for n, i := range []*Item{turned, whole} {
			assert.True(t, i.Holds(Sought{Text: text}), text)
			assert.Contains(t, s.Of(i), want[n], text)
		}
	}
	assert.True(t, turned.Holds(Sought{Text: "threads 24"}))
	assert.False(t, turned.Holds(Sought{Text: "threads=16"}))
	turned.Run.Sought = &rundir.Sought{Over: "threads"}
	assert.False(t, turned.Holds(Sought{Text: "threads=18"}))
}

// A comparison of what no run has is refused, with the names that there are.
func TestAFilterByAnUnknownNameIsRefused(t *testing.T) {
	list := []Item{{Run: &rundir.Run{ID: "r", Settings: map[string]float64{"a.threads": 6}, Parameters: map[string]string{"keyOrder": "uniform"}, Tags: map[string]string{"Team": "blue"}, Target: "redis://h?connections=4"}}}
	for _, ok := range []string{"", "tx redis", "errors>100", "name=", "threads=8", "a.threads=", "keyorder=x", "team=red", "connections=4", "p99 < 5ms", "errors>1k", "1.5s"} {
		require.NoError(t, Sought{Text: ok}.Check(list), ok)
	}
	err := Sought{Text: "threds=8"}.Check(list)
	require.EqualError(t, err, `no run has "threds"`)
	assert.Contains(t, fault.HintOf(err), "did you mean threads? known are errors, throughput, p50")
	require.EqualError(t, Sought{Text: "p99>fast"}.Check(list), `p99: "fast" is not a time such as 5ms or 1.5s`)
	require.Error(t, Sought{Text: "errors>x"}.Check(nil))
	require.NoError(t, Sought{Text: "threads=8"}.Check(nil), "there are no runs")
}

// A run is found by its profile's title.
func TestARunIsFoundByTheTitleOfItsProfile(t *testing.T) {
	s := Sought{Text: "bulk", Title: func(string) string { return "Bulk ingestion" }}
	assert.True(t, (&Item{Run: &rundir.Run{Profile: "ingestion"}}).Holds(s))
	s.Title = nil
	assert.False(t, (&Item{Run: &rundir.Run{Profile: "ingestion"}}).Holds(s))
}

// Throughputs of one unit are sorted among themselves, and what has none comes last.
func TestThroughputIsSortedInEachUnit(t *testing.T) {
	search := func(unit string, done float64) Item {
		return Item{Run: &rundir.Run{Unit: unit, Sought: &rundir.Sought{Done: done}}}
	}
	list := []Item{search("operations", 50), search("entries", 0), search("entries", 20), search("operations", 900), search("entries", 300)}
	slices.SortStableFunc(list, func(a, b Item) int { return Throughput.Compare(&a, &b) })
	var got []float64
	for _, i := range list {
		got = append(got, i.Run.Sought.Done)
	}
	assert.Equal(t, []float64{300, 20, 900, 50, 0}, got)
}
