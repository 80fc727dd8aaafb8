package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Workers of a track have the numbers of one process, and those that are added later one
// that no other has.
func TestNumbersOfWorkersInSeveralProcesses(t *testing.T) {
	t.Parallel()
	const all, n = 7, 3
	seen := map[int]bool{}
	for i := range n {
		from, to := Stretch(all, n, i)
		s := Stake{Process: i, Of: n, From: from, To: to, All: all}
		for w := from; w < to+10; w++ {
			number := s.Number(w)
			assert.False(t, seen[number], "%d", number)
			seen[number] = true
			if w < to {
				assert.Equal(t, w, number)
			}
		}
	}
	for number := range all + 10*n {
		assert.True(t, seen[number], "%d", number)
	}
	assert.Equal(t, 12, new(Stake).Number(12))
}
