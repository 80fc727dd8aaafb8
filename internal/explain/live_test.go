package explain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/rundir"
)

// What is in use now is told as of a run that is over, with what is at its limit.
func TestWhatIsInUseNow(t *testing.T) {
	second := func(extra ...rundir.Sample) []rundir.Sample {
		return append([]rundir.Sample{
			{T: 7, Source: rundir.OfClient, Name: "cpu_cores", Value: 0.6}, {T: 7, Source: rundir.OfClient, Name: "busy_poll_cores", Value: 0.1},
			{T: 7, Source: rundir.OfStore, Name: "main_thread_cpu_cores", Value: 0.9}, {T: 7, Source: rundir.OfMachine, Name: "cpu_cores", Value: 1.6},
		}, extra...)
	}
	told := func(uses []rundir.Use) (out []string) {
		for i := range uses {
			text := uses[i].Words()
			if uses[i].Limit {
				text += "!"
			}
			out = append(out, text)
		}
		return out
	}
	assert.Equal(t, []string{"perfbench 0.5 of 2 processors, 0.1 more polling for replies", "store's main thread 0.9 of 1 processor!", "this machine 1.5 of 4 processors"}, told(explain.Now(second(), false, 4, 2)))
	assert.Equal(t, []string{"perfbench 0.5 processors, 0.1 more polling for replies", "store's main thread 0.9 of 1 processor!", "this machine 1.5 processors"}, told(explain.Now(second(), false, 0, 0)), "of a machine that is not known")
	assert.Equal(t, []string{"store's main thread 0.9 of 1 processor!", "the coordinator's machine 1.5 of 4 processors"},
		told(explain.Now(second(rundir.Sample{T: 7, Source: rundir.OfWorker, Node: "1", Name: "cpu_cores", Value: 1}), false, 4, 2)), "workers do what is done")
	assert.Empty(t, explain.Now(nil, false, 4, 2))
	assert.Empty(t, explain.Now(second()[:1], true, 4, 2), "nobody can tell them apart")
}
