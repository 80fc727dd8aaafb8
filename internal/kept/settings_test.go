package kept

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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
	s := SettingsOf([]*Item{sweep, none, a, b})
	assert.Equal(t, []string{"threads", "", "payload"}, s.Heads(), "a rate that is the same is left out")
	assert.Equal(t, []string{"8", "", "1 KiB, 10 KiB"}, s.Of(a))
	assert.Equal(t, []string{"16", "", "1 KiB"}, s.Of(b))
	assert.Equal(t, []string{"", "", ""}, s.Of(sweep))
	assert.Equal(t, []string{"", "", ""}, s.Of(none))

	b.Run.Sought = &rundir.Sought{Over: "threads"}
	assert.Equal(t, []string{"", "", "payload"}, SettingsOf([]*Item{a, b}).Heads())
	assert.Equal(t, []string{"", "", ""}, SettingsOf([]*Item{a, a}).Heads())
}

// A run is found by what it was asked to do: the whole of a value, with or without its track.
func TestARunIsFoundByItsValues(t *testing.T) {
	run := Item{Run: &rundir.Run{
		ID: "261123-321532-tx-redis", Profile: "tx", Store: rundir.Store{Name: "redis"}, Verdict: rundir.Verdict{State: "VALID"},
		Settings:   map[string]float64{"threads": 8, "writers.threads": 6, "payload": 1024, "rate": 0},
		Parameters: map[string]string{"keyOrder": "uniform", "warmup": "5s", "preset": "small"},
	}}
	for sought, want := range map[string]bool{
		"threads=8": true, "threads 8": true, "THREADS=8": true, "tx threads 8 redis": true, "threads=6": true, "writers.threads=6": true,
		"threads=32": false, "threads 32": false, "threads=": false, "threads=80": false, "threads": false,
		"payload=1KiB": true, "payload=1024": true, "payload 1 kib redis": true, "rate=unlimited": true,
		"keyorder=uniform": true, "keyOrder zipfian": false, "warmup=5s preset=small": true, "warmup=5": false,
		"store=redis profile=tx": true, "store=embedded": false, "verdict=valid": true, "verdict=invalid": false,
	} {
		assert.Equal(t, want, run.Holds(sought, time.Time{}), sought)
	}
	assert.False(t, (&Item{Group: &Group{}}).Holds("threads=8", time.Time{}))
}
