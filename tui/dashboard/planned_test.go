package dashboard

import (
	"testing"

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
