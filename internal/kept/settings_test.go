package kept

import (
	"testing"

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
