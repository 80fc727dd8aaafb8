package experiment

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryRoundHasEveryone(t *testing.T) {
	turns := Rounds(50, 3, 1)
	assert.Len(t, turns, 150)
	first := map[int]int{}
	for round, of := range slices.Collect(slices.Chunk(turns, 3)) {
		first[of[0].Member]++
		var members []int
		for _, turn := range of {
			assert.Equal(t, round, turn.Round)
			members = append(members, turn.Member)
		}
		assert.ElementsMatch(t, []int{0, 1, 2}, members)
	}
	for who := range 3 {
		assert.Greater(t, first[who], 5, "nobody is always first")
	}
	assert.Equal(t, turns, Rounds(50, 3, 1))
	assert.NotEqual(t, turns, Rounds(50, 3, 2))
	assert.Equal(t, []Turn{{Round: 0}, {Round: 1}}, Rounds(2, 1, 9))
}
