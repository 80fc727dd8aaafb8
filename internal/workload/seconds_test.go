package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// observed is what a process saw at a moment, in ns.
type observed struct{ At, N int64 }

// newSeconds adds up what processes observed, into sums by second.
func newSeconds(sums map[int64]int64) *workload.Seconds[observed] {
	return &workload.Seconds[observed]{
		At: func(o *observed) int64 { return o.At }, Fits: func(o *observed) bool { return o.N >= 0 },
		Sum: func(at int64, all []*observed) {
			for _, o := range all {
				sums[at] += o.N
			}
		},
	}
}

// A second is added up once all have told of it, with what each had told last by then; of one that
// tells nothing for long it is not waited for.
func TestSecondsOfProcessesAreAddedUp(t *testing.T) {
	t.Parallel()
	sums := map[int64]int64{}
	s := newSeconds(sums)
	tell := func(process int, at float64, n int64) bool {
		return s.Merge(workload.Process{Number: process, Of: 2}, workload.SecondDelta[observed]{Seen: &observed{int64(at * 1e9), n}})
	}
	assert.False(t, s.Shared())
	assert.True(t, s.Merge(workload.Process{Number: 1, Of: 2}, workload.SecondDelta[observed]{}), "it has not begun there")
	assert.True(t, s.Shared())
	tell(0, 1.01, 1)
	assert.Empty(t, sums, "one has told nothing")
	tell(1, 0.99, 10)
	tell(0, 2.2, 2)
	tell(0, 3, 3)
	assert.Equal(t, map[int64]int64{1e9: 11}, sums)
	tell(1, 3, 30)
	assert.Equal(t, map[int64]int64{1e9: 11, 2e9: 12, 3e9: 33}, sums)
	tell(0, 9, 4)
	assert.Equal(t, int64(33), sums[5e9], "nobody is waited for longer than four seconds")
	assert.NotContains(t, sums, int64(6e9))
	s.Close()
	assert.Equal(t, int64(34), sums[9e9])
	assert.False(t, tell(1, 10, -1), "it cannot have seen that")

	clear(sums)
	s = newSeconds(sums)
	tell(0, 0.2, 5)
	s.Close()
	assert.Equal(t, map[int64]int64{2e8: 5}, sums, "of a run that was over soon, its end")
}
