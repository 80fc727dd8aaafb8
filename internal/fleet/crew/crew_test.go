package crew

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// The loss of a worker is noted, and ends the run only where that was asked for.
func TestWhatComesOfALostWorker(t *testing.T) {
	for what, ends := range map[string]bool{"": false, Degrade: false, End: true} {
		var stopped error
		var notes []string
		c := &Crew{begun: make(chan struct{}), ask: Ask{OnLoss: what}}
		c.Follow(nil, func(err error) { stopped = err }, func(note string) { notes = append(notes, note) })
		c.noticed(1, "there", fleet.Gone)
		require.NoError(t, stopped, "it may come back")
		c.noticed(1, "there", fleet.GivenUp)
		assert.Equal(t, []string{"worker 2 (there) was lost", "worker 2 (there) is not waited for any longer, after 15 s of silence"}, notes)
		assert.Equal(t, ends, stopped != nil)
		assert.NoError(t, c.ask.onLoss())
	}
	for bad, why := range map[string]string{"redeal": "no worker can take on those of another", "x": "use degrade or end"} {
		err := Ask{OnLoss: bad}.onLoss()
		assert.Contains(t, err.Error()+fault.HintOf(err), why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

// Each second has the processors of the workers that have told of it.
func TestProcessorsOfWorkers(t *testing.T) {
	c := &Crew{begun: make(chan struct{}), cores: map[int]used{}}
	c.Follow(func(measure.Part) error { return nil }, nil, nil)
	for i, second := range []int{3, 4, 2} {
		require.NoError(t, c.take(i, &fleet.Report{Part: &measure.Part{T: second}, Cores: float64(i)}))
	}
	assert.Equal(t, []rundir.Sample{
		{T: 3, Source: "worker", Node: "1", Name: "cpu_cores", Value: 0}, {T: 3, Source: "worker", Node: "2", Name: "cpu_cores", Value: 1},
	}, c.Samples(3))
	assert.Nil(t, (*Crew)(nil).Samples(3))
}
