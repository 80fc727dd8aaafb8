package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// What run.json has of the whole run is shown as it is there; of several processes of the store, which node
// each is of is not known.
func TestMeansOfARunAreThoseOfItsRecord(t *testing.T) {
	f := &rundir.Folder{}
	for i := range 4 {
		for _, source := range []string{rundir.OfClient, rundir.OfProcess} {
			f.Samples = append(f.Samples, rundir.Sample{T: i, Source: source, Name: "run_queue_cores", Value: 0.93})
		}
	}
	of := func() (client, store float64) {
		means, _ := OfRun(f)
		return means[0].Value, means[1].Value
	}
	client, store := of()
	assert.InDeltaSlice(t, []float64{0.93, 0.93}, []float64{client, store}, 1e-9, "nothing else is known")
	f.Run.Observed = &verdict.Observed{Processes: []verdict.Process{{Queue: new(0.92)}, {Queue: new(0.38)}}}
	client, store = of()
	assert.InDeltaSlice(t, []float64{0.92, 0.38}, []float64{client, store}, 1e-9)
	f.Run.Observed.Processes = append(f.Run.Observed.Processes, verdict.Process{Queue: new(0.5)})
	client, store = of()
	assert.InDeltaSlice(t, []float64{0.92, 0.93}, []float64{client, store}, 1e-9)
}
