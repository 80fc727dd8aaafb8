package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// A search says how many threads it may take, which is more than the form shows unless their
// number was set.
func TestAPlannedSearchSaysItsThreads(t *testing.T) {
	free := NewPlannedSearch(nil, "Mix", screen.AskSearch{})
	assert.Contains(t, free.will(), "it takes up to 64; set their number to keep to it.")
	set := workload.Values{"threads": {Name: "threads", Text: "16", Origin: workload.OriginFlag}}
	fixed := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: request.Request{Values: set}})
	assert.Contains(t, fixed.will(), "It keeps to the 16 threads that were set.")
}

// A replay offers no search, which needs calls that do not end, and says so.
func TestAReplayOffersNoSearch(t *testing.T) {
	a, d, run := live(t, 3*time.Second, 120, 40)
	short := func() (keys []string) {
		for _, b := range d.Keys().Short {
			keys = append(keys, b.Help().Desc)
		}
		return keys
	}
	assert.Contains(t, short(), "search")
	run.Designed.Replays = true
	assert.NotContains(t, short(), "search")
	a.Send(t, "f")
	assert.Contains(t, a.Picture(t), "a search needs calls that do not end")
}
