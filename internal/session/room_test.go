package session

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// What is offered fits, and is written with two digits.
func TestACountThatFits(t *testing.T) {
	p := &workload.Plan{Bytes: 12 << 30, Phases: []workload.Phase{{Tracks: []workload.Track{{Total: 600}, {Total: 400}}}}}
	assert.Equal(t, ", such as --count 160", offer(p, 2<<30, ", such as "))
	assert.Equal(t, " --count 41", offer(p, 1<<29, " "))
	assert.Empty(t, offer(p, 1<<20, " "), "not even one fits")
	assert.Empty(t, offer(&workload.Plan{Bytes: 1 << 40}, 1<<30, " "), "a run by time has no count")
}
